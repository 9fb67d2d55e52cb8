#ifndef CHUNKWISE_CNETTLE_H
#define CHUNKWISE_CNETTLE_H

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/ctr.h>
#include <nettle/gcm.h>
#include <nettle/nettle-meta.h>
#include <nettle/version.h>

#endif

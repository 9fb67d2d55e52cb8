#ifndef CHUNKWISE_CNETTLE_H
#define CHUNKWISE_CNETTLE_H

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/ctr.h>
#include <nettle/eax.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/nettle-meta.h>
#include <nettle/siv-cmac.h>
#include <nettle/version.h>
#include <nettle/xts.h>

#endif

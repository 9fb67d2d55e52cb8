#ifndef CHUNKWISE_CSODIUM_H
#define CHUNKWISE_CSODIUM_H

#include <sodium.h>

#endif

#ifndef CHUNKWISE_COPENSSL_H
#define CHUNKWISE_COPENSSL_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/hmac.h>

#endif

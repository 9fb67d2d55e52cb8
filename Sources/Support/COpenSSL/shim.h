#ifndef CHUNKWISE_COPENSSL_H
#define CHUNKWISE_COPENSSL_H

/* HMAC_Init_ex and its like are deprecated since OpenSSL 3.0; what replaces them looks up parameters by name in each
   message. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/hmac.h>

#endif

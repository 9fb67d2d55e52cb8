/* mbedTLS (Mbed TLS 2.28 and later) as a plug-in of level 1. Build it with contrib/plugins/build.
 *
 * CBC and CTR take a key schedule that they only read. GCM writes to its context, so that each call makes its own. */

#include "chunkwise_plugin.h"

#include <mbedtls/aes.h>
#include <mbedtls/gcm.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/version.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int cipher;
  mbedtls_aes_context aes; /* of CBC and CTR; it points into itself, so that it is never copied */
  unsigned bits;
  uint8_t key[32]; /* of GCM */
} schedule;

static void free_key(void *made) {
  schedule *old = made;
  mbedtls_aes_free(&old->aes);
  mbedtls_platform_zeroize(old, sizeof *old);
  free(old);
}

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  schedule *new = calloc(1, sizeof *new);
  if (new == NULL) return CHUNKWISE_INTERNAL;
  int status = 0;
  new->cipher = cipher;
  new->bits = (unsigned)count * 8;
  mbedtls_aes_init(&new->aes);
  if (cipher == CHUNKWISE_GCM)
    memcpy(new->key, key, count);
  else if (cipher == CHUNKWISE_CBC)
    status = mbedtls_aes_setkey_dec(&new->aes, key, new->bits);
  else
    status = mbedtls_aes_setkey_enc(&new->aes, key, new->bits);
  if (status == 0) {
    *made = new;
    return CHUNKWISE_OK;
  }
  free_key(new);
  return CHUNKWISE_INTERNAL;
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  schedule *schedule = made;
  if (schedule->cipher != CHUNKWISE_GCM) {
    uint8_t next[16], stream[16];
    size_t used = 0;
    memcpy(next, nonce, 16);
    int status = schedule->cipher == CHUNKWISE_CBC
                     ? mbedtls_aes_crypt_cbc(&schedule->aes, MBEDTLS_AES_DECRYPT, bytes, next, in, out)
                     : mbedtls_aes_crypt_ctr(&schedule->aes, bytes, &used, next, stream, in, out);
    mbedtls_platform_zeroize(stream, sizeof stream);
    return status == 0 ? CHUNKWISE_OK : CHUNKWISE_INTERNAL;
  }
  mbedtls_gcm_context context;
  mbedtls_gcm_init(&context);
  int status = mbedtls_gcm_setkey(&context, MBEDTLS_CIPHER_ID_AES, schedule->key, schedule->bits);
  if (status == 0)
    status = mbedtls_gcm_auth_decrypt(&context, bytes, nonce, nonce_count, associated_data, associated_data_count,
                                      (const uint8_t *)in + bytes, 16, in, out);
  mbedtls_gcm_free(&context);
  return status == 0                             ? CHUNKWISE_OK
         : status == MBEDTLS_ERR_GCM_AUTH_FAILED ? CHUNKWISE_AUTHENTICATION_FAILED
                                                 : CHUNKWISE_INTERNAL;
}

static void nonces(int cipher, size_t *min, size_t *max) {
  (void)cipher;
  *min = 1;
  *max = 1 << 24;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static char version[16];
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "mbedtls",
      .version = version,
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
      .nonces = nonces,
  };
  mbedtls_version_get_string(version);
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

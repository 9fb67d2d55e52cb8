/* BoringSSL, as Android builds it, as a plug-in of level 1. Build it with contrib/plugins/build.
 *
 * Key schedules and AEAD contexts are only read during a call, and lengths are size_t. */

#include "chunkwise_plugin.h"

#include <openssl/aead.h>
#include <openssl/aes.h>
#include <openssl/base.h>
#include <openssl/cipher.h>
#include <openssl/err.h>
#include <openssl/mem.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

typedef struct {
  int cipher;
  AES_KEY aes;
  EVP_AEAD_CTX gcm;
} schedule;

static void free_key(void *made) {
  schedule *old = made;
  if (old->cipher == CHUNKWISE_GCM) EVP_AEAD_CTX_cleanup(&old->gcm);
  OPENSSL_cleanse(old, sizeof *old);
  free(old);
}

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  schedule *new = calloc(1, sizeof *new);
  if (new == NULL) return CHUNKWISE_INTERNAL;
  new->cipher = cipher;
  EVP_AEAD_CTX_zero(&new->gcm);
  const EVP_AEAD *gcm = count == 16   ? EVP_aead_aes_128_gcm()
                        : count == 24 ? EVP_aead_aes_192_gcm()
                                      : EVP_aead_aes_256_gcm();
  int done = cipher == CHUNKWISE_CBC   ? AES_set_decrypt_key(key, (unsigned)count * 8, &new->aes) == 0
             : cipher == CHUNKWISE_CTR ? AES_set_encrypt_key(key, (unsigned)count * 8, &new->aes) == 0
                                       : EVP_AEAD_CTX_init(&new->gcm, gcm, key, count, 16, NULL);
  if (!done) {
    free_key(new);
    return CHUNKWISE_INTERNAL;
  }
  *made = new;
  return CHUNKWISE_OK;
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  const schedule *schedule = made;
  if (schedule->cipher != CHUNKWISE_GCM) {
    uint8_t next[16], stream[16] = {0};
    unsigned used = 0;
    memcpy(next, nonce, 16);
    if (schedule->cipher == CHUNKWISE_CBC)
      AES_cbc_encrypt(in, out, bytes, &schedule->aes, next, AES_DECRYPT);
    else
      AES_ctr128_encrypt(in, out, bytes, &schedule->aes, next, stream, &used);
    OPENSSL_cleanse(stream, sizeof stream);
    return CHUNKWISE_OK;
  }
  size_t written = 0;
  if (EVP_AEAD_CTX_open(&schedule->gcm, out, &written, bytes, nonce, nonce_count, in, bytes + 16, associated_data,
                        associated_data_count))
    return CHUNKWISE_OK;
  int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  return reason == CIPHER_R_BAD_DECRYPT ? CHUNKWISE_AUTHENTICATION_FAILED : CHUNKWISE_INTERNAL;
}

static void nonces(int cipher, size_t *min, size_t *max) {
  (void)cipher;
  *min = 1;
  *max = 1 << 24;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static const chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "boringssl",
      .version = "API " TEXT(BORINGSSL_API_VERSION), /* it has no other number */
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
      .nonces = nonces,
  };
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

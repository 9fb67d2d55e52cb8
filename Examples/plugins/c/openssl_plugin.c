/* libcrypto's AES as a plug-in of level 1: blocks, of which Chunkwise's readers make ranges.
 *
 *     cc -O2 -fPIC -shared -I../../../include openssl_plugin.c -o openssl_plugin.so -lcrypto
 *     chunkwise verify --plugin "$PWD/openssl_plugin.so"
 *
 * With -DFAULT_IV, CBC starts from an IV of zeroes: the faulty sibling, which must fail. */

#include "chunkwise_plugin.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int cipher, bits;
  unsigned char key[32];
} schedule;

static const EVP_CIPHER *evp(const schedule *schedule) {
  const EVP_CIPHER *ciphers[3][3] = {
      {EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc()},
      {EVP_aes_128_ctr(), EVP_aes_192_ctr(), EVP_aes_256_ctr()},
      {EVP_aes_128_gcm(), EVP_aes_192_gcm(), EVP_aes_256_gcm()},
  };
  return ciphers[schedule->cipher - CHUNKWISE_CBC][(schedule->bits - 128) / 64];
}

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  schedule *schedule = calloc(1, sizeof *schedule);
  if (schedule == NULL) return CHUNKWISE_INTERNAL;
  schedule->cipher = cipher;
  schedule->bits = (int)count * 8;
  memcpy(schedule->key, key, count);
  *made = schedule;
  return CHUNKWISE_OK;
}

static void free_key(void *made) {
  OPENSSL_cleanse(made, sizeof(schedule));
  free(made);
}

/* Hands bytes to EVP, whose lengths are int; without `out`, they are associated data. */
static int update(EVP_CIPHER_CTX *context, const uint8_t *in, uint8_t *out, size_t count) {
  for (size_t offset = 0, part; offset < count; offset += part) {
    int written = 0;
    part = count - offset < (1 << 30) ? count - offset : (1 << 30);
    if (EVP_DecryptUpdate(context, out == NULL ? NULL : out + offset, &written, in + offset, (int)part) != 1) return 0;
  }
  return 1;
}

/* A context for each call, so that calls on several threads do not meet. */
static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  const schedule *schedule = made;
  int has_tag = schedule->cipher == CHUNKWISE_GCM, written = 0, result = CHUNKWISE_INTERNAL;
  void *tag = (uint8_t *)in + bytes;
  uint8_t nothing[16] = {0};
#ifdef FAULT_IV
  if (schedule->cipher == CHUNKWISE_CBC) nonce = nothing;
#endif
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  if (context == NULL || EVP_DecryptInit_ex(context, evp(schedule), NULL, NULL, NULL) != 1) goto done;
  EVP_CIPHER_CTX_set_padding(context, 0);
  if (has_tag && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_count, NULL) != 1) goto done;
  if (EVP_DecryptInit_ex(context, NULL, NULL, schedule->key, nonce) != 1) goto done;
  if (has_tag && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) != 1) goto done;
  if (has_tag && !update(context, associated_data, NULL, associated_data_count)) goto done;
  if (!update(context, in, out, bytes)) goto done;
  result = EVP_DecryptFinal_ex(context, nothing, &written) == 1 ? CHUNKWISE_OK
           : has_tag                                            ? CHUNKWISE_AUTHENTICATION_FAILED
                                                                : CHUNKWISE_INTERNAL;
done:
  EVP_CIPHER_CTX_free(context);
  return result;
}

static void nonces(int cipher, size_t *min, size_t *max) {
  (void)cipher;
  *min = 1;
  *max = 128; /* EVP's own limit */
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "libcrypto",
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
      .nonces = nonces,
  };
  plugin.version = OpenSSL_version(OPENSSL_VERSION_STRING);
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

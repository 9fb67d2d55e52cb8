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

/* A context for each call, so that calls on several threads do not meet. EVP's lengths are int. */
static int process(const schedule *schedule, const uint8_t *iv, const void *in, void *out, size_t count,
                   const void *tag) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int written = 0, result = CHUNKWISE_INTERNAL;
  if (context == NULL || EVP_DecryptInit_ex(context, evp(schedule), NULL, schedule->key, iv) != 1) goto done;
  EVP_CIPHER_CTX_set_padding(context, 0);
  if (tag != NULL && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag) != 1) goto done;
  for (size_t offset = 0; offset < count;) {
    size_t part = count - offset < (1 << 30) ? count - offset : (1 << 30);
    if (EVP_DecryptUpdate(context, (uint8_t *)out + offset, &written, (const uint8_t *)in + offset, (int)part) != 1)
      goto done;
    offset += part;
  }
  uint8_t nothing[16];
  result = EVP_DecryptFinal_ex(context, nothing, &written) == 1 ? CHUNKWISE_OK
           : tag != NULL                                        ? CHUNKWISE_AUTHENTICATION_FAILED
                                                                : CHUNKWISE_INTERNAL;
done:
  EVP_CIPHER_CTX_free(context);
  return result;
}

static int cbc_decrypt(void *schedule, uint8_t iv[16], const void *in, void *out, size_t blocks) {
#ifdef FAULT_IV
  memset(iv, 0, 16);
#endif
  return process(schedule, iv, in, out, blocks * 16, NULL);
}

static int ctr(void *schedule, const uint8_t counter[16], const void *in, void *out, size_t bytes) {
  return process(schedule, counter, in, out, bytes, NULL);
}

static int gcm_open(void *schedule, const uint8_t nonce[12], const void *in, void *out, size_t bytes) {
  return process(schedule, nonce, in, out, bytes, (const uint8_t *)in + bytes);
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "libcrypto",
      .key = make_key,
      .cbc_decrypt = cbc_decrypt,
      .ctr = ctr,
      .key_free = free_key,
      .gcm_open = gcm_open,
  };
  plugin.version = OpenSSL_version(OPENSSL_VERSION_STRING);
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

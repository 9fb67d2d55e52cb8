/* wolfCrypt, the ciphers of wolfSSL, as a plug-in of level 1. Build it with contrib/plugins/build.
 *
 * An Aes holds the key, the IV and the position, and each call writes to it. So each call makes its own on the stack,
 * and what is kept is the key. Lengths are 32 bits: CBC and CTR go in parts, GCM has an end. */

#include "chunkwise_plugin.h"

#include <wolfssl/options.h>

#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/error-crypt.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 30 };

typedef struct {
  int cipher;
  word32 count;
  uint8_t key[32];
} schedule;

static void erase(void *memory, size_t count) {
  for (volatile uint8_t *byte = memory; count > 0; count--) *byte++ = 0;
}

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  schedule *new = calloc(1, sizeof *new);
  if (new == NULL) return CHUNKWISE_INTERNAL;
  new->cipher = cipher;
  new->count = (word32)count;
  memcpy(new->key, key, count);
  *made = new;
  return CHUNKWISE_OK;
}

static void free_key(void *made) {
  erase(made, sizeof(schedule));
  free(made);
}

/* CBC and CTR: the Aes carries the IV or the counter from part to part. */
static int stream(Aes *aes, const schedule *schedule, const uint8_t *iv, const uint8_t *in, uint8_t *out,
                  size_t count) {
  int is_cbc = schedule->cipher == CHUNKWISE_CBC;
  int status = wc_AesSetKey(aes, schedule->key, schedule->count, iv, is_cbc ? AES_DECRYPTION : AES_ENCRYPTION);
  while (status == 0 && count > 0) {
    size_t part = count < PART ? count : PART;
    status = (is_cbc ? wc_AesCbcDecrypt : wc_AesCtrEncrypt)(aes, out, in, (word32)part);
    in += part, out += part, count -= part;
  }
  return status;
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  const schedule *schedule = made;
  int status;
  Aes aes;
  if (wc_AesInit(&aes, NULL, INVALID_DEVID) != 0) return CHUNKWISE_INTERNAL;
  if (schedule->cipher != CHUNKWISE_GCM)
    status = stream(&aes, schedule, nonce, in, out, bytes);
  else if (bytes > UINT32_MAX || associated_data_count > UINT32_MAX)
    status = BUFFER_E;
  else if ((status = wc_AesGcmSetKey(&aes, schedule->key, schedule->count)) == 0)
    status = wc_AesGcmDecrypt(&aes, out, in, (word32)bytes, nonce, (word32)nonce_count, (const uint8_t *)in + bytes,
                              16, associated_data, (word32)associated_data_count);
  wc_AesFree(&aes);
  erase(&aes, sizeof aes);
  return status == 0 ? CHUNKWISE_OK : status == AES_GCM_AUTH_E ? CHUNKWISE_AUTHENTICATION_FAILED : CHUNKWISE_INTERNAL;
}

static void nonces(int cipher, size_t *min, size_t *max) {
  (void)cipher;
  *min = 1;
  *max = 1 << 24;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "wolfssl",
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
      .nonces = nonces,
  };
  plugin.version = wolfSSL_lib_version();
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

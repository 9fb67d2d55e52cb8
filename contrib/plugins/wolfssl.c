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
static int process(const schedule *schedule, int (*cipher)(Aes *, byte *, const byte *, word32), int direction,
                   const uint8_t *iv, const uint8_t *in, uint8_t *out, size_t count) {
  Aes aes;
  if (wc_AesInit(&aes, NULL, INVALID_DEVID) != 0) return CHUNKWISE_INTERNAL;
  int status = wc_AesSetKey(&aes, schedule->key, schedule->count, iv, direction);
  while (status == 0 && count > 0) {
    size_t part = count < PART ? count : PART;
    status = cipher(&aes, out, in, (word32)part);
    in += part, out += part, count -= part;
  }
  wc_AesFree(&aes);
  erase(&aes, sizeof aes);
  return status == 0 ? CHUNKWISE_OK : CHUNKWISE_INTERNAL;
}

static int cbc_decrypt(void *schedule, uint8_t iv[16], const void *in, void *out, size_t blocks) {
  return process(schedule, wc_AesCbcDecrypt, AES_DECRYPTION, iv, in, out, blocks * 16);
}

static int ctr(void *schedule, const uint8_t counter[16], const void *in, void *out, size_t bytes) {
  return process(schedule, wc_AesCtrEncrypt, AES_ENCRYPTION, counter, in, out, bytes);
}

static int gcm_open(void *made, const uint8_t nonce[12], const void *in, void *out, size_t bytes) {
  const schedule *schedule = made;
  if (bytes > UINT32_MAX) return CHUNKWISE_UNSUPPORTED;
  Aes aes;
  if (wc_AesInit(&aes, NULL, INVALID_DEVID) != 0) return CHUNKWISE_INTERNAL;
  int status = wc_AesGcmSetKey(&aes, schedule->key, schedule->count);
  if (status == 0)
    status = wc_AesGcmDecrypt(&aes, out, in, (word32)bytes, nonce, 12, (const uint8_t *)in + bytes, 16, NULL, 0);
  wc_AesFree(&aes);
  erase(&aes, sizeof aes);
  return status == 0 ? CHUNKWISE_OK : status == AES_GCM_AUTH_E ? CHUNKWISE_AUTHENTICATION_FAILED : CHUNKWISE_INTERNAL;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "wolfssl",
      .key = make_key,
      .cbc_decrypt = cbc_decrypt,
      .ctr = ctr,
      .key_free = free_key,
      .gcm_open = gcm_open,
  };
  plugin.version = wolfSSL_lib_version();
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

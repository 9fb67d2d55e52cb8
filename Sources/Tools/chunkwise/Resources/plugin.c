/* A plug-in for Chunkwise: AES, from whose blocks Chunkwise's readers make ranges. chunkwise_plugin.h describes the
 * parameters of each function. A function that you leave out is NULL in the table. */

#include "chunkwise_plugin.h"

#include <stdlib.h>

/* The cipher of a key, and the key's schedule. */
typedef struct {
  int cipher;
} schedule;

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_CTR) return CHUNKWISE_UNSUPPORTED;
  schedule *own = calloc(1, sizeof *own);
  if (own == NULL) return CHUNKWISE_INTERNAL;
  own->cipher = cipher;
  (void)key; /* Make the schedule here. */
  *made = own;
  return CHUNKWISE_OK;
}

static void free_key(void *made) { free(made); }

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  (void)nonce, (void)nonce_count, (void)associated_data, (void)associated_data_count, (void)in, (void)out, (void)bytes;
  const schedule *own = made;
  switch (own->cipher) {
  case CHUNKWISE_CBC: return CHUNKWISE_UNSUPPORTED; /* Decrypt blocks from the IV `nonce` here. */
  case CHUNKWISE_CTR: return CHUNKWISE_UNSUPPORTED; /* Decrypt bytes from the counter block `nonce` here. */
  default: return CHUNKWISE_UNSUPPORTED;
  }
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static const chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "@NAME@",
      .version = "0",
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
  };
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

/* A plug-in for Chunkwise: blocks of AES, of which its readers make ranges. chunkwise_plugin.h says what each function is
 * given; what you leave out is NULL in the table. */

#include "chunkwise_plugin.h"

#include <stdlib.h>

/* What a key is for, and its schedule. */
typedef struct {
  int cipher;
} schedule;

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  schedule *own = calloc(1, sizeof *own);
  if (own == NULL) return CHUNKWISE_INTERNAL;
  own->cipher = cipher;
  (void)key; /* Make the schedule here. */
  *made = own;
  return CHUNKWISE_OK;
}

static void free_key(void *made) { free(made); }

static int cbc_decrypt(void *made, uint8_t iv[16], const void *in, void *out, size_t blocks) {
  (void)made, (void)iv, (void)in, (void)out, (void)blocks;
  return CHUNKWISE_UNSUPPORTED;
}

static int ctr(void *made, const uint8_t counter[16], const void *in, void *out, size_t bytes) {
  (void)made, (void)counter, (void)in, (void)out, (void)bytes;
  return CHUNKWISE_UNSUPPORTED;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static const chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "@NAME@",
      .version = "0",
      .key = make_key,
      .cbc_decrypt = cbc_decrypt,
      .ctr = ctr,
      .key_free = free_key,
  };
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

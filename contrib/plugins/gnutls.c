/* GnuTLS as a plug-in of level 1: CBC and GCM, for its interface has no CTR. Build it with contrib/plugins/build.
 *
 * A handle holds the key and the IV, and each call writes to it. So each call makes its own, and what is kept is the
 * key. */

#include "chunkwise_plugin.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int cipher;
  gnutls_cipher_algorithm_t algorithm;
  unsigned count;
  uint8_t key[32];
} schedule;

static int make_key(int cipher, const void *key, size_t count, void **made) {
  static const gnutls_cipher_algorithm_t cbc[] = {GNUTLS_CIPHER_AES_128_CBC, GNUTLS_CIPHER_AES_192_CBC,
                                                  GNUTLS_CIPHER_AES_256_CBC};
  static const gnutls_cipher_algorithm_t gcm[] = {GNUTLS_CIPHER_AES_128_GCM, GNUTLS_CIPHER_AES_192_GCM,
                                                  GNUTLS_CIPHER_AES_256_GCM};
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher != CHUNKWISE_CBC && cipher != CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  schedule *new = calloc(1, sizeof *new);
  if (new == NULL) return CHUNKWISE_INTERNAL;
  new->cipher = cipher;
  new->algorithm = (cipher == CHUNKWISE_CBC ? cbc : gcm)[(count - 16) / 8];
  new->count = (unsigned)count;
  memcpy(new->key, key, count);
  *made = new;
  return CHUNKWISE_OK;
}

static void free_key(void *made) {
  gnutls_memset(made, 0, sizeof(schedule));
  free(made);
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  schedule *schedule = made;
  gnutls_datum_t key = {schedule->key, schedule->count}, iv = {(unsigned char *)nonce, (unsigned)nonce_count};
  if (schedule->cipher == CHUNKWISE_CBC) {
    gnutls_cipher_hd_t handle;
    if (gnutls_cipher_init(&handle, schedule->algorithm, &key, &iv) != 0) return CHUNKWISE_INTERNAL;
    int status = gnutls_cipher_decrypt2(handle, in, bytes, out, bytes);
    gnutls_cipher_deinit(handle);
    return status == 0 ? CHUNKWISE_OK : CHUNKWISE_INTERNAL;
  }
  gnutls_aead_cipher_hd_t handle;
  if (gnutls_aead_cipher_init(&handle, schedule->algorithm, &key) != 0) return CHUNKWISE_INTERNAL;
  size_t written = bytes;
  int status = gnutls_aead_cipher_decrypt(handle, nonce, nonce_count, associated_data, associated_data_count, 16, in,
                                          bytes + 16, out, &written);
  gnutls_aead_cipher_deinit(handle);
  return status == 0                            ? CHUNKWISE_OK
         : status == GNUTLS_E_DECRYPTION_FAILED ? CHUNKWISE_AUTHENTICATION_FAILED
                                                : CHUNKWISE_INTERNAL;
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "gnutls",
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
  };
  plugin.version = gnutls_check_version(NULL);
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

/* Intel's Multi-Buffer Crypto for IPsec as a plug-in of level 1. Build it with contrib/plugins/build.
 *
 * The library is made for many small packets at once. Decryption of CBC, CTR and GCM work on one long buffer too, with
 * VAES and AVX-512 where the processor has them. A manager belongs to one thread; no job stays in it after a call. */

#include "chunkwise_plugin.h"

#include <intel-ipsec-mb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 30 };

typedef struct {
  int cipher;
  size_t count;
  _Alignas(64) union {
    struct {
      _Alignas(16) uint8_t encrypt[15 * 16], decrypt[15 * 16];
    } rounds;
    struct gcm_key_data gcm;
  } keys;
} schedule;

static pthread_key_t managers;

static void free_manager(void *manager) { free_mb_mgr(manager); }
static void make_managers(void) { pthread_key_create(&managers, free_manager); }

/* This thread's manager, NULL if there is none to be had. */
static IMB_MGR *manager(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_managers);
  IMB_MGR *manager = pthread_getspecific(managers);
  if (manager != NULL || (manager = alloc_mb_mgr(0)) == NULL) return manager;
  init_mb_mgr_auto(manager, NULL);
  if (imb_get_errno(manager) == 0 && pthread_setspecific(managers, manager) == 0) return manager;
  free_mb_mgr(manager);
  return NULL;
}

static int make_key(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  IMB_MGR *mb = manager();
  schedule *new = mb == NULL ? NULL : aligned_alloc(64, sizeof *new);
  if (new == NULL) return CHUNKWISE_INTERNAL;
  new->cipher = cipher;
  new->count = count;
  if (cipher == CHUNKWISE_GCM)
    (count == 16 ? mb->gcm128_pre : count == 24 ? mb->gcm192_pre : mb->gcm256_pre)(key, &new->keys.gcm);
  else
    (count == 16 ? mb->keyexp_128 : count == 24 ? mb->keyexp_192 : mb->keyexp_256)(key, new->keys.rounds.encrypt,
                                                                                  new->keys.rounds.decrypt);
  *made = new;
  return CHUNKWISE_OK;
}

static void free_key(void *made) {
  imb_clear_mem(made, sizeof(schedule));
  free(made);
}

static int process(const schedule *schedule, IMB_CIPHER_MODE mode, const uint8_t *iv, const uint8_t *in, uint8_t *out,
                   size_t count) {
  IMB_MGR *mb = manager();
  if (mb == NULL) return CHUNKWISE_INTERNAL;
  IMB_JOB job = {
      .enc_keys = schedule->keys.rounds.encrypt,
      .dec_keys = schedule->keys.rounds.decrypt,
      .key_len_in_bytes = schedule->count,
      .src = in,
      .dst = out,
      .msg_len_to_cipher_in_bytes = count,
      .iv = iv,
      .iv_len_in_bytes = 16,
      .cipher_mode = mode,
      .cipher_direction = IMB_DIR_DECRYPT,
  };
  IMB_SUBMIT_CIPHER_BURST(mb, &job, 1, mode, IMB_DIR_DECRYPT, schedule->count);
  return job.status == IMB_STATUS_COMPLETED ? CHUNKWISE_OK : CHUNKWISE_INTERNAL;
}

/* From the end, for a part's IV is the ciphertext before it, which `out` may take the place of. */
static int cbc(const schedule *schedule, const uint8_t *iv, const uint8_t *in, uint8_t *out, size_t bytes) {
  for (size_t end = bytes; end > 0;) {
    size_t start = (end - 1) / PART * PART;
    int result = process(schedule, IMB_CIPHER_CBC, start == 0 ? iv : in + start - 16, in + start, out + start,
                         end - start);
    if (result != CHUNKWISE_OK) return result;
    end = start;
  }
  return CHUNKWISE_OK;
}

/* The library counts over the last 4 bytes: a part ends where these wrap, and the carry is added here. */
static int ctr(const schedule *schedule, const uint8_t *counter, const uint8_t *in, uint8_t *out, size_t bytes) {
  uint8_t next[16];
  memcpy(next, counter, 16);
  for (size_t offset = 0; offset < bytes;) {
    uint32_t low = (uint32_t)next[12] << 24 | (uint32_t)next[13] << 16 | (uint32_t)next[14] << 8 | next[15];
    uint64_t part = (((uint64_t)1 << 32) - low) * 16;
    if (part > PART) part = PART;
    if (part > bytes - offset) part = bytes - offset;
    int result = process(schedule, IMB_CIPHER_CNTR, next, in + offset, out + offset, part);
    if (result != CHUNKWISE_OK) return result;
    offset += part;
    uint64_t carry = part / 16;
    for (int byte = 15; byte >= 0 && carry > 0; byte--, carry >>= 8) next[byte] = (uint8_t)(carry += next[byte]);
  }
  return CHUNKWISE_OK;
}

/* With the library's functions for nonces of 12 bytes. */
static int gcm(const schedule *schedule, const uint8_t *nonce, const uint8_t *associated_data,
               size_t associated_data_count, const uint8_t *in, uint8_t *out, size_t bytes) {
  IMB_MGR *mb = manager();
  if (mb == NULL) return CHUNKWISE_INTERNAL;
  _Alignas(64) struct gcm_context_data context;
  uint8_t tag[16], difference = 0;
  aes_gcm_enc_dec_t open = schedule->count == 16   ? mb->gcm128_dec
                           : schedule->count == 24 ? mb->gcm192_dec
                                                   : mb->gcm256_dec;
  open(&schedule->keys.gcm, &context, out, in, bytes, nonce, associated_data, associated_data_count, tag, 16);
  imb_clear_mem(&context, sizeof context);
  for (int byte = 0; byte < 16; byte++) difference |= tag[byte] ^ in[bytes + byte];
  return difference == 0 ? CHUNKWISE_OK : CHUNKWISE_AUTHENTICATION_FAILED;
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  const schedule *schedule = made;
  (void)nonce_count; /* 16, and 12 in GCM */
  return schedule->cipher == CHUNKWISE_CBC   ? cbc(schedule, nonce, in, out, bytes)
         : schedule->cipher == CHUNKWISE_CTR ? ctr(schedule, nonce, in, out, bytes)
                                             : gcm(schedule, nonce, associated_data, associated_data_count, in, out,
                                                   bytes);
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin = {
      .abi = CHUNKWISE_ABI,
      .size = sizeof(chunkwise_plugin),
      .name = "ipsec-mb",
      .key = make_key,
      .key_free = free_key,
      .decrypt = decrypt,
  };
  plugin.version = imb_get_version_str();
  return harness_abi == CHUNKWISE_ABI ? &plugin : NULL;
}

/* Plug-ins with injected faults, over libcrypto: what a harness must notice, name, and survive.
 *
 *     cc -O2 -fPIC -shared -I../../include -DFAULT=writes_behind faulty.c -o writes_behind.so -lcrypto
 *
 * FAULT is a name of `enum fault`. */

#include "chunkwise_plugin.h"
#include "faults.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static void sleep_for_ever(void) {
  for (;;) pause();
}

static void crash(void) {
  volatile int *volatile nowhere = NULL;
  *nowhere = 1;
}

/* Not a loop, whatever the optimizer thinks of it. */
__attribute__((noinline)) static int deep(int depth) {
  volatile char space[4096];
  memset((void *)space, depth, sizeof space);
  return deep(depth + 1) + space[depth % 4096];
}

/* --- Blocks --- */

typedef struct {
  int cipher, bits, has_position;
  unsigned char key[32], position[16];
} schedule;

static const EVP_CIPHER *evp(const schedule *schedule) {
  const EVP_CIPHER *ciphers[3][3] = {
      {EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc()},
      {EVP_aes_128_ctr(), EVP_aes_192_ctr(), EVP_aes_256_ctr()},
      {EVP_aes_128_gcm(), EVP_aes_192_gcm(), EVP_aes_256_gcm()},
  };
  return ciphers[schedule->cipher - CHUNKWISE_CBC][(schedule->bits - 128) / 64];
}

static int key(int cipher, const void *key, size_t count, void **made) {
  if (fault(crashes_in_key)) crash();
  if (fault(writes_key)) *(volatile uint8_t *)key = *(volatile uint8_t *)key;
  if (fault(reads_behind_key)) (void)((volatile uint8_t *)key)[count];
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  if (fault(accepts_any_key) && count < 16) count = 16;
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (fault(ctr_key_unsupported) && cipher == CHUNKWISE_CTR) return CHUNKWISE_UNSUPPORTED;
  if (fault(key_192_unsupported) && count == 24) return CHUNKWISE_UNSUPPORTED;
  if (fault(key_192_invalid) && count == 24) return CHUNKWISE_INVALID_KEY;
  if (fault(key_gives_null)) return CHUNKWISE_OK;
  schedule *schedule = calloc(1, sizeof *schedule);
  if (schedule == NULL) return CHUNKWISE_INTERNAL;
  schedule->cipher = cipher;
  schedule->bits = (int)count * 8;
  memcpy(schedule->key, key, count);
  *made = schedule;
  return CHUNKWISE_OK;
}

static void key_free(void *made) {
  if (fault(crashes_in_key_free)) crash();
  if (fault(hangs_in_key_free)) sleep_for_ever();
  OPENSSL_cleanse(made, made == NULL ? 0 : sizeof(schedule));
  free(made);
}

static int process(const schedule *schedule, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t count) {
  const void *tag = schedule->cipher == CHUNKWISE_GCM ? (const uint8_t *)in + count : NULL;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int written = 0, result = CHUNKWISE_INTERNAL;
  if (context == NULL || EVP_DecryptInit_ex(context, evp(schedule), NULL, NULL, NULL) != 1) goto done;
  EVP_CIPHER_CTX_set_padding(context, 0);
  if (tag != NULL && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_count, NULL) != 1) goto done;
  if (EVP_DecryptInit_ex(context, NULL, NULL, schedule->key, nonce) != 1) goto done;
  if (tag != NULL && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag) != 1) goto done;
  if (tag != NULL && associated_data_count > 0 && !fault(ignores_associated_data) &&
      EVP_DecryptUpdate(context, NULL, &written, associated_data, (int)associated_data_count) != 1)
    goto done;
  for (size_t offset = 0; offset < count;) {
    size_t part = count - offset < (1 << 30) ? count - offset : (1 << 30);
    if (EVP_DecryptUpdate(context, (uint8_t *)out + offset, &written, (const uint8_t *)in + offset, (int)part) != 1)
      goto done;
    offset += part;
  }
  uint8_t nothing[16];
  result = EVP_DecryptFinal_ex(context, nothing, &written) == 1 || fault(accepts_any_tag) ? CHUNKWISE_OK
           : tag != NULL ? CHUNKWISE_AUTHENTICATION_FAILED
                         : CHUNKWISE_INTERNAL;
done:
  EVP_CIPHER_CTX_free(context);
  return result;
}

/* What goes wrong before a call's work. Returns whether that is left out. */
static int before(const void *in, size_t in_count, void *out) {
  volatile uint8_t *input = (volatile uint8_t *)in, *output = out;
  static int calls;
  calls++;
  switch (FAULT) {
  case writes_before: output[-1] ^= 1; break;
  case writes_far_before: output[-100] ^= 1; break;
  case writes_input:
    if (in != out) input[0] = input[0];
    break;
  case reads_behind: (void)input[in_count]; break;
  case crashes: crash(); break;
  case maps_cut_file: {
    FILE *file = tmpfile();
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    (void)page[0];
    break;
  }
  case divides: {
    volatile int zero = 0;
    zero = 1000 / zero;
    break;
  }
  case traps: __builtin_trap(); break;
  case overflows_stack: deep(0); break;
  case aborts: abort(); break;
  case kills: raise(SIGKILL); break;
  case stops: raise(SIGSTOP); break;
  case hangs: sleep_for_ever(); break;
  case spins:
    for (volatile int count = 0;; count++) continue;
  case forks:
    if (calls == 1 && fork() == 0) sleep_for_ever();
    break;
  case fails_now_and_then: return calls % 100 == 0;
  case does_nothing: return 1;
  case prints:
    puts("The plug-in was called.");
    fflush(stdout);
    break;
  case prints_answers: {
    const char answer[] = "{\"ok\":true,\"payload\":0}\n";
    (void)!write(STDOUT_FILENO, answer, sizeof answer - 1);
    break;
  }
  case prints_much:
    if (calls == 1)
      for (int line = 0; line < 1 << 14; line++) fprintf(stderr, "%063d\n", line);
    break;
  case closes_files:
    for (int file = 0; file < 3; file++) close(file);
    break;
  case reads_input_file: {
    char byte;
    (void)!read(STDIN_FILENO, &byte, 1);
    break;
  }
  default: break;
  }
  return 0;
}

/* What goes wrong after it. */
static int after(void *out, size_t count, int result) {
  if (fault(writes_behind)) ((volatile uint8_t *)out)[count] ^= 1;
  if (fault(returns_77)) return 77;
  if (fault(returns_negative)) return -1;
  return result;
}

/* The IV that CBC takes. */
static void chain(const uint8_t iv[16], uint8_t used[16]) {
  static uint8_t kept[16];
  if (fault(prints_and_exits)) puts("230 of 230 injected faults were killed by their own flag");
  if (fault(exits) || fault(prints_and_exits)) exit(0);
  if (fault(exits_at_once)) _exit(0);
  if (fault(writes_behind_iv)) ((volatile uint8_t *)iv)[16] ^= 1;
  memcpy(used, fault(keeps_iv) ? kept : iv, 16);
  memcpy(kept, iv, 16);
}

/* The counter block that CTR takes. */
static void count_on(schedule *schedule, const uint8_t counter[16], uint8_t used[16], size_t bytes) {
  memcpy(used, fault(keeps_position) && schedule->has_position ? schedule->position : counter, 16);
  if (fault(keeps_position)) {
    memcpy(schedule->position, used, 16);
    for (size_t block = 0; block < (bytes + 15) / 16; block++)
      for (int index = 15; index >= 0 && ++schedule->position[index] == 0; index--) continue;
    schedule->has_position = 1;
  }
  if (fault(writes_counter)) ((uint8_t *)counter)[15]++;
}

static int decrypt(void *made, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                   size_t associated_data_count, const void *in, void *out, size_t bytes) {
  schedule *schedule = made;
  uint8_t used[16];
  if (fault(ctr_unsupported) && schedule->cipher == CHUNKWISE_CTR) return CHUNKWISE_UNSUPPORTED;
  if (before(in, bytes + (schedule->cipher == CHUNKWISE_GCM ? 16 : 0), out))
    return fault(does_nothing) ? CHUNKWISE_OK : CHUNKWISE_INTERNAL;
  if (schedule->cipher == CHUNKWISE_CBC) chain(nonce, used), nonce = used;
  if (schedule->cipher == CHUNKWISE_CTR) count_on(schedule, nonce, used, bytes), nonce = used;
  return after(
      out, bytes,
      process(schedule, nonce, nonce_count, associated_data, associated_data_count, in, out, bytes));
}

static void nonces(int cipher, size_t *min, size_t *max) {
  (void)cipher;
  *min = fault(nonces_of_none) ? 13 : 1;
  *max = fault(nonces_of_none) ? 12 : 128;
}

/* --- A whole reader of ctr --- */

typedef struct {
  schedule schedule;
  uint8_t counter[16];
  const chunkwise_source *source;
} object;

static const chunkwise_parameter *find(const chunkwise_parameter *all, size_t count, const char *name) {
  for (size_t index = 0; index < count; index++)
    if (strcmp(all[index].name, name) == 0) return &all[index];
  return NULL;
}

static int reader_open(const char *strategy, const chunkwise_parameter *parameters, size_t count,
                       const chunkwise_source *source, void **opened, uint64_t *length) {
  if (fault(reader_crashes_in_open)) crash();
  if (fault(reader_hangs_in_open)) sleep_for_ever();
  if (strcmp(strategy, "ctr") != 0 || fault(reader_refuses_ctr)) return CHUNKWISE_UNSUPPORTED;
  const chunkwise_parameter *key = find(parameters, count, "key"), *iv = find(parameters, count, "iv");
  if (key == NULL || iv == NULL) return CHUNKWISE_INVALID_REQUEST;
  if (fault(reader_writes_key)) *(volatile uint8_t *)key->bytes = *(volatile uint8_t *)key->bytes;
  if (fault(reader_reads_behind_key)) (void)((const volatile uint8_t *)key->bytes)[key->count];
  if (fault(reader_key_unchecked) && iv->count != 16) return CHUNKWISE_INVALID_IV;
  if (key->count != 16 && key->count != 24 && key->count != 32) return CHUNKWISE_INVALID_KEY;
  if (iv->count != 16) return CHUNKWISE_INVALID_IV;
  *length = fault(reader_length_huge) ? UINT64_MAX : source->length + fault(reader_length_wrong);
  if (fault(reader_opens_null)) return CHUNKWISE_OK;
  object *object = calloc(1, sizeof *object);
  if (object == NULL) return CHUNKWISE_INTERNAL;
  object->schedule.cipher = CHUNKWISE_CTR;
  object->schedule.bits = (int)key->count * 8;
  memcpy(object->schedule.key, key->bytes, key->count);
  memcpy(object->counter, iv->bytes, 16);
  object->source = source;
  *opened = object;
  return CHUNKWISE_OK;
}

/* A cursor has nothing of its own. */
static int reader_cursor(void *object, void **cursor) {
  *cursor = object;
  return CHUNKWISE_OK;
}

static void reader_cursor_free(void *cursor) { (void)cursor; }

static void reader_close(void *object) {
  if (fault(reader_crashes_in_close)) crash();
  free(object);
}

/* Fetches whole blocks into memory of its own, which reaches up to a block further than the range at both ends. */
static int fetch(const chunkwise_source *source, uint64_t offset, uint8_t *bytes, size_t count) {
  while (count > 0) {
    int64_t got = source->read_at(source->context, offset, bytes, count);
    if (got < 0 && fault(reader_ignores_io)) got = (int64_t)count;
    if (got < 0) return CHUNKWISE_IO;
    if (got == 0 && fault(reader_ignores_end)) got = (int64_t)count;
    if (got == 0) return CHUNKWISE_TRUNCATED_CIPHERTEXT;
    if (fault(reader_ignores_short)) got = (int64_t)count;
    offset += (uint64_t)got;
    bytes += got;
    count -= (size_t)got;
  }
  return CHUNKWISE_OK;
}

static int reader_read(void *cursor, uint64_t offset, void *buffer, size_t count, size_t *delivered) {
  object *object = cursor;
  if (fault(reader_crashes_in_read)) crash();
  if (fault(reader_exits_in_read)) exit(0);
  if (fault(reader_hangs_in_read)) sleep_for_ever();
  if (fault(reader_overflows_stack)) deep(0);
  if (fault(reader_returns_77)) return 77;
  if (fault(reader_prints)) {
    puts("The plug-in was called.");
    fflush(stdout);
  }
  if (object == NULL) return CHUNKWISE_INTERNAL;
  uint64_t length = object->source->length;
  if (offset > length) return fault(reader_wrong_error) ? CHUNKWISE_INVALID_REQUEST : CHUNKWISE_RANGE_OUT_OF_BOUNDS;
  if (count > length - offset) count = (size_t)(length - offset);
  size_t skipped = offset % 16;
  uint8_t *bytes = calloc(1, skipped + count + 16);
  if (bytes == NULL) return CHUNKWISE_INTERNAL;
  int result = CHUNKWISE_OK;
  if (fault(reader_fetches_all)) {
    uint8_t part[4096];
    for (uint64_t start = 0; result == CHUNKWISE_OK && start < offset; start += sizeof part)
      result = fetch(object->source, start, part, offset - start < sizeof part ? offset - start : sizeof part);
  }
  if (fault(reader_fetches_beyond)) {
    int64_t got = object->source->read_at(object->source->context, length, bytes, 1);
    if (got < 0) result = CHUNKWISE_IO;
  }
  if (result == CHUNKWISE_OK && count > 0) result = fetch(object->source, offset - skipped, bytes, skipped + count);
  if (result == CHUNKWISE_OK) {
    /* The counter of the first block: a sum over all 16 bytes. */
    uint8_t counter[16];
    uint64_t rest = offset / 16;
    unsigned carry = 0;
    for (int index = 15; index >= 0; index--, rest >>= 8) {
      unsigned sum = object->counter[index] + (unsigned)(rest & 0xFF) + carry;
      counter[index] = (uint8_t)sum;
      carry = sum >> 8;
    }
    result = process(&object->schedule, counter, 16, NULL, 0, bytes, bytes, skipped + count);
  }
  if (result == CHUNKWISE_OK) {
    memcpy(buffer, bytes + skipped, count);
    if (fault(reader_delivers_more)) memset((uint8_t *)buffer + count, 0, 64);
    if (fault(reader_overflows)) ((volatile uint8_t *)buffer)[count] = 0;
    if (fault(reader_writes_before)) ((volatile uint8_t *)buffer)[-1] ^= 1;
    if (!fault(reader_says_nothing)) *delivered = count;
    if (fault(reader_delivers_more)) *delivered += 64;
    if (fault(reader_says_more)) *delivered += 1;
    if (fault(reader_says_most)) *delivered = SIZE_MAX;
    if (fault(reader_says_less) && count > 0) *delivered -= 1;
  }
  free(bytes);
  return result;
}

/* --- Tables --- */

__attribute__((constructor)) static void load(void) {
  if (fault(loading_crashes)) crash();
  if (fault(loading_exits)) exit(0);
  if (fault(loading_hangs)) sleep_for_ever();
}

__attribute__((destructor)) static void unload(void) {
  if (fault(unloading_crashes)) crash();
  if (fault(unloading_hangs)) sleep_for_ever();
}

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static const char *const strategies[] = {"ctr", NULL}, *const odd_strategies[] = {"ctr", "rot13", NULL};
  static chunkwise_plugin table = {.abi = CHUNKWISE_ABI, .size = sizeof table, .name = "faulty", .version = "1"};
  if (fault(entry_crashes)) crash();
  if (fault(entry_exits)) exit(0);
  if (fault(entry_hangs)) sleep_for_ever();
  if (harness_abi != CHUNKWISE_ABI || fault(null_table)) return NULL;
  if (fault(abi_2)) table.abi = 2;
  if (fault(size_8)) table.size = 8;
  if (fault(no_name)) table.name = NULL;
  if (fault(no_version)) table.version = NULL;
  if (fault(odd_name)) table.name = "odd\n\"\033[31m\xFF\xC3\\name";
  if (fault(endless_name)) {
    char *name = malloc((1 << 20) + 1);
    memset(name, 'x', 1 << 20);
    name[1 << 20] = 0;
    table.name = name;
  }
  if (fault(no_functions)) return &table;
  if (FAULT >= reader_none) {
    table.strategies = fault(reader_no_strategies)      ? NULL
                       : fault(reader_unknown_strategy) ? odd_strategies
                                                        : strategies;
    table.open = reader_open;
    table.cursor = reader_cursor;
    table.read = reader_read;
    table.cursor_free = reader_cursor_free;
    table.close = reader_close;
    return &table;
  }
  table.key = key;
  table.key_free = key_free;
  if (fault(only_key)) return &table;
  table.decrypt = decrypt;
  table.nonces = nonces;
  return &table;
}

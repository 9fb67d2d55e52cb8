/*
 * The interface between Chunkwise and an implementation of ciphers in a shared library: a plug-in.
 *
 * A plug-in exports one function, chunkwise_plugin_v1, which returns a table. There are two levels, and a table may
 * have either or both:
 *
 *   1. ciphers: key, key_free, decrypt, nonces. Chunkwise's readers do the rest, ranges, IVs and padding.
 *   2. a whole reader: open, cursor, read, cursor_free, close. The plug-in does all of it, over a source that it is
 *      given.
 *      With both, the whole reader is what is tested.
 *
 * The plug-in is loaded into a process of its own (chunkwise-subject --plugin /absolute/lib.so), never into the
 * harness. docs/plugins.md is a guide with examples; PROTOCOL.md says what strategies, parameters and errors mean.
 *
 * Rules:
 *   - All functions return a chunkwise_result, but those that say otherwise. Nothing is thrown or longjmp'ed across.
 *   - The library writes to no byte outside of a buffer that it is given, and keeps no pointer to one past the call.
 *   - `in` and `out` are the same address or do not overlap. No alignment is promised. Lengths may be 0, and beyond
 *     2^32.
 *   - Standard output belongs to the library like standard error: both end up in the log.
 *   - Schedules, objects and sources may be used by several threads at once, a cursor by one at a time.
 */
#ifndef CHUNKWISE_PLUGIN_H
#define CHUNKWISE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Members are only ever added at the table's end; `size` tells which there are. */
#define CHUNKWISE_ABI 1

/* What functions return: the errors of PROTOCOL.md, "Transport". */
enum chunkwise_result {
  CHUNKWISE_OK = 0,
  CHUNKWISE_INVALID_REQUEST = 1,       /* a parameter that is missing or impossible */
  CHUNKWISE_UNSUPPORTED = 2,           /* understood, but not offered; from `key` and `open` only */
  CHUNKWISE_INVALID_KEY = 3,           /* a length that is none */
  CHUNKWISE_INVALID_IV = 4,
  CHUNKWISE_IO = 5,                    /* the source failed */
  CHUNKWISE_TRUNCATED_CIPHERTEXT = 6,  /* a length that no plaintext has, or a source that ends early */
  CHUNKWISE_INVALID_PADDING = 7,
  CHUNKWISE_AUTHENTICATION_FAILED = 8, /* a tag or commitment does not match */
  CHUNKWISE_RANGE_OUT_OF_BOUNDS = 9,   /* a read from past the plaintext's end */
  CHUNKWISE_INTERNAL = 10,             /* anything else */
  CHUNKWISE_INVALID_HEADER = 11        /* a header of another format */
};

/* What a key schedule is for: AES in a mode of operation, or another cipher. */
enum chunkwise_cipher {
  /* Whole blocks; the nonce is the IV of the first one, 16 bytes. There is no padding. */
  CHUNKWISE_CBC = 1,
  /* Any number of bytes; the nonce is the counter block of the first block: 16 bytes, big-endian, modulo 2^128. */
  CHUNKWISE_CTR = 2,
  /* A message, of any number of bytes, whose tag of 16 bytes stands behind the ciphertext. */
  CHUNKWISE_GCM = 3,
  /* Messages like those of GCM. The key has 32 bytes, the nonce 12 (RFC 8439). */
  CHUNKWISE_CHACHA20_POLY1305 = 4,
  /* The same with a nonce of 24 bytes (draft-irtf-cfrg-xchacha-03). */
  CHUNKWISE_XCHACHA20_POLY1305 = 5,
  /*
   * NaCl's secretbox: a key of 32 bytes, a nonce of 24, no associated data. The tag stands behind the ciphertext, as
   * in the others, and not in front of it.
   */
  CHUNKWISE_XSALSA20_POLY1305 = 6,
  /*
   * AES in XTS (IEEE 1619): a data unit of whole blocks, 16 bytes at least; there is no ciphertext stealing. The nonce
   * is the tweak before it is encrypted, 16 bytes. The key has 32 or 64 bytes: that of the blocks, then that of the
   * tweak. There is no tag.
   */
  CHUNKWISE_XTS = 7,
  /* Messages like those of GCM, in OCB3 (RFC 7253). The nonce has 15 bytes, or another length of 1 to 15. */
  CHUNKWISE_OCB = 8,
  /* Messages like those of GCM, in EAX. The nonce has 16 bytes, or another length. */
  CHUNKWISE_EAX = 9,
  /* Messages like those of GCM, in GCM-SIV (RFC 8452). The key has 16 or 32 bytes, the nonce 12. */
  CHUNKWISE_GCM_SIV = 10,
  /*
   * Messages like those of GCM, in SIV (RFC 5297) over two strings: the associated data, even of no bytes, and the
   * nonce, of 16 bytes or another length. The key has 32, 48 or 64 bytes, that of S2V first. The synthetic IV is the
   * tag: it stands behind the ciphertext, and not in front of it.
   */
  CHUNKWISE_SIV = 11
};

/*
 * A parameter of `open`: "key" and those that PROTOCOL.md lists for the strategy, by the same names. Bytes are as
 * they are ("key", "iv", "context", "associatedData"); texts ("padding", "ivRule") have a 0 behind their `count`
 * bytes; numbers ("chunkByteCount", "segmentByteCount", "derivedKeyByteCount") are a uint64_t, so that `count` is 8.
 */
typedef struct {
  const char *name;
  const void *bytes;
  size_t count;
} chunkwise_parameter;

/* Where ciphertext comes from. */
typedef struct {
  void *context;
  uint64_t length; /* bytes */
  /*
   * Reads up to `count` bytes from `offset` on, like pread.
   * Returns how many: at least 1, and fewer than asked for at times; 0 only at `length` or beyond; -CHUNKWISE_IO if it
   * fails, which the caller then returns as CHUNKWISE_IO.
   */
  int64_t (*read_at)(void *context, uint64_t offset, void *buffer, size_t count);
} chunkwise_source;

/* The table. What a plug-in does not have is NULL. */
typedef struct {
  uint32_t abi;  /* CHUNKWISE_ABI */
  uint32_t size; /* sizeof(chunkwise_plugin) as the plug-in was compiled */

  const char *name;    /* of the implementation, such as "mbedtls" */
  const char *version; /* as the library itself gives it */
  /* The strategies of level 2 by their names in PROTOCOL.md, NULL behind the last one; NULL without level 2. */
  const char *const *strategies;

  /*
   * Level 2. `open` checks the parameters and the source as PROTOCOL.md says, and gives the plaintext's length.
   * Parameters are gone after the call, the source is there until `close`. The object may be NULL.
   */
  int (*open)(const char *strategy, const chunkwise_parameter *parameters, size_t parameter_count,
              const chunkwise_source *source, void **object, uint64_t *length);
  /* Makes what one thread reads with. */
  int (*cursor)(void *object, void **cursor);
  /*
   * Reads plaintext like pread: `count` bytes from `offset` on, or as many as there are, into `buffer`; `delivered`
   * says how many, never more than `count`, which may be 0. All or nothing: with any other result than CHUNKWISE_OK
   * nothing is delivered, whatever `buffer` holds then.
   */
  int (*read)(void *cursor, uint64_t offset, void *buffer, size_t count, size_t *delivered);
  void (*cursor_free)(void *cursor);
  void (*close)(void *object);

  /*
   * Level 1. Makes a schedule for a chunkwise_cipher and a key of a length that it can have (16, 24 or 32 bytes in CBC,
   * CTR, GCM, OCB and EAX), or says CHUNKWISE_UNSUPPORTED or CHUNKWISE_INVALID_KEY of one that the library lacks; then
   * the schedule is not looked at, nor freed. Later versions may have more ciphers: a number that the library does not
   * know is CHUNKWISE_UNSUPPORTED.
   */
  int (*key)(int cipher, const void *key, size_t count, void **schedule);
  void (*key_free)(void *schedule);
  /*
   * Decrypts `bytes` bytes with the schedule's cipher: a stretch in CBC and CTR, a data unit in XTS, of the others a
   * message with the tag of 16 bytes behind it at `in + bytes`, which then does not overlap `out`. `associated_data` is
   * what is authenticated beside the message, of any length; ignored in CBC, CTR and XTS.
   * CHUNKWISE_AUTHENTICATION_FAILED if the tag is another; `out` is erased then.
   */
  int (*decrypt)(void *schedule, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                 size_t associated_data_count, const void *in, void *out, size_t bytes);
  /*
   * Says how many bytes a nonce of GCM, OCB, EAX or SIV may have: from `*min` to `*max`, which are the usual length
   * (12, 15, 16, 16) before the call. NULL if there are no others. `decrypt` is not called with another length. It is
   * called with each of these ciphers that there are keys for, and leaves the numbers alone for those that it does not
   * know.
   */
  void (*nonces)(int cipher, size_t *min, size_t *max);
} chunkwise_plugin;

/*
 * The one symbol. `harness_abi` is the harness's CHUNKWISE_ABI; NULL says that the plug-in cannot work with it. The
 * table stays where it is until the process ends.
 */
const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi);

#ifdef __cplusplus
}
#endif

#endif

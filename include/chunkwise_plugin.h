/*
 * The interface between Chunkwise and an implementation of ciphers in a shared library: a plug-in.
 *
 * A plug-in exports one function, chunkwise_plugin_v1, which returns a table. There are two levels, and a table may
 * have either or both:
 *
 *   1. ciphers: key, key_free, decrypt, nonces. Chunkwise's readers do the rest: ranges, IVs and padding.
 *   2. a whole reader: open, cursor, read, cursor_free, close. The plug-in does everything, over a source from
 *      Chunkwise. If a plug-in has both levels, the whole reader is tested.
 *
 * The plug-in is loaded into a process of its own (chunkwise-subject --plugin /absolute/lib.so), never into the
 * harness. docs/plugins.md is a guide with examples; PROTOCOL.md defines strategies, parameters and errors.
 *
 * Rules:
 *   - All functions return a chunkwise_result unless they say otherwise. No exception or longjmp crosses them.
 *   - The library writes only inside the buffers that it is given, and keeps no pointer to them after the call.
 *   - `in` and `out` are the same address or do not overlap. No alignment is promised. Lengths may be 0, and more than
 *     2^32.
 *   - The library may use standard output and standard error: both end up in the log.
 *   - Schedules, objects and sources may be used by several threads at once, a cursor by one at a time.
 */
#ifndef CHUNKWISE_PLUGIN_H
#define CHUNKWISE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. New members are only added at the table's end; `size` tells which exist. */
#define CHUNKWISE_ABI 1

/* The results of functions: the errors of PROTOCOL.md, "Transport". */
enum chunkwise_result {
  CHUNKWISE_OK = 0,
  CHUNKWISE_INVALID_REQUEST = 1,       /* a parameter that is missing or impossible */
  CHUNKWISE_UNSUPPORTED = 2,           /* valid, but not supported; from `key` and `open` only */
  CHUNKWISE_INVALID_KEY = 3,           /* an invalid length */
  CHUNKWISE_INVALID_IV = 4,
  CHUNKWISE_IO = 5,                    /* the source failed */
  CHUNKWISE_TRUNCATED_CIPHERTEXT = 6,  /* an impossible length, or a source that ends early */
  CHUNKWISE_INVALID_PADDING = 7,
  CHUNKWISE_AUTHENTICATION_FAILED = 8, /* a tag or commitment does not match */
  CHUNKWISE_RANGE_OUT_OF_BOUNDS = 9,   /* a read from past the plaintext's end */
  CHUNKWISE_INTERNAL = 10,             /* anything else */
  CHUNKWISE_INVALID_HEADER = 11        /* a header of another format */
};

/* The cipher of a key schedule: AES in a mode of operation, or another cipher. */
enum chunkwise_cipher {
  /* Whole blocks; the nonce is the IV of the first one, 16 bytes. There is no padding. */
  CHUNKWISE_CBC = 1,
  /* Any number of bytes; the nonce is the counter block of the first block: 16 bytes, big-endian, modulo 2^128. */
  CHUNKWISE_CTR = 2,
  /* A message of any number of bytes; the tag of 16 bytes stands behind the ciphertext. */
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
   * AES in XTS (IEEE 1619): a data unit of whole blocks, at least 16 bytes, without ciphertext stealing. The nonce
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
   * Messages like those of GCM, in SIV (RFC 5297) over two strings: the associated data, even if empty, and the
   * nonce, of 16 bytes or another length. The key has 32, 48 or 64 bytes, that of S2V first. The synthetic IV is the
   * tag: it stands behind the ciphertext, and not in front of it.
   */
  CHUNKWISE_SIV = 11
};

/*
 * A parameter of `open`: "key" and those that PROTOCOL.md lists for the strategy, by the same names. Bytes are
 * unencoded ("key", "iv", "context", "associatedData"); texts ("padding", "ivRule") have a 0 behind their `count`
 * bytes; numbers ("chunkByteCount", "segmentByteCount", "derivedKeyByteCount") are a uint64_t, so that `count` is 8.
 */
typedef struct {
  const char *name;
  const void *bytes;
  size_t count;
} chunkwise_parameter;

/* A source of ciphertext. */
typedef struct {
  void *context;
  uint64_t length; /* bytes */
  /*
   * Reads up to `count` bytes from `offset` on, like pread.
   * Returns the number of bytes: at least 1, and possibly fewer than requested; 0 only at `length` or beyond;
   * -CHUNKWISE_IO if it fails, which the caller then returns as CHUNKWISE_IO.
   */
  int64_t (*read_at)(void *context, uint64_t offset, void *buffer, size_t count);
} chunkwise_source;

/* The table. Members that a plug-in does not have are NULL. */
typedef struct {
  uint32_t abi;  /* CHUNKWISE_ABI */
  uint32_t size; /* sizeof(chunkwise_plugin) as the plug-in was compiled */

  const char *name;    /* of the implementation, such as "mbedtls" */
  const char *version; /* as the library reports it */
  /* The strategies of level 2 by their names in PROTOCOL.md, NULL behind the last one; NULL without level 2. */
  const char *const *strategies;

  /*
   * Level 2. `open` checks the parameters and the source as PROTOCOL.md says, and returns the plaintext's length.
   * Parameters are valid during the call, the source until `close`. The object may be NULL.
   */
  int (*open)(const char *strategy, const chunkwise_parameter *parameters, size_t parameter_count,
              const chunkwise_source *source, void **object, uint64_t *length);
  /* Makes a cursor, with which one thread reads. */
  int (*cursor)(void *object, void **cursor);
  /*
   * Reads plaintext like pread: `count` bytes from `offset` on, or fewer at the end, into `buffer`. `delivered` is set
   * to the number of bytes, never more than `count`, which may be 0. All or nothing: with any result other than
   * CHUNKWISE_OK nothing is delivered, and the content of `buffer` is ignored.
   */
  int (*read)(void *cursor, uint64_t offset, void *buffer, size_t count, size_t *delivered);
  void (*cursor_free)(void *cursor);
  void (*close)(void *object);

  /*
   * Level 1. Makes a schedule for a chunkwise_cipher and a key of a valid length (16, 24 or 32 bytes in CBC, CTR, GCM,
   * OCB and EAX). If the library lacks the cipher or the length, returns CHUNKWISE_UNSUPPORTED or
   * CHUNKWISE_INVALID_KEY; then the schedule is neither used nor freed. Later versions may have more ciphers: return
   * CHUNKWISE_UNSUPPORTED for an unknown number.
   */
  int (*key)(int cipher, const void *key, size_t count, void **schedule);
  void (*key_free)(void *schedule);
  /*
   * Decrypts `bytes` bytes with the schedule's cipher: a stretch in CBC and CTR, a data unit in XTS. With the other
   * ciphers, it decrypts a message with the tag of 16 bytes behind it at `in + bytes`, and `in` does not overlap `out`.
   * `associated_data` is authenticated together with the message, of any length; ignored in CBC, CTR and XTS.
   * Returns CHUNKWISE_AUTHENTICATION_FAILED if the tag is wrong; the harness then erases `out`.
   */
  int (*decrypt)(void *schedule, const uint8_t *nonce, size_t nonce_count, const void *associated_data,
                 size_t associated_data_count, const void *in, void *out, size_t bytes);
  /*
   * Sets the valid nonce lengths of GCM, OCB, EAX or SIV in bytes: from `*min` to `*max`, which are both the usual
   * length (12, 15, 16, 16) before the call. NULL if only the usual lengths are valid. `decrypt` is never called with
   * another length. It is called for each of these ciphers with a valid key, and leaves the numbers unchanged for
   * ciphers that it does not know.
   */
  void (*nonces)(int cipher, size_t *min, size_t *max);
} chunkwise_plugin;

/*
 * The only exported symbol. `harness_abi` is the harness's CHUNKWISE_ABI; returns NULL if the plug-in does not support
 * it. The table stays valid and in place until the process ends.
 */
const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi);

#ifdef __cplusplus
}
#endif

#endif

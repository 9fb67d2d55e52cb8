/// The plainest readers that C can have, to compare ours with: `pread` into one buffer, decrypt it in place.
///
/// AES-128-CBC, and Cobblestone-128's chunks; no threads, no checks of what a file's owner does meanwhile, no padding at
/// the end.

#ifndef CHUNKWISE_CLOOPS_H
#define CHUNKWISE_CLOOPS_H

#include <stddef.h>
#include <stdint.h>

/// The library that decrypts.
enum {
    CHUNKWISE_LOOP_OPENSSL = 0,
    CHUNKWISE_LOOP_GCRYPT = 1,
};

/// A file, a key, and a buffer of one window.
typedef struct chunkwise_loop chunkwise_loop;

/// Opens a file; `key` and `iv` have 16 bytes each, `window` is a multiple of 16. Returns NULL if that fails.
chunkwise_loop *chunkwise_loop_open(int library, const char *path, const uint8_t *key, const uint8_t *iv, size_t window);

/// Closes what `chunkwise_loop_open` opened.
void chunkwise_loop_close(chunkwise_loop *loop);

/// Decrypts the file from its start to its end, and writes it to `output` unless that is negative.
///
/// Returns the number of bytes decrypted, or -1.
int64_t chunkwise_loop_run(chunkwise_loop *loop, int output);

/// Decrypts the blocks that hold `count` bytes from `offset` on, which must fit into the window with one block more.
///
/// Returns where the plaintext starts, valid until the next call, or NULL.
const uint8_t *chunkwise_loop_read(chunkwise_loop *loop, uint64_t offset, size_t count);

/// A file of Cobblestone-128 (c2sp.org/chunked-encryption) with the empty context, and a buffer of 16 chunks.
typedef struct chunkwise_chunks chunkwise_chunks;

/// Opens a file; `key` has 16 bytes. Returns NULL if that fails, or the commitment is another key's.
chunkwise_chunks *chunkwise_chunks_open(int library, const char *path, const uint8_t *key);

/// Closes what `chunkwise_chunks_open` opened.
void chunkwise_chunks_close(chunkwise_chunks *chunks);

/// Decrypts and authenticates the file's chunks in order, 16 a `pread`.
///
/// Returns the number of plaintext bytes, or -1 if one is not authentic.
int64_t chunkwise_chunks_run(chunkwise_chunks *chunks);

#endif

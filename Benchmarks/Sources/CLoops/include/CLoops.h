/// The plainest readers that C can have, to compare ours with: `pread` into one buffer, decrypt it in place.
///
/// AES-128-CBC without padding at the end, AES-128-CTR, and authenticated chunks; no checks of what a file's owner does
/// meanwhile.

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

/// Opens a file of CTR or of CBC; `key` and `iv` have 16 bytes each, `window` is a multiple of 16.
///
/// Returns NULL if that fails.
chunkwise_loop *chunkwise_loop_open(
    int library, int is_ctr, const char *path, const uint8_t *key, const uint8_t *iv, size_t window);

/// Closes what `chunkwise_loop_open` opened.
void chunkwise_loop_close(chunkwise_loop *loop);

/// Decrypts the file from `first` to before `end`, multiples of 16 or the file's end, and writes it to the same place in
/// `output` unless that is negative.
///
/// Returns the number of bytes decrypted, or -1.
int64_t chunkwise_loop_run(chunkwise_loop *loop, int64_t first, int64_t end, int output);

/// Decrypts the blocks that hold `count` bytes from `offset` on, which must fit into the window with one block more, and
/// puts these bytes into `output`: whole blocks are decrypted into it, others are copied.
///
/// Returns 0 if that fails.
int chunkwise_loop_read(chunkwise_loop *loop, uint64_t offset, uint8_t *output, size_t count);

/// The cipher of chunks, with a key of 32 bytes.
enum {
    CHUNKWISE_AES_256_GCM = 0,
    CHUNKWISE_CHACHA20_POLY1305 = 1,
};

/// A file whose chunks are a nonce of 12 bytes, ciphertext and a tag of 16, or its plaintext, and two buffers of a chunk.
///
/// The associated data are the chunk's number in 8 bytes, and 1 byte that says whether it is the last one.
typedef struct chunkwise_chunks chunkwise_chunks;

/// Opens a file of chunks, or of plaintext to seal; `key` has 32 bytes, `chunk` is the plaintext of a full chunk.
///
/// Returns NULL if that fails.
chunkwise_chunks *chunkwise_chunks_open(
    int library, int cipher, const char *path, const uint8_t *key, size_t chunk, int is_sealing);

/// Closes what `chunkwise_chunks_open` opened.
void chunkwise_chunks_close(chunkwise_chunks *chunks);

/// Returns the number of chunks.
uint64_t chunkwise_chunks_count(const chunkwise_chunks *chunks);

/// Fetches and opens the chunks `first` to before `end`, each with one `pread` and into one buffer.
///
/// Returns the number of plaintext bytes, or -1 if one is not authentic.
int64_t chunkwise_chunks_run(chunkwise_chunks *chunks, uint64_t first, uint64_t end);

/// Opens or seals the chunks `first` to before `end`, and writes each to its place in `output`.
///
/// Returns the number of bytes written, or -1.
int64_t chunkwise_chunks_write(chunkwise_chunks *chunks, int is_sealing, uint64_t first, uint64_t end, int output);

/// Opens the chunks that hold `count` bytes from `offset` on, which the file must have, and copies those to `buffer`.
///
/// Returns 0 if one is not authentic.
int chunkwise_chunks_read(chunkwise_chunks *chunks, uint64_t offset, uint8_t *buffer, size_t count);

#endif

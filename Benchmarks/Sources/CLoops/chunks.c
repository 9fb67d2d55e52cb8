#include "CLoops.h"

#include <fcntl.h>
#include <gcrypt.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NONCE = 12, TAG = 16, AAD = 9 };

struct chunkwise_chunks {
    int file;
    int library;
    size_t chunk;
    uint64_t count, length;
    uint8_t *in, *out;
    EVP_CIPHER_CTX *openssl;
    gcry_cipher_hd_t gcrypt;
};

chunkwise_chunks *chunkwise_chunks_open(
    int library, int cipher, const char *path, const uint8_t *key, size_t chunk, int is_sealing) {
    chunkwise_chunks *chunks = calloc(1, sizeof *chunks);
    if (chunks == NULL) return NULL;
    size_t overhead = is_sealing ? 0 : NONCE + TAG;
    chunks->library = library;
    chunks->chunk = chunk;
    chunks->file = open(path, O_RDONLY | O_CLOEXEC);
    off_t length = chunks->file < 0 ? -1 : lseek(chunks->file, 0, SEEK_END);
    int is_ready = length > 0 && posix_memalign((void **)&chunks->in, 4096, chunk + NONCE + TAG) == 0
        && posix_memalign((void **)&chunks->out, 4096, chunk + NONCE + TAG) == 0;
    if (is_ready) {
        chunks->count = ((uint64_t)length + chunk + overhead - 1) / (chunk + overhead);
        chunks->length = (uint64_t)length - chunks->count * overhead;
    }
    if (library == CHUNKWISE_LOOP_OPENSSL) {
        const EVP_CIPHER *kind = cipher == CHUNKWISE_AES_256_GCM ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
        chunks->openssl = EVP_CIPHER_CTX_new();
        is_ready = is_ready && chunks->openssl != NULL
            && EVP_CipherInit_ex(chunks->openssl, kind, NULL, key, NULL, is_sealing) == 1;
    } else {
        int is_gcm = cipher == CHUNKWISE_AES_256_GCM;
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        is_ready = is_ready
            && gcry_cipher_open(
                   &chunks->gcrypt, is_gcm ? GCRY_CIPHER_AES256 : GCRY_CIPHER_CHACHA20,
                   is_gcm ? GCRY_CIPHER_MODE_GCM : GCRY_CIPHER_MODE_POLY1305, 0) == 0
            && gcry_cipher_setkey(chunks->gcrypt, key, 32) == 0;
    }
    if (is_ready) return chunks;
    chunkwise_chunks_close(chunks);
    return NULL;
}

void chunkwise_chunks_close(chunkwise_chunks *chunks) {
    if (chunks->file >= 0) close(chunks->file);
    EVP_CIPHER_CTX_free(chunks->openssl);
    gcry_cipher_close(chunks->gcrypt);
    free(chunks->in);
    free(chunks->out);
    free(chunks);
}

uint64_t chunkwise_chunks_count(const chunkwise_chunks *chunks) { return chunks->count; }

/* The plaintext bytes of a chunk. */
static size_t length_of(const chunkwise_chunks *chunks, uint64_t index) {
    return index + 1 < chunks->count ? chunks->chunk : (size_t)(chunks->length - index * chunks->chunk);
}

/* The index, and whether the chunk is the last one. */
static void bind(const chunkwise_chunks *chunks, uint64_t index, uint8_t *data) {
    for (int place = 0; place < 8; place++) data[place] = (uint8_t)(index >> (56 - 8 * place));
    data[8] = index + 1 == chunks->count;
}

/* Fetches a chunk and opens it into the other buffer. Returns its plaintext bytes, or -1. */
static ssize_t open_chunk(chunkwise_chunks *chunks, uint64_t index) {
    size_t count = length_of(chunks, index), stored = count + NONCE + TAG;
    uint8_t *in = chunks->in, *tag = in + NONCE + count, data[AAD];
    bind(chunks, index, data);
    if (pread(chunks->file, in, stored, (off_t)(index * (chunks->chunk + NONCE + TAG))) != (ssize_t)stored) return -1;
    if (chunks->library == CHUNKWISE_LOOP_OPENSSL) {
        int written = 0, end = 0;
        int is_good = EVP_DecryptInit_ex(chunks->openssl, NULL, NULL, NULL, in) == 1
            && EVP_DecryptUpdate(chunks->openssl, NULL, &written, data, AAD) == 1
            && EVP_DecryptUpdate(chunks->openssl, chunks->out, &written, in + NONCE, (int)count) == 1
            && EVP_CIPHER_CTX_ctrl(chunks->openssl, EVP_CTRL_AEAD_SET_TAG, TAG, tag) == 1
            && EVP_DecryptFinal_ex(chunks->openssl, chunks->out + written, &end) == 1;
        return is_good ? (ssize_t)count : -1;
    }
    int is_good = gcry_cipher_reset(chunks->gcrypt) == 0 && gcry_cipher_setiv(chunks->gcrypt, in, NONCE) == 0
        && gcry_cipher_authenticate(chunks->gcrypt, data, AAD) == 0
        && gcry_cipher_decrypt(chunks->gcrypt, chunks->out, count, in + NONCE, count) == 0
        && gcry_cipher_checktag(chunks->gcrypt, tag, TAG) == 0;
    return is_good ? (ssize_t)count : -1;
}

/* Fetches a chunk of plaintext and seals it into the other buffer. Returns its stored bytes, or -1. */
static ssize_t seal_chunk(chunkwise_chunks *chunks, uint64_t index) {
    size_t count = length_of(chunks, index);
    uint8_t *out = chunks->out, *tag = out + NONCE + count, data[AAD];
    bind(chunks, index, data);
    if (pread(chunks->file, chunks->in, count, (off_t)(index * chunks->chunk)) != (ssize_t)count) return -1;
    if (RAND_bytes(out, NONCE) != 1) return -1;
    if (chunks->library == CHUNKWISE_LOOP_OPENSSL) {
        int written = 0, end = 0;
        int is_good = EVP_EncryptInit_ex(chunks->openssl, NULL, NULL, NULL, out) == 1
            && EVP_EncryptUpdate(chunks->openssl, NULL, &written, data, AAD) == 1
            && EVP_EncryptUpdate(chunks->openssl, out + NONCE, &written, chunks->in, (int)count) == 1
            && EVP_EncryptFinal_ex(chunks->openssl, out + NONCE + written, &end) == 1
            && EVP_CIPHER_CTX_ctrl(chunks->openssl, EVP_CTRL_AEAD_GET_TAG, TAG, tag) == 1;
        return is_good ? (ssize_t)(count + NONCE + TAG) : -1;
    }
    int is_good = gcry_cipher_reset(chunks->gcrypt) == 0 && gcry_cipher_setiv(chunks->gcrypt, out, NONCE) == 0
        && gcry_cipher_authenticate(chunks->gcrypt, data, AAD) == 0
        && gcry_cipher_encrypt(chunks->gcrypt, out + NONCE, count, chunks->in, count) == 0
        && gcry_cipher_gettag(chunks->gcrypt, tag, TAG) == 0;
    return is_good ? (ssize_t)(count + NONCE + TAG) : -1;
}

int64_t chunkwise_chunks_run(chunkwise_chunks *chunks, uint64_t first, uint64_t end) {
    int64_t done = 0;
    for (uint64_t index = first; index < end; index++) {
        ssize_t count = open_chunk(chunks, index);
        if (count < 0) return -1;
        done += count;
    }
    return done;
}

int64_t chunkwise_chunks_write(chunkwise_chunks *chunks, int is_sealing, uint64_t first, uint64_t end, int output) {
    size_t stored = chunks->chunk + (is_sealing ? NONCE + TAG : 0);
    int64_t done = 0;
    for (uint64_t index = first; index < end; index++) {
        ssize_t count = is_sealing ? seal_chunk(chunks, index) : open_chunk(chunks, index);
        if (count < 0 || pwrite(output, chunks->out, (size_t)count, (off_t)(index * stored)) != count) return -1;
        done += count;
    }
    return done;
}

int chunkwise_chunks_read(chunkwise_chunks *chunks, uint64_t offset, uint8_t *buffer, size_t count) {
    while (count > 0) {
        uint64_t index = offset / chunks->chunk;
        size_t skip = (size_t)(offset % chunks->chunk);
        ssize_t length = open_chunk(chunks, index);
        if (length <= (ssize_t)skip) return 0;
        size_t part = (size_t)length - skip < count ? (size_t)length - skip : count;
        memcpy(buffer, chunks->out + skip, part);
        offset += part, buffer += part, count -= part;
    }
    return 1;
}

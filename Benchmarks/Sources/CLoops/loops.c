#include "CLoops.h"

#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chunkwise_loop {
    int file;
    int library;
    int is_ctr;
    size_t window;
    uint8_t *buffer;
    uint8_t iv[16];
    EVP_CIPHER_CTX *openssl;
    gcry_cipher_hd_t gcrypt;
};

static int set_iv(chunkwise_loop *loop, const uint8_t *iv) {
    if (loop->library == CHUNKWISE_LOOP_OPENSSL)
        return EVP_DecryptInit_ex(loop->openssl, NULL, NULL, NULL, iv) == 1;
    if (loop->is_ctr) return gcry_cipher_setctr(loop->gcrypt, iv, 16) == 0;
    return gcry_cipher_setiv(loop->gcrypt, iv, 16) == 0;
}

/* Begins at a block: `before` is the ciphertext before it, of which CTR needs none. */
static int begin(chunkwise_loop *loop, uint64_t block, const uint8_t *before) {
    uint8_t counter[16];
    if (!loop->is_ctr) return set_iv(loop, block == 0 ? loop->iv : before);
    for (int place = 15; place >= 0; place--) {
        block += loop->iv[place];
        counter[place] = (uint8_t)block;
        block >>= 8;
    }
    return set_iv(loop, counter);
}

/* Decrypts from `in` to `out`, which may be the same. */
static int decrypt(chunkwise_loop *loop, uint8_t *in, uint8_t *out, size_t count) {
    if (loop->library == CHUNKWISE_LOOP_OPENSSL) {
        int written = 0;
        return EVP_DecryptUpdate(loop->openssl, out, &written, in, (int)count) == 1 && (size_t)written == count;
    }
    return (in == out ? gcry_cipher_decrypt(loop->gcrypt, out, count, NULL, 0)
                      : gcry_cipher_decrypt(loop->gcrypt, out, count, in, count)) == 0;
}

chunkwise_loop *chunkwise_loop_open(
    int library, int is_ctr, const char *path, const uint8_t *key, const uint8_t *iv, size_t window) {
    chunkwise_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) return NULL;
    loop->library = library;
    loop->is_ctr = is_ctr;
    loop->window = window;
    loop->file = open(path, O_RDONLY | O_CLOEXEC);
    memcpy(loop->iv, iv, 16);
    int is_ready = loop->file >= 0 && posix_memalign((void **)&loop->buffer, 4096, window) == 0;
    if (library == CHUNKWISE_LOOP_OPENSSL) {
        loop->openssl = EVP_CIPHER_CTX_new();
        is_ready = is_ready && loop->openssl != NULL
            && EVP_DecryptInit_ex(loop->openssl, is_ctr ? EVP_aes_128_ctr() : EVP_aes_128_cbc(), NULL, key, iv) == 1
            && EVP_CIPHER_CTX_set_padding(loop->openssl, 0) == 1;
    } else {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        is_ready = is_ready && gcry_cipher_open(
                   &loop->gcrypt, GCRY_CIPHER_AES128, is_ctr ? GCRY_CIPHER_MODE_CTR : GCRY_CIPHER_MODE_CBC, 0) == 0
            && gcry_cipher_setkey(loop->gcrypt, key, 16) == 0;
    }
    if (is_ready) return loop;
    chunkwise_loop_close(loop);
    return NULL;
}

void chunkwise_loop_close(chunkwise_loop *loop) {
    if (loop->file >= 0) close(loop->file);
    EVP_CIPHER_CTX_free(loop->openssl);
    gcry_cipher_close(loop->gcrypt);
    free(loop->buffer);
    free(loop);
}

// A pipe takes bytes in order.
static ssize_t put(int output, const void *bytes, size_t count, int64_t offset) {
    ssize_t written = pwrite(output, bytes, count, offset);
    return written < 0 && errno == ESPIPE ? write(output, bytes, count) : written;
}

int64_t chunkwise_loop_run(chunkwise_loop *loop, int64_t first, int64_t end, int output) {
    int64_t done = first;
    uint8_t iv[16];
    if (first > 0 && pread(loop->file, iv, 16, first - 16) != 16) return -1;
    if (!begin(loop, (uint64_t)first / 16, iv)) return -1;
    while (done < end) {
        size_t part = (size_t)(end - done) < loop->window ? (size_t)(end - done) : loop->window;
        ssize_t count = pread(loop->file, loop->buffer, part, done);
        if (count <= 0) return count == 0 ? done - first : -1;
        if (!decrypt(loop, loop->buffer, loop->buffer, (size_t)count)) return -1;
        if (output >= 0 && put(output, loop->buffer, (size_t)count, done) != count) return -1;
        done += count;
    }
    return done - first;
}

int chunkwise_loop_read(chunkwise_loop *loop, uint64_t offset, uint8_t *output, size_t count) {
    uint64_t first = offset / 16 * 16;
    size_t length = (size_t)((offset + count + 15) / 16 * 16 - first);
    size_t before = first == 0 || loop->is_ctr ? 0 : 16;
    int is_whole = offset == first && count == length;
    uint8_t *in = is_whole && before == 0 ? output : loop->buffer;
    uint8_t *out = is_whole ? output : in + before;
    if (pread(loop->file, in, before + length, (off_t)(first - before)) != (ssize_t)(before + length)) return 0;
    if (!begin(loop, first / 16, in) || !decrypt(loop, in + before, out, length)) return 0;
    if (!is_whole) memcpy(output, out + (offset - first), count);
    return 1;
}

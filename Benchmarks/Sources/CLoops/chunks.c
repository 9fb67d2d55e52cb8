#include "CLoops.h"

#include <fcntl.h>
#include <gcrypt.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 56, SALT = 24, KEY = 16, NONCE = 12, TAG = 16, CHUNK = 16384 + TAG, CHUNKS_A_WINDOW = 16 };

struct chunkwise_chunks {
    int file;
    int library;
    uint8_t *buffer;
    uint8_t nonce[NONCE];
    EVP_CIPHER_CTX *openssl;
    gcry_cipher_hd_t gcrypt;
};

/* HKDF-Expand of RFC 5869, section 2.3, whose first block of 64 bytes is all that is needed. */
static int derive(const uint8_t *key, const uint8_t *salt, uint8_t *derived) {
    static const char label[] = "c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM";
    uint8_t info[sizeof label + SALT + 1];
    memcpy(info, label, sizeof label);
    memcpy(info + sizeof label, salt, SALT);
    info[sizeof info - 1] = 1;
    return HMAC(EVP_sha512(), key, KEY, info, sizeof info, derived, NULL) != NULL;
}

chunkwise_chunks *chunkwise_chunks_open(int library, const char *path, const uint8_t *key) {
    chunkwise_chunks *chunks = calloc(1, sizeof *chunks);
    uint8_t header[HEADER], derived[64];
    if (chunks == NULL) return NULL;
    chunks->library = library;
    chunks->file = open(path, O_RDONLY | O_CLOEXEC);
    int is_ready = chunks->file >= 0 && posix_memalign((void **)&chunks->buffer, 4096, CHUNKS_A_WINDOW * CHUNK) == 0
        && pread(chunks->file, header, HEADER, 0) == HEADER && derive(key, header, derived)
        && memcmp(derived + KEY + NONCE, header + SALT, HEADER - SALT) == 0;
    if (is_ready) memcpy(chunks->nonce, derived + KEY, NONCE);
    if (library == CHUNKWISE_LOOP_OPENSSL) {
        chunks->openssl = EVP_CIPHER_CTX_new();
        is_ready = is_ready && chunks->openssl != NULL
            && EVP_DecryptInit_ex(chunks->openssl, EVP_aes_128_gcm(), NULL, derived, NULL) == 1;
    } else {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        is_ready = is_ready && gcry_cipher_open(&chunks->gcrypt, GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_GCM, 0) == 0
            && gcry_cipher_setkey(chunks->gcrypt, derived, KEY) == 0;
    }
    if (is_ready) return chunks;
    chunkwise_chunks_close(chunks);
    return NULL;
}

void chunkwise_chunks_close(chunkwise_chunks *chunks) {
    if (chunks->file >= 0) close(chunks->file);
    EVP_CIPHER_CTX_free(chunks->openssl);
    gcry_cipher_close(chunks->gcrypt);
    free(chunks->buffer);
    free(chunks);
}

static int open_chunk(chunkwise_chunks *chunks, uint64_t index, uint8_t *bytes, size_t count) {
    uint8_t nonce[NONCE];
    memcpy(nonce, chunks->nonce, NONCE);
    for (int place = 0; place < 8; place++) nonce[NONCE - 1 - place] ^= (uint8_t)(index >> 8 * place);
    if (chunks->library == CHUNKWISE_LOOP_OPENSSL) {
        int written = 0, end = 0;
        return EVP_DecryptInit_ex(chunks->openssl, NULL, NULL, NULL, nonce) == 1
            && EVP_DecryptUpdate(chunks->openssl, bytes, &written, bytes, (int)count) == 1
            && EVP_CIPHER_CTX_ctrl(chunks->openssl, EVP_CTRL_GCM_SET_TAG, TAG, bytes + count) == 1
            && EVP_DecryptFinal_ex(chunks->openssl, bytes + written, &end) == 1;
    }
    return gcry_cipher_reset(chunks->gcrypt) == 0 && gcry_cipher_setiv(chunks->gcrypt, nonce, NONCE) == 0
        && gcry_cipher_decrypt(chunks->gcrypt, bytes, count, NULL, 0) == 0
        && gcry_cipher_checktag(chunks->gcrypt, bytes + count, TAG) == 0;
}

int64_t chunkwise_chunks_run(chunkwise_chunks *chunks) {
    int64_t done = 0;
    for (uint64_t index = 0;;) {
        ssize_t count = pread(
            chunks->file, chunks->buffer, CHUNKS_A_WINDOW * CHUNK, (off_t)(HEADER + index * CHUNK));
        if (count <= 0) return count == 0 ? done : -1;
        for (ssize_t start = 0; start < count; start += CHUNK, index++) {
            ssize_t length = count - start < CHUNK ? count - start : CHUNK;
            if (length < TAG || !open_chunk(chunks, index, chunks->buffer + start, (size_t)(length - TAG))) return -1;
            done += length - TAG;
        }
    }
}

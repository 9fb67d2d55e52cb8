/* Random reads of an encrypted file by the plainest loop: pread, decryption by a library, a copy of the bytes that were
 * asked for. Knows nothing of our code. compare-random-reads builds it and says what it prints.
 *
 * usage: random_reads openssl|libgcrypt FILE SEED READS BYTES MODE KEY IV [HEADER CHUNK RULE]
 *   MODE    cbc, ctr or gcm; KEY and IV in hexadecimal
 *   HEADER  bytes before the first chunk of gcm; CHUNK ciphertext bytes of a chunk, its tag of 16 bytes included
 *   RULE    xor: the nonce is IV xor the chunk's number, the header stands before the chunks
 *           count: the nonce is IV, the number in 4 bytes and 1 byte that says whether it is the last one; the header is
 *           counted to the first chunk
 * prints the median of a read in nanoseconds, and plaintext bytes per second of all reads. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <gcrypt.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static EVP_CIPHER_CTX *evp;
static gcry_cipher_hd_t gcry;
static int is_openssl, is_cbc, is_ctr, is_xor, file;
static unsigned char key[32], iv[16], *in, *chunk_out;
static uint64_t length, header, chunk, chunk_count;

static void fail(const char *what) {
    fprintf(stderr, "random_reads: %s failed\n", what);
    exit(1);
}

static int from_hex(const char *text, unsigned char *bytes, int most) {
    int count = 0;
    for (; text[2 * count] && count < most; count++)
        if (sscanf(text + 2 * count, "%2hhx", bytes + count) != 1) fail("reading hexadecimal digits");
    return count;
}

static void fetch(uint64_t offset, size_t count) {
    if (pread(file, in, count, offset) != (ssize_t)count) fail("pread");
}

static void decrypt(const unsigned char *nonce, const unsigned char *from, unsigned char *to, size_t count) {
    int written;
    if (is_openssl) {
        if (!EVP_DecryptInit_ex(evp, NULL, NULL, NULL, nonce) || !EVP_DecryptUpdate(evp, to, &written, from, count))
            fail("decrypting");
    } else {
        if (is_ctr ? gcry_cipher_setctr(gcry, nonce, 16) : gcry_cipher_setiv(gcry, nonce, is_cbc ? 16 : 12))
            fail("setting the nonce");
        if (gcry_cipher_decrypt(gcry, to, count, from, count)) fail("decrypting");
    }
}

static void check_tag(unsigned char *tag) {
    int written;
    unsigned char end[16];
    if (is_openssl ? !EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_SET_TAG, 16, tag) || !EVP_DecryptFinal_ex(evp, end, &written)
                   : gcry_cipher_checktag(gcry, tag, 16) != 0)
        fail("comparing a tag");
}

/* CBC and CTR: the blocks that cover the range, and for CBC the one before. */
static void read_blocks(uint64_t offset, size_t count, unsigned char *to) {
    uint64_t first = offset / 16 * 16, end = is_ctr ? offset + count : (offset + count + 15) / 16 * 16;
    size_t before = is_cbc && first > 0 ? 16 : 0;
    unsigned char nonce[16];
    fetch(first - before, end - first + before);
    memcpy(nonce, before ? in : iv, 16);
    if (is_ctr) {
        uint64_t add = first / 16;
        for (int i = 15; i >= 0 && add; i--, add >>= 8) {
            unsigned sum = nonce[i] + (add & 255);
            nonce[i] = sum;
            add += sum >> 8 << 8;
        }
    }
    decrypt(nonce, in + before, in + before, end - first);
    memcpy(to, in + before + (offset - first), count);
}

/* GCM: each chunk that the range touches, whole. */
static void read_chunks(uint64_t offset, size_t count, unsigned char *to) {
    uint64_t shift = is_xor ? 0 : header, plain = chunk - 16;
    while (count > 0) {
        uint64_t index = (offset + shift) / plain, at = (offset + shift) % plain;
        uint64_t start = is_xor ? header + index * chunk : index * chunk, skip = !is_xor && index == 0 ? header : 0;
        uint64_t size = (start + chunk < length ? start + chunk : length) - start - skip;
        unsigned char nonce[12];
        memcpy(nonce, iv, 12);
        for (int i = 0; i < 4; i++) {
            if (is_xor) nonce[11 - i] ^= index >> 8 * i;
            else nonce[10 - i] = index >> 8 * i;
        }
        if (!is_xor) nonce[11] = index + 1 == chunk_count;
        fetch(start + skip, size);
        decrypt(nonce, in, chunk_out, size - 16);
        check_tag(in + size - 16);
        size_t part = plain - at < count ? plain - at : count;
        memcpy(to, chunk_out + (at - skip), part);
        offset += part, to += part, count -= part;
    }
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static int ascending(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    if (argc != 9 && argc != 12) fail("reading the arguments");
    is_openssl = !strcmp(argv[1], "openssl");
    uint64_t seed = strtoull(argv[3], NULL, 10), reads = strtoull(argv[4], NULL, 10), bytes = strtoull(argv[5], NULL, 10);
    is_cbc = !strcmp(argv[6], "cbc"), is_ctr = !strcmp(argv[6], "ctr");
    int key_length = from_hex(argv[7], key, 32), bits = key_length * 8;
    from_hex(argv[8], iv, 16);
    struct stat status;
    if ((file = open(argv[2], O_RDONLY)) < 0 || fstat(file, &status)) fail("opening the file");
    length = status.st_size;
    uint64_t plaintext = length - (is_cbc ? 16 : 0);
    if (argc == 12) {
        header = strtoull(argv[9], NULL, 10), chunk = strtoull(argv[10], NULL, 10), is_xor = !strcmp(argv[11], "xor");
        chunk_count = ((is_xor ? length - header : length) + chunk - 1) / chunk;
        plaintext = length - header - 16 * chunk_count;
    }
    in = malloc(bytes + chunk + 64), chunk_out = malloc(chunk + 64);
    unsigned char *out = malloc(bytes);
    uint64_t *latencies = malloc(reads * sizeof *latencies);
    if (!in || !chunk_out || !out || !latencies) fail("malloc");
    memset(in, 1, bytes + chunk + 64), memset(chunk_out, 1, chunk + 64), memset(out, 1, bytes);
    memset(latencies, 1, reads * sizeof *latencies);
    if (is_openssl) {
        char name[16];
        snprintf(name, sizeof name, "AES-%d-%s", bits, is_cbc ? "CBC" : is_ctr ? "CTR" : "GCM");
        EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
        evp = EVP_CIPHER_CTX_new();
        if (!cipher || !evp || !EVP_DecryptInit_ex(evp, cipher, NULL, key, iv)) fail("making a context");
        EVP_CIPHER_CTX_set_padding(evp, 0);
    } else {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED);
        if (gcry_cipher_open(&gcry, bits == 128 ? GCRY_CIPHER_AES128 : GCRY_CIPHER_AES256,
                             is_cbc ? GCRY_CIPHER_MODE_CBC : is_ctr ? GCRY_CIPHER_MODE_CTR : GCRY_CIPHER_MODE_GCM, 0)
            || gcry_cipher_setkey(gcry, key, key_length))
            fail("making a context");
    }
    uint64_t state = seed, total = 0;
    /* The first ones are not counted: the processor and the kernel come up to their pace. */
    for (uint64_t i = 0, first = reads / 4; i < reads + first; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9, z = (z ^ z >> 27) * 0x94d049bb133111eb, z ^= z >> 31;
        uint64_t offset = z % (plaintext - bytes + 1), start = now();
        if (argc == 12) read_chunks(offset, bytes, out);
        else read_blocks(offset, bytes, out);
        if (i < first) continue;
        total += latencies[i - first] = now() - start;
    }
    qsort(latencies, reads, sizeof *latencies, ascending);
    printf("%llu %.0f\n", (unsigned long long)latencies[reads / 2], (double)bytes * reads / total * 1e9);
}

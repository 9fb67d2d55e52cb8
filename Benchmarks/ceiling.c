// The fastest AES-128-CBC decryption that this CPU is known to do, by libipsec-mb, beside libgcrypt, OpenSSL
// and BoringSSL.
// ceiling FILE ROUNDS; see the script of the same name.

#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <intel-ipsec-mb.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IPSEC, GCRYPT, OPENSSL, BORINGSSL, LIBRARY_COUNT };
static const char *const names[] = {"ipsec-mb", "libgcrypt", "openssl", "boringssl"};

// BoringSSL as swift-crypto has it, without what swift-crypto adds: its objects prefix the names.
EVP_CIPHER_CTX *CCryptoBoringSSL_EVP_CIPHER_CTX_new(void);
const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_128_cbc(void);
int CCryptoBoringSSL_EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX *, int);
int CCryptoBoringSSL_EVP_DecryptInit_ex(
    EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const unsigned char *, const unsigned char *);
int CCryptoBoringSSL_EVP_DecryptUpdate(EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int);

static uint8_t key[16], iv[16];
static IMB_MGR *manager;
static DECLARE_ALIGNED(uint32_t encryption_keys[60], 16);
static DECLARE_ALIGNED(uint32_t decryption_keys[60], 16);
static gcry_cipher_hd_t cipher;
static EVP_CIPHER_CTX *context, *boring_context;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    fprintf(stderr, "ceiling: %s: %s\n", what, strerror(errno));
    exit(74);
}

static void prepare(void) {
    for (int i = 0; i < 16; i++) key[i] = i, iv[i] = 16 + i;
    manager = alloc_mb_mgr(0);
    if (manager == NULL) fail("libipsec-mb");
    init_mb_mgr_auto(manager, NULL);
    IMB_AES_KEYEXP_128(manager, key, encryption_keys, decryption_keys);
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_CBC, 0) || gcry_cipher_setkey(cipher, key, 16))
        fail("libgcrypt");
    context = EVP_CIPHER_CTX_new();
    if (EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), NULL, key, iv) != 1) fail("openssl");
    EVP_CIPHER_CTX_set_padding(context, 0);
    boring_context = CCryptoBoringSSL_EVP_CIPHER_CTX_new();
    if (CCryptoBoringSSL_EVP_DecryptInit_ex(boring_context, CCryptoBoringSSL_EVP_aes_128_cbc(), NULL, key, iv) != 1)
        fail("boringssl");
    CCryptoBoringSSL_EVP_CIPHER_CTX_set_padding(boring_context, 0);
}

static void decrypt(int library, const uint8_t *input, uint8_t *output, size_t count) {
    int is_right = 0, length;
    IMB_JOB *job;
    switch (library) {
    case IPSEC:
        job = IMB_GET_NEXT_JOB(manager);
        job->cipher_mode = IMB_CIPHER_CBC;
        job->cipher_direction = IMB_DIR_DECRYPT;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->hash_alg = IMB_AUTH_NULL;
        job->src = input;
        job->dst = output;
        job->cipher_start_src_offset_in_bytes = 0;
        job->msg_len_to_cipher_in_bytes = count;
        job->iv = iv;
        job->iv_len_in_bytes = 16;
        job->key_len_in_bytes = 16;
        job->enc_keys = encryption_keys;
        job->dec_keys = decryption_keys;
        job = IMB_SUBMIT_JOB(manager);
        is_right = job != NULL && job->status == IMB_STATUS_COMPLETED;
        break;
    case GCRYPT:
        is_right = !gcry_cipher_setiv(cipher, iv, 16) && !gcry_cipher_decrypt(cipher, output, count, input, count);
        break;
    case BORINGSSL:
        is_right = CCryptoBoringSSL_EVP_DecryptInit_ex(boring_context, NULL, NULL, NULL, iv) == 1
            && CCryptoBoringSSL_EVP_DecryptUpdate(boring_context, output, &length, input, (int)count) == 1;
        break;
    default:
        is_right = EVP_DecryptInit_ex(context, NULL, NULL, NULL, iv) == 1
            && EVP_DecryptUpdate(context, output, &length, input, (int)count) == 1;
    }
    if (!is_right) fail(names[library]);
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// Prints the medians of the rounds' rates and of their ratios to the first, with the least and the greatest.
static void show(const char *name, double rates[][LIBRARY_COUNT], int rounds) {
    printf("%-34s", name);
    for (int library = 0; library < LIBRARY_COUNT; library++) {
        double sorted[rounds], ratios[rounds];
        for (int round = 0; round < rounds; round++) {
            sorted[round] = rates[round][library];
            ratios[round] = rates[round][library] / rates[round][IPSEC];
        }
        qsort(sorted, rounds, sizeof *sorted, ascending);
        qsort(ratios, rounds, sizeof *ratios, ascending);
        printf("  %s %5.2f GB/s", names[library], sorted[rounds / 2] / 1e9);
        if (library != IPSEC) printf(" = %.2f (%.2f to %.2f)", ratios[rounds / 2], ratios[0], ratios[rounds - 1]);
    }
    printf("\n");
    fflush(stdout);
}

int main(int count, char **arguments) {
    int rounds = count == 3 ? atoi(arguments[2]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: ceiling FILE ROUNDS\n");
        return 64;
    }
    prepare();
    printf("libipsec-mb %s, libgcrypt %s, %s; ratios to libipsec-mb: median, least, greatest of %d rounds\n",
        imb_get_version_str(), gcry_check_version(NULL), OpenSSL_version(OPENSSL_VERSION), rounds);
    double rates[rounds][LIBRARY_COUNT];
    for (size_t size = 4 << 10; size <= 64 << 20; size *= 4) {
        uint8_t *input = aligned_alloc(64, size), *output = aligned_alloc(64, size), *expected = malloc(size);
        if (input == NULL || output == NULL || expected == NULL) fail("memory");
        for (size_t i = 0; i < size; i++) input[i] = i * 31 + i / 251;
        size_t turns = (128 << 20) / size;
        for (int round = -1; round < rounds; round++)
            for (int turn = 0; turn < LIBRARY_COUNT; turn++) {
                int library = round < 0 ? turn : (turn + round) % LIBRARY_COUNT;
                double start = now();
                for (size_t i = 0; i < turns; i++) decrypt(library, input, output, size);
                if (round >= 0) rates[round][library] = size * turns / (now() - start);
                // No rate without the bytes.
                else if (library == IPSEC) memcpy(expected, output, size);
                else if (memcmp(expected, output, size) != 0) fail("plaintexts differ");
            }
        char name[64];
        snprintf(name, sizeof name, "%zu KiB again and again", size >> 10);
        show(name, rates, rounds);
        free(input), free(output), free(expected);
    }
    int file = open(arguments[1], O_RDONLY);
    if (file < 0) fail(arguments[1]);
    enum { WINDOW = 256 << 10 };
    uint8_t *window = aligned_alloc(4096, WINDOW);
    for (int round = -1; round < rounds; round++)
        for (int turn = 0; turn < LIBRARY_COUNT; turn++) {
            int library = round < 0 ? turn : (turn + round) % LIBRARY_COUNT;
            double start = now();
            ssize_t got;
            off_t place = 0;
            while ((got = pread(file, window, WINDOW, place)) > 0) {
                decrypt(library, window, window, got / 16 * 16);
                place += got;
            }
            if (got < 0) fail(arguments[1]);
            if (round >= 0) rates[round][library] = place / (now() - start);
        }
    show("file in the page cache, 256 KiB", rates, rounds);
    return 0;
}

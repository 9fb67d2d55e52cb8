// The plainest program, whose threads have a range each:
//   c-decrypt cbc openssl|libgcrypt KEY-HEX IV-HEX INPUT OUTPUT THREADS, in windows of 256 KiB
//   c-decrypt open|seal openssl|libgcrypt KEY-HEX aes-gcm|chacha20-poly1305 CHUNK INPUT OUTPUT THREADS

#include "CLoops.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_THREADS = 64 };

static int decode(const char *text, uint8_t *bytes, size_t count) {
    if (strlen(text) != 2 * count) return 0;
    for (size_t i = 0; i < count; i++)
        if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1) return 0;
    return 1;
}

typedef struct {
    chunkwise_loop *loop;
    chunkwise_chunks *chunks;
    uint64_t first, end;
    int is_sealing, output;
    int64_t result;
} part;

static void *run(void *argument) {
    part *it = argument;
    it->result = it->loop != NULL
        ? chunkwise_loop_run(it->loop, (int64_t)it->first, (int64_t)it->end, it->output)
        : chunkwise_chunks_write(it->chunks, it->is_sealing, it->first, it->end, it->output);
    return NULL;
}

static int fail(const char *what) {
    fprintf(stderr, "c-decrypt: %s\n", what);
    return 64;
}

int main(int count, char **arguments) {
    int is_cbc = count == 8 && strcmp(arguments[1], "cbc") == 0;
    int is_sealing = count == 9 && strcmp(arguments[1], "seal") == 0;
    if (!is_cbc && count != 9) return fail("expected cbc, open or seal, and more");
    uint8_t key[32], iv[16];
    if (!decode(arguments[3], key, is_cbc ? 16 : 32) || (is_cbc && !decode(arguments[4], iv, 16)))
        return fail("expected a key and an IV in hexadecimal digits");
    int library = strcmp(arguments[2], "openssl") == 0 ? CHUNKWISE_LOOP_OPENSSL : CHUNKWISE_LOOP_GCRYPT;
    const char *input = arguments[count - 3];
    int output = open(arguments[count - 2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int threads = atoi(arguments[count - 1]);
    if (output < 0 || threads < 1 || threads > MAX_THREADS) return fail("expected an output, and 1 to 64 threads");
    struct stat status;
    if (stat(input, &status) != 0) return fail("no input");
    int cipher = !is_cbc && strcmp(arguments[4], "aes-gcm") == 0 ? CHUNKWISE_AES_256_GCM : CHUNKWISE_CHACHA20_POLY1305;
    part parts[MAX_THREADS];
    pthread_t running[MAX_THREADS];
    for (int i = 0; i < threads; i++) {
        part *it = &parts[i];
        memset(it, 0, sizeof *it);
        it->output = output;
        it->is_sealing = is_sealing;
        uint64_t units = (uint64_t)status.st_size / 16;
        if (is_cbc) {
            it->loop = chunkwise_loop_open(library, 0, input, key, iv, 256 << 10);
        } else {
            it->chunks = chunkwise_chunks_open(library, cipher, input, key, (size_t)atol(arguments[5]), is_sealing);
        }
        if (it->loop == NULL && it->chunks == NULL) return fail("cannot open the input");
        if (!is_cbc) units = chunkwise_chunks_count(it->chunks);
        it->first = units * (uint64_t)i / (uint64_t)threads * (is_cbc ? 16 : 1);
        it->end = units * (uint64_t)(i + 1) / (uint64_t)threads * (is_cbc ? 16 : 1);
        if (i > 0 && pthread_create(&running[i], NULL, run, it) != 0) return fail("no thread");
    }
    run(&parts[0]);
    for (int i = 1; i < threads; i++) pthread_join(running[i], NULL);
    for (int i = 0; i < threads; i++)
        if (parts[i].result < 0) return fail("a part was not read");
    return 0;
}

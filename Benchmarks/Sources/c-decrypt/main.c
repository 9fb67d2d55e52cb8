// The plainest program: c-decrypt openssl|libgcrypt KEY-HEX IV-HEX INPUT OUTPUT, in windows of 256 KiB.

#include "CLoops.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int decode(const char *text, uint8_t *bytes) {
    if (strlen(text) != 32) return 0;
    for (int i = 0; i < 16; i++)
        if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1) return 0;
    return 1;
}

int main(int count, char **arguments) {
    uint8_t key[16], iv[16];
    if (count != 6 || !decode(arguments[2], key) || !decode(arguments[3], iv)) {
        fprintf(stderr, "c-decrypt: expected openssl|libgcrypt KEY-HEX IV-HEX INPUT OUTPUT\n");
        return 64;
    }
    int library = strcmp(arguments[1], "openssl") == 0 ? CHUNKWISE_LOOP_OPENSSL : CHUNKWISE_LOOP_GCRYPT;
    chunkwise_loop *loop = chunkwise_loop_open(library, arguments[4], key, iv, 256 << 10);
    int output = open(arguments[5], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (loop == NULL || output < 0 || chunkwise_loop_run(loop, output) < 0) {
        perror("c-decrypt");
        return 74;
    }
    return 0;
}

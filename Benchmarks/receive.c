/* The least that reading an encrypted file over HTTP costs: one request, 256 KiB received at a time and decrypted there by
 * libgcrypt (AES-128-CBC), and nothing looked at. For comparison only: compare-with-curl builds it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void fail(const char *what) {
    fprintf(stderr, "receive: %s failed\n", what);
    exit(1);
}

/* usage: receive PORT PATH BYTES, of 127.0.0.1; BYTES is the length that must come. */
int main(int count, char **arguments) {
    enum { window = 256 << 10 };
    static unsigned char buffer[window];
    const char key[16] = {1};
    gcry_cipher_hd_t cipher;
    if (count != 4) fail("reading PORT PATH BYTES");
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED);
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_CBC, 0) || gcry_cipher_setkey(cipher, key, 16) ||
        gcry_cipher_setiv(cipher, key, 16))
        fail("setting a key");
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(connection, (struct sockaddr *)&server, sizeof server) != 0) fail("connect");
    char request[512];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                          arguments[2]);
    if (send(connection, request, length, 0) != length) fail("send");
    size_t filled = 0, received = 0;
    for (int has_head = 0;;) {
        ssize_t got = recv(connection, buffer + filled, window - filled, 0);
        if (got <= 0) break;
        if (!has_head) {
            /* The head of a server that is near comes in one piece. */
            unsigned char *end = memmem(buffer, got, "\r\n\r\n", 4);
            if (end == NULL) fail("reading the head");
            got -= end + 4 - buffer;
            memmove(buffer, end + 4, got);
            has_head = 1;
        }
        filled += got;
        received += got;
        if (filled == window) {
            if (gcry_cipher_decrypt(cipher, buffer, window, NULL, 0)) fail("decrypting");
            filled = 0;
        }
    }
    if (received != strtoull(arguments[3], NULL, 10)) fail("receiving everything");
    return 0;
}

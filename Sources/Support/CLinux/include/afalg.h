#ifndef CHUNKWISE_CAFALG_H
#define CHUNKWISE_CAFALG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sockets of the family AF_ALG: ciphers of the Linux kernel. Control messages are macros, which Swift cannot call.
 * Every function sets errno and returns -1 when it fails. */

/* Returns a socket that is bound to a cipher such as "cbc(aes)"; close() ends it. */
int chunkwise_alg_bind(const char *cipher);

/* Gives a bound socket its key, before any operation is opened on it. The kernel keeps a copy and erases it. */
int chunkwise_alg_set_key(int transform, const void *key, size_t byte_count);

/* Opens an operation: a second socket, which accepts input and returns output; close() ends it. */
int chunkwise_alg_open_operation(int transform);

/* Returns the number of bytes that the operation accepts before any output is read: whole pages, at least one. */
ssize_t chunkwise_alg_capacity(int operation);

/* Sends a whole input with its direction and its IV of 16 bytes, without waiting for space.
 * Returns the number of bytes that the kernel accepted. */
ssize_t chunkwise_alg_send(
    int operation, int is_encrypting, const void *iv, const void *input, size_t byte_count);

/* Receives output, without waiting for input that was not sent. Returns the number of available bytes. */
ssize_t chunkwise_alg_receive(int operation, void *output, size_t byte_count);

#endif

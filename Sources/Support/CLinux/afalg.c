/* accept4 */
#define _GNU_SOURCE

#include "afalg.h"

#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

enum { iv_byte_count = 16 };

int chunkwise_alg_bind(const char *cipher) {
    struct sockaddr_alg address = {.salg_family = AF_ALG, .salg_type = "skcipher"};
    size_t length = strlen(cipher);
    if (length >= sizeof(address.salg_name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.salg_name, cipher, length + 1);
    int transform = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (transform < 0) return -1;
    if (bind(transform, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int reason = errno;
        close(transform);
        errno = reason;
        return -1;
    }
    return transform;
}

int chunkwise_alg_set_key(int transform, const void *key, size_t byte_count) {
    return setsockopt(transform, SOL_ALG, ALG_SET_KEY, key, (socklen_t)byte_count);
}

int chunkwise_alg_open_operation(int transform) {
    return accept4(transform, NULL, NULL, SOCK_CLOEXEC);
}

ssize_t chunkwise_alg_capacity(int operation) {
    int byte_count = 0;
    socklen_t length = sizeof(byte_count);
    if (getsockopt(operation, SOL_SOCKET, SO_SNDBUF, &byte_count, &length) != 0) return -1;
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0) page = 4096;
    return byte_count < page ? page : byte_count / page * page;
}

ssize_t chunkwise_alg_send(
    int operation, int is_encrypting, const void *iv, const void *input, size_t byte_count) {
    /* struct af_alg_iv ends in an array without a length. */
    uint8_t alg_iv[sizeof(struct af_alg_iv) + iv_byte_count];
    uint32_t length = iv_byte_count;
    memcpy(alg_iv + offsetof(struct af_alg_iv, ivlen), &length, sizeof(length));
    memcpy(alg_iv + offsetof(struct af_alg_iv, iv), iv, iv_byte_count);
    uint32_t direction = is_encrypting ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;

    union {
        char bytes[CMSG_SPACE(sizeof(direction)) + CMSG_SPACE(sizeof(alg_iv))];
        struct cmsghdr alignment;
    } control = {.bytes = {0}};
    struct iovec vector = {.iov_base = (void *)input, .iov_len = byte_count};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};

    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_ALG;
    part->cmsg_type = ALG_SET_OP;
    part->cmsg_len = CMSG_LEN(sizeof(direction));
    memcpy(CMSG_DATA(part), &direction, sizeof(direction));
    part = CMSG_NXTHDR(&message, part);
    part->cmsg_level = SOL_ALG;
    part->cmsg_type = ALG_SET_IV;
    part->cmsg_len = CMSG_LEN(sizeof(alg_iv));
    memcpy(CMSG_DATA(part), alg_iv, sizeof(alg_iv));

    /* A thread that waits for space here would wait for itself to read. */
    return sendmsg(operation, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t chunkwise_alg_receive(int operation, void *output, size_t byte_count) {
    return recv(operation, output, byte_count, MSG_DONTWAIT);
}

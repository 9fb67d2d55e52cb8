#define _GNU_SOURCE
#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

int chunkwise_direct_flag(void) { return O_DIRECT; }

static bool is_power_of_two(uint32_t number) { return number != 0 && (number & (number - 1)) == 0; }

uint32_t chunkwise_direct_alignment(int descriptor) {
    struct statfs system;
    // These accept the flag, but have no storage below the page cache.
    if (fstatfs(descriptor, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) return 0;
#ifdef STATX_DIOALIGN
    struct statx status;
    memset(&status, 0, sizeof status);
    // An empty path with AT_EMPTY_PATH means the descriptor itself.
    if (syscall(SYS_statx, descriptor, "", 0x1000, STATX_DIOALIGN, &status) == 0 &&
        (status.stx_mask & STATX_DIOALIGN) != 0) {
        uint32_t offset = status.stx_dio_offset_align, memory = status.stx_dio_mem_align;
        if (offset == 0) return 0;
        if (is_power_of_two(offset) && is_power_of_two(memory)) return offset > memory ? offset : memory;
    }
#endif
    int block = 0;
    if (ioctl(descriptor, BLKSSZGET, &block) == 0 && block >= 512 && is_power_of_two((uint32_t)block))
        return (uint32_t)block;
    return 4096;
}

struct chunkwise_ring {
    int descriptor;
    bool is_registered;
    unsigned *submission_tail, *submission_mask, *submission_array;
    unsigned *completion_head, *completion_tail, *completion_mask;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *completions;
    void *submission_ring, *completion_ring;
    size_t submission_byte_count, completion_byte_count, entries_byte_count;
};

static void *map(int descriptor, size_t byte_count, off_t offset) {
    return mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, offset);
}

void chunkwise_ring_close(chunkwise_ring *ring) {
    if (ring == NULL) return;
    int code = errno;
    if (ring->entries != NULL && ring->entries != MAP_FAILED) munmap(ring->entries, ring->entries_byte_count);
    if (ring->completion_ring != NULL && ring->completion_ring != MAP_FAILED)
        munmap(ring->completion_ring, ring->completion_byte_count);
    if (ring->submission_ring != NULL && ring->submission_ring != MAP_FAILED)
        munmap(ring->submission_ring, ring->submission_byte_count);
    close(ring->descriptor);
    free(ring);
    errno = code;
}

chunkwise_ring *chunkwise_ring_open(void *buffer, size_t byte_count) {
    struct io_uring_params parameters;
    memset(&parameters, 0, sizeof parameters);
    int descriptor = (int)syscall(SYS_io_uring_setup, 1, &parameters);
    if (descriptor < 0) return NULL;
    chunkwise_ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL) {
        close(descriptor);
        errno = ENOMEM;
        return NULL;
    }
    ring->descriptor = descriptor;
    ring->submission_byte_count = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
    ring->completion_byte_count = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
    ring->entries_byte_count = parameters.sq_entries * sizeof(struct io_uring_sqe);
    ring->submission_ring = map(descriptor, ring->submission_byte_count, IORING_OFF_SQ_RING);
    ring->completion_ring = map(descriptor, ring->completion_byte_count, IORING_OFF_CQ_RING);
    ring->entries = map(descriptor, ring->entries_byte_count, IORING_OFF_SQES);
    if (ring->submission_ring == MAP_FAILED || ring->completion_ring == MAP_FAILED || ring->entries == MAP_FAILED) {
        chunkwise_ring_close(ring);
        return NULL;
    }
    char *submission = ring->submission_ring, *completion = ring->completion_ring;
    ring->submission_tail = (unsigned *)(submission + parameters.sq_off.tail);
    ring->submission_mask = (unsigned *)(submission + parameters.sq_off.ring_mask);
    ring->submission_array = (unsigned *)(submission + parameters.sq_off.array);
    ring->completion_head = (unsigned *)(completion + parameters.cq_off.head);
    ring->completion_tail = (unsigned *)(completion + parameters.cq_off.tail);
    ring->completion_mask = (unsigned *)(completion + parameters.cq_off.ring_mask);
    ring->completions = (struct io_uring_cqe *)(completion + parameters.cq_off.cqes);
    struct iovec part = {.iov_base = buffer, .iov_len = byte_count};
    ring->is_registered = syscall(SYS_io_uring_register, descriptor, IORING_REGISTER_BUFFERS, &part, 1) == 0;
    return ring;
}

int64_t chunkwise_ring_read(chunkwise_ring *ring, int descriptor, void *buffer, uint32_t byte_count, uint64_t offset) {
    // Only this thread writes the tail, and no read is in flight.
    unsigned tail = *ring->submission_tail, index = tail & *ring->submission_mask;
    struct io_uring_sqe *entry = &ring->entries[index];
    memset(entry, 0, sizeof *entry);
    entry->opcode = ring->is_registered ? IORING_OP_READ_FIXED : IORING_OP_READ;
    entry->fd = descriptor;
    entry->addr = (uint64_t)(uintptr_t)buffer;
    entry->len = byte_count;
    entry->off = offset;
    ring->submission_array[index] = index;
    atomic_store_explicit((_Atomic unsigned *)ring->submission_tail, tail + 1, memory_order_release);
    unsigned to_submit = 1;
    unsigned head = *ring->completion_head;
    while (atomic_load_explicit((_Atomic unsigned *)ring->completion_tail, memory_order_acquire) == head) {
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, to_submit, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken > 0) to_submit -= (unsigned)taken;
        // A submitted read must complete before the buffer may be used again.
        if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY) return -1;
    }
    int result = ring->completions[head & *ring->completion_mask].res;
    atomic_store_explicit((_Atomic unsigned *)ring->completion_head, head + 1, memory_order_release);
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

#ifndef CHUNKWISE_DIRECT_H
#define CHUNKWISE_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads that go past the page cache, and the ring through which the kernel takes them. */

/* The flag of open(2) for such reads, which the C library has for programs of its own extensions only. */
int chunkwise_direct_flag(void);

/* What the offset, the length and the address of a read must be a multiple of: what statx(2) says, or the device's
 * block, or 4096 where neither does. Returns 0 where the file system says that it has no such reads, or keeps files in
 * memory only. */
uint32_t chunkwise_direct_alignment(int descriptor);

/* A ring with space for one read at a time, for one thread at a time. Source: io_uring(7). */
typedef struct chunkwise_ring chunkwise_ring;

/* Makes a ring, and registers a buffer with it, so that the kernel need not find its pages for each read; where that is
 * not allowed, reads do without. Returns NULL and sets errno if there is no ring to be had. */
chunkwise_ring *chunkwise_ring_open(void *buffer, size_t byte_count);

/* Reads into the buffer, and waits for it. Returns the number of bytes, or -1 and sets errno. */
int64_t chunkwise_ring_read(chunkwise_ring *ring, int descriptor, void *buffer, uint32_t byte_count, uint64_t offset);

void chunkwise_ring_close(chunkwise_ring *ring);

#endif

#ifndef CHUNKWISE_DIRECT_H
#define CHUNKWISE_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads that bypass the page cache, and the ring through which the kernel receives them. */

/* Returns the flag of open(2) for such reads, which the C library defines only together with its extensions. */
int chunkwise_direct_flag(void);

/* Returns the alignment of the offset, the length and the address of a read: from statx(2), or else the device's block,
 * or else 4096. Returns 0 if the file system reports that it does not support such reads, or keeps files in memory
 * only. */
uint32_t chunkwise_direct_alignment(int descriptor);

/* A ring with space for one read at a time, for one thread at a time. Source: io_uring(7). */
typedef struct chunkwise_ring chunkwise_ring;

/* Makes a ring, and registers a buffer with it, so that the kernel need not look up its pages for each read. If that is
 * not allowed, reads use the buffer unregistered. Returns NULL and sets errno if the kernel provides no ring. */
chunkwise_ring *chunkwise_ring_open(void *buffer, size_t byte_count);

/* Reads into the buffer, and waits for the read to complete. Returns the number of bytes, or -1 and sets errno. */
int64_t chunkwise_ring_read(chunkwise_ring *ring, int descriptor, void *buffer, uint32_t byte_count, uint64_t offset);

void chunkwise_ring_close(chunkwise_ring *ring);

#endif

/// How malloc treats large pieces, whose settings no Swift module of the C library offers.

#ifndef CHUNKWISE_ALLOCATOR_H
#define CHUNKWISE_ALLOCATOR_H

#include <stddef.h>

/// Pieces of at least `byte_count` bytes come from the system, and go back to it when they are freed.
///
/// By itself, glibc keeps such pieces for later, in each of the threads, once the first of them has been freed.
/// Source: mallopt(3), "M_MMAP_THRESHOLD". Does nothing with other C libraries.
void chunkwise_allocator_return(size_t byte_count);

#endif

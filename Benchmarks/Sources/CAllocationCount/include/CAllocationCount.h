/// Counts what this process allocates, by standing before the C library's functions.

#ifndef CHUNKWISE_ALLOCATION_COUNT_H
#define CHUNKWISE_ALLOCATION_COUNT_H

#include <stdint.h>

/// How often `malloc`, `calloc`, `realloc` or an aligned allocation was called so far.
uint64_t chunkwise_allocation_count(void);

#endif

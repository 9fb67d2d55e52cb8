#include "allocator.h"

#include <features.h>

#ifdef __GLIBC__
#include <malloc.h>

void chunkwise_allocator_return(size_t byte_count) { mallopt(M_MMAP_THRESHOLD, (int)byte_count); }
#else
void chunkwise_allocator_return(size_t byte_count) { (void)byte_count; }
#endif

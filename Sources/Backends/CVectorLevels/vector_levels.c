#include "vector_levels.h"

chunkwise_vectors chunkwise_vectors_present(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl")) return chunkwise_vectors_avx512;
    if (__builtin_cpu_supports("avx2")) return chunkwise_vectors_avx2;
#endif
    return chunkwise_vectors_portable;
}

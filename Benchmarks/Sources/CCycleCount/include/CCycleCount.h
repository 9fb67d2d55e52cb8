#ifndef C_CYCLE_COUNT_H
#define C_CYCLE_COUNT_H

#include <stdint.h>

/// The processor's counter, read when what stands before has ended and before what stands behind has begun.
static inline uint64_t cycle_count(void) {
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    uint64_t count;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
#endif
}

#endif

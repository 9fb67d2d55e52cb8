#ifndef CHUNKWISE_CPERFEVENTS_H
#define CHUNKWISE_CPERFEVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Counters of the CPU for this process, where the kernel and the machine have them.
 * Source: perf_event_open(2). */

typedef enum {
    chunkwise_perf_instructions = 0,
    chunkwise_perf_cycles = 1,
} chunkwise_perf_counter;

/* Opens a counter of what this thread, and threads that it starts from now on, do outside of the kernel. It counts at
 * once. Returns a descriptor to be closed, or -1 where there is no such counter or nobody may use it. */
int chunkwise_perf_open(chunkwise_perf_counter counter);

/* Reads a counter. Returns false if that fails, or if the counter shared its place with others and ran only for part of
 * the time. */
bool chunkwise_perf_read(int descriptor, uint64_t *value);

#endif

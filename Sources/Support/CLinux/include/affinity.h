#ifndef CHUNKWISE_CAFFINITY_H
#define CHUNKWISE_CAFFINITY_H

#include <pthread.h>
#include <stdbool.h>

/* Which CPU a thread runs on. Source: CPU_SET(3), sched_getaffinity(2), pthread_attr_setaffinity_np(3). */

/* The CPUs that there are, or may come; their numbers start with 0. */
int chunkwise_cpu_count(void);

/* Whether this thread may run on a CPU; any, where the system does not say. */
bool chunkwise_is_allowed(int cpu);

/* Starts a thread that runs on this CPU only; on a negative number, wherever its creator may. Returns false if there is
 * no such CPU, or no thread to be had. */
bool chunkwise_start_on(int cpu, pthread_t *thread, void *(*body)(void *), void *argument);

#endif

#define _GNU_SOURCE
#include "affinity.h"

#include <sched.h>
#include <unistd.h>

int chunkwise_cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_CONF);
    return count < 1 ? 1 : count > CPU_SETSIZE ? CPU_SETSIZE : (int)count;
}

bool chunkwise_is_allowed(int cpu) {
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_ISSET(cpu, &set);
}

bool chunkwise_start_on(int cpu, pthread_t *thread, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    if (cpu >= CPU_SETSIZE || pthread_attr_init(&attributes) != 0) return false;
    bool started = true;
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        started = pthread_attr_setaffinity_np(&attributes, sizeof set, &set) == 0;
    }
    started = started && pthread_create(thread, &attributes, body, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

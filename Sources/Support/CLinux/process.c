#define _GNU_SOURCE
#include "process.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
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

void chunkwise_allocator_return(size_t byte_count) { mallopt(M_MMAP_THRESHOLD, (int)byte_count); }

int chunkwise_perf_open(chunkwise_perf_counter counter) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config =
        counter == chunkwise_perf_cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool chunkwise_perf_read(int descriptor, uint64_t *value) {
    uint64_t fields[3]; /* value, time enabled, time running */
    if (descriptor < 0 || read(descriptor, fields, sizeof fields) != (ssize_t)sizeof fields) return false;
    *value = fields[0];
    return fields[1] == fields[2] && fields[2] > 0;
}

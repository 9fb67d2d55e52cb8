#include "perf_events.h"

#if defined(__linux__)

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

#else

int chunkwise_perf_open(chunkwise_perf_counter counter) {
    (void)counter;
    return -1;
}

bool chunkwise_perf_read(int descriptor, uint64_t *value) {
    (void)descriptor;
    (void)value;
    return false;
}

#endif

#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include <malloc.h>

static int status_without_memory;
static struct sigaction earlier_actions[2];
static const int abort_signals[2] = {SIGABRT, SIGILL};

/* Runs when the program aborts. The only way to find the cause is to test whether memory is available. */
static void aborted(int signal, siginfo_t *information, void *unused) {
    static const char message[] = "chunkwise: out of memory: expected more, or smaller windows, chunks or files\n";
    const size_t probe = (size_t)128 << 20;
    void *memory = mmap(NULL, probe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
        (void)written;
        _exit(status_without_memory);
    }
    munmap(memory, probe);
    (void)unused;
    sigaction(signal, &earlier_actions[signal == SIGILL], NULL);
    // A faulting instruction is retried, so that a backtrace begins with it.
    if (information->si_code <= 0) raise(signal);
}

void chunkwise_exit_without_memory(int status) {
    status_without_memory = status;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = aborted;
    action.sa_flags = SA_NODEFER | SA_SIGINFO;
    for (int index = 0; index < 2; index++) sigaction(abort_signals[index], &action, &earlier_actions[index]);
}

static int output_failure;

/* Writes all bytes, as the stream of the standard output requires. */
static ssize_t write_output(void *unused, const char *bytes, size_t count) {
    (void)unused;
    size_t done = 0;
    while (done < count) {
        ssize_t written = write(STDOUT_FILENO, bytes + done, count - done);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd request = {.fd = STDOUT_FILENO, .events = POLLOUT};
            poll(&request, 1, -1);
        } else if (errno != EINTR) {
            if (output_failure == 0) output_failure = errno;
            break;
        }
    }
    return (ssize_t)done;
}

void chunkwise_prepare_output(void) {
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
    // Without memory for it, the default stream stays.
    if (stream == NULL) return;
    setvbuf(stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = stream;
}

int chunkwise_flush_output(void) {
    errno = 0;
    if (fflush(NULL) != 0 && output_failure == 0) output_failure = errno == 0 ? EIO : errno;
    return output_failure;
}

ssize_t chunkwise_read_at_once(int descriptor, void *buffer, size_t count, int64_t offset) {
    struct iovec part = {.iov_base = buffer, .iov_len = count};
    return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
}

bool chunkwise_has_no_writer(int descriptor) {
    // A process that opens the file for writing before the lease is released waits for that, and the kernel signals the
    // holder. SIGURG is ignored unless it is handled.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0 || fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return false;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return true;
}

int chunkwise_cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_CONF);
    return count < 1 ? 1 : count > CPU_SETSIZE ? CPU_SETSIZE : (int)count;
}

bool chunkwise_is_allowed(int cpu) {
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_ISSET(cpu, &set);
}

bool chunkwise_pin(pid_t thread, const int *cpus, size_t count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t index = 0; index < count; index++) {
        if (cpus[index] < 0 || cpus[index] >= CPU_SETSIZE) return false;
        CPU_SET(cpus[index], &set);
    }
    return sched_setaffinity(thread, sizeof set, &set) == 0;
}

int64_t chunkwise_cpu_nanoseconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
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

/* An instruction sequence that does nothing on a CPU, and passes the request that rax points to to valgrind. */
static uint64_t ask(uint64_t request, uint64_t first, uint64_t second) {
#if defined(__x86_64__)
    volatile uint64_t arguments[6] = {request, first, second, 0, 0, 0};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(arguments)
                     : "cc", "memory");
    return answer;
#else
    (void)request, (void)first, (void)second;
    return 0;
#endif
}

enum { RUNNING_ON_VALGRIND = 0x1001, COUNT_ERRORS = 0x1201, MEMCHECK = 0x4D430000 };

bool chunkwise_memcheck_is_running(void) { return ask(RUNNING_ON_VALGRIND, 0, 0) != 0; }

void chunkwise_memcheck_poison(const void *start, size_t byte_count) {
    ask(MEMCHECK + 1, (uint64_t)(uintptr_t)start, byte_count);
}

void chunkwise_memcheck_release(const void *start, size_t byte_count) {
    ask(MEMCHECK + 2, (uint64_t)(uintptr_t)start, byte_count);
}

unsigned long chunkwise_memcheck_finding_count(void) { return ask(COUNT_ERRORS, 0, 0); }

bool chunkwise_take_cpu(int cpu) {
    // unix(7), "Abstract sockets": the name belongs to the process until it ends in any way, and leaves no file.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int count = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "chunkwise-cpu-%d", cpu);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return false;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)count);
    if (bind(descriptor, (struct sockaddr *)&address, length) == 0) return true;
    close(descriptor);
    return false;
}

void chunkwise_trim_memory(void)
{
    malloc_trim(0);
}

#ifndef CHUNKWISE_PROCESS_H
#define CHUNKWISE_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process asks of the system that no Swift module of the C library offers: the CPU that a thread runs on, how
 * malloc treats large pieces, counters of the CPU, and what valgrind counts. */

/* Makes the lack of memory an error: where a program aborts because an allocation failed, it says so and exits with
 * `status`. Whatever else aborts it does so as before. */
void chunkwise_exit_without_memory(int status);

/* Makes what is printed wait for a standard output that does not take it at once, as a pipe that another program made
 * non-blocking. The C library would drop it, and say so to who prints only. Source: fopencookie(3). */
void chunkwise_prepare_output(void);

/* Writes out what was printed. Returns why something that was printed until now did not reach the standard output, or 0
 * if all did. Source: fflush(3). */
int chunkwise_flush_output(void);

/* Reads what is in memory of a file's bytes from an offset on, as pread(2) does. Where the first of them is not, or the
 * file system cannot tell, returns -1 and sets `errno`. Source: preadv2(2), "RWF_NOWAIT". */
ssize_t chunkwise_read_at_once(int descriptor, void *buffer, size_t count, int64_t offset);

/* Whether nobody has a file open for writing, which is open for reading here. Returns false where that cannot be told: of
 * another user's file, or on a file system without leases. Source: fcntl(2), "F_SETLEASE". */
bool chunkwise_has_no_writer(int descriptor);

/* Which CPU a thread runs on. Source: CPU_SET(3), sched_getaffinity(2), pthread_attr_setaffinity_np(3). */

/* The CPUs that there are, or may come; their numbers start with 0. */
int chunkwise_cpu_count(void);

/* Whether this thread may run on a CPU; any, where the system does not say. */
bool chunkwise_is_allowed(int cpu);

/* Makes a thread (0: this one), and what it starts from now on, run on these CPUs only. Returns false, with errno, if that
 * is not allowed. Source: sched_setaffinity(2). */
bool chunkwise_pin(pid_t thread, const int *cpus, size_t count);

/* The nanoseconds of CPU time of a process, threads that ended included; -1, with errno, if it is gone.
 * Source: clock_getcpuclockid(3). */
int64_t chunkwise_cpu_nanoseconds(pid_t process);

/* Starts a thread that runs on this CPU only; on a negative number, wherever its creator may. Returns false if there is
 * no such CPU, or no thread to be had. */
bool chunkwise_start_on(int cpu, pthread_t *thread, void *(*body)(void *), void *argument);

/* Pieces of at least `byte_count` bytes come from the system, and go back to it when they are freed.
 *
 * By itself, glibc keeps such pieces for later, in each of the threads, once the first of them has been freed.
 * Source: mallopt(3), "M_MMAP_THRESHOLD". */
void chunkwise_allocator_return(size_t byte_count);

/* Counters of the CPU for this process, where the kernel and the machine have them.
 * Source: perf_event_open(2). */

typedef enum {
    chunkwise_perf_instructions = 0,
    chunkwise_perf_cycles = 1,
} chunkwise_perf_counter;

/* Opens a counter of what this thread, and threads that it starts from now on, do outside of the kernel. It counts at
 * once. Returns a descriptor to be closed, or -1 where there is no such counter or it may not be used. */
int chunkwise_perf_open(chunkwise_perf_counter counter);

/* Reads a counter. Returns false if that fails, or if the counter was shared with others and ran only for part of
 * the time. */
bool chunkwise_perf_read(int descriptor, uint64_t *value);

/* Requests to valgrind's memcheck: bytes that count as uninitialized are followed wherever they go, and a branch or an
 * address that depends on them is counted. Without valgrind they do nothing. Source: valgrind's manual, 3.1 "The Client
 * Request mechanism" and 4.7 "Memcheck: Client Requests". */

/* Whether this process runs under valgrind; false on processors other than x86-64. */
bool chunkwise_memcheck_is_running(void);

/* Makes bytes count as uninitialized, and as initialized again. */
void chunkwise_memcheck_poison(const void *start, size_t byte_count);
void chunkwise_memcheck_release(const void *start, size_t byte_count);

/* How many branches and addresses depended on such bytes so far. */
unsigned long chunkwise_memcheck_finding_count(void);

/* Takes a CPU among processes that ask for it in this way. Returns false if another one has it; it is given back when this
 * process ends. */
bool chunkwise_take_cpu(int cpu);

/* Gives memory back to the system that was freed and that the allocator keeps. Calls malloc_trim, of a header that is not
 * in Swift's Glibc. */
void chunkwise_trim_memory(void);

#endif

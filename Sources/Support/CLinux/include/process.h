#ifndef CHUNKWISE_PROCESS_H
#define CHUNKWISE_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* System functions that no Swift module of the C library offers: the CPU of a thread, the treatment of large pieces by
 * malloc, performance counters, and the counts of valgrind. */

/* Turns a lack of memory into an error: if the program aborts because an allocation failed, it prints a message and
 * exits with `status`. Any other abort stays as before. */
void chunkwise_exit_without_memory(int status);

/* Makes printing wait if the standard output does not accept data at once, such as a pipe that another program made
 * non-blocking. The C library would drop the data, and report it only to the printing function. Source:
 * fopencookie(3). */
void chunkwise_prepare_output(void);

/* Flushes the standard output. Returns 0, or the error because of which some printed data did not reach it. Source:
 * fflush(3). */
int chunkwise_flush_output(void);

/* Reads the bytes of a file from an offset on, like pread(2), as far as they are in memory. If the first byte is not,
 * or the file system cannot tell, returns -1 and sets `errno`. Source: preadv2(2), "RWF_NOWAIT". */
ssize_t chunkwise_read_at_once(int descriptor, void *buffer, size_t count, int64_t offset);

/* Returns whether no process has a file open for writing; the file must be open for reading here. Returns false if that
 * is unknown: for another user's file, or on a file system without leases. Source: fcntl(2), "F_SETLEASE". */
bool chunkwise_has_no_writer(int descriptor);

/* The CPU of a thread. Source: CPU_SET(3), sched_getaffinity(2), pthread_attr_setaffinity_np(3). */

/* Returns the number of CPUs that exist, or may be added; they are numbered from 0. */
int chunkwise_cpu_count(void);

/* Returns whether this thread may run on a CPU; true if the system does not tell. */
bool chunkwise_is_allowed(int cpu);

/* Restricts a thread (0: this one), and threads that it starts from now on, to these CPUs. Returns false, with errno,
 * if that is not allowed. Source: sched_setaffinity(2). */
bool chunkwise_pin(pid_t thread, const int *cpus, size_t count);

/* Returns the CPU time of a process in nanoseconds, including finished threads; -1, with errno, if it has ended.
 * Source: clock_getcpuclockid(3). */
int64_t chunkwise_cpu_nanoseconds(pid_t process);

/* Starts a thread that runs on this CPU only, or, for a negative number, on the CPUs of its creator. Returns false if
 * there is no such CPU, or the system provides no thread. */
bool chunkwise_start_on(int cpu, pthread_t *thread, void *(*body)(void *), void *argument);

/* Makes malloc get pieces of at least `byte_count` bytes from the system, and return them when they are freed.
 *
 * By default, glibc keeps such pieces for later, in each thread, after the first of them has been freed.
 * Source: mallopt(3), "M_MMAP_THRESHOLD". */
void chunkwise_allocator_return(size_t byte_count);

/* Performance counters for this process, if the kernel and the machine support them.
 * Source: perf_event_open(2). */

typedef enum {
    chunkwise_perf_instructions = 0,
    chunkwise_perf_cycles = 1,
} chunkwise_perf_counter;

/* Opens a counter for this thread, and threads that it starts from now on, outside of the kernel. It counts at once.
 * Returns a descriptor to be closed, or -1 if there is no such counter or it may not be used. */
int chunkwise_perf_open(chunkwise_perf_counter counter);

/* Reads a counter. Returns false if that fails, or if the counter was shared and ran for part of the time only. */
bool chunkwise_perf_read(int descriptor, uint64_t *value);

/* Requests to valgrind's memcheck. It tracks bytes that count as uninitialized, and counts each branch or address that
 * depends on them. Without valgrind the requests do nothing. Source: valgrind's manual, 3.1 "The Client
 * Request mechanism" and 4.7 "Memcheck: Client Requests". */

/* Returns whether this process runs under valgrind; false on processors other than x86-64. */
bool chunkwise_memcheck_is_running(void);

/* Makes bytes count as uninitialized, and as initialized again. */
void chunkwise_memcheck_poison(const void *start, size_t byte_count);
void chunkwise_memcheck_release(const void *start, size_t byte_count);

/* Returns the number of branches and addresses that have depended on such bytes. */
unsigned long chunkwise_memcheck_finding_count(void);

/* Reserves a CPU among processes that call this function. Returns false if another process has it. The reservation ends
 * with this process. */
bool chunkwise_take_cpu(int cpu);

/* Returns freed memory that the allocator keeps to the system. Calls malloc_trim, whose header is not in Swift's
 * Glibc. */
void chunkwise_trim_memory(void);

#endif

// Makes the N-th call that touches a file, a pipe or a socket fail, in a program that is started with this library
// preloaded and in the processes that it starts. Calls are counted over all of them, in a file that they share.
//
//   CHUNKWISE_CALLS        the file: a 64-bit count, then 64 bits for whether a call was met, then its name
//   CHUNKWISE_FAILING_CALL which call fails, from 1 on; 0 to count only
//   CHUNKWISE_FAILURE      EIO, ENOSPC, EDQUOT, EINTR, EAGAIN; `short` for half of the bytes; `kill` for SIGKILL;
//                          `clock` sets the clock on the wall back by a day, and lets the call do its work.
//                          ENOSPC and EDQUOT stay: every later call that makes a file or its contents grow fails too,
//                          but for messages, which are on another disk.
//   CHUNKWISE_CALLS_ON     `files` to meet calls on files and folders only, and none on sockets and pipes: a server's
//                          event loop ends its process at an error of those that are its own.
//
// Only calls through the C library are met; the loader's own, before the program starts, are not.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct calls {
    _Atomic uint64_t count;
    _Atomic uint64_t isMet;
    char name[48];
};

static struct calls *calls;
static uint64_t failing;
static int failure, isShort, isKill, isClock, stays, isFilesOnly;
static void *(*realMap)(void *, size_t, int, int, int, off_t);

/// What a call does: whether it moves bytes, so that it can do so in part, whether it takes space on a disk, and
/// whether it is on a socket, a pipe or an event loop.
enum { PLAIN = 0, MOVES = 1, GROWS = 2, STREAM = 4 };

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CHUNKWISE_CALLS"), *number = getenv("CHUNKWISE_FAILING_CALL");
    const char *kind = getenv("CHUNKWISE_FAILURE");
    char program[512] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *name = length > 0 ? strrchr(program, '/') : NULL;
    // A shell between two programs is none of ours.
    if (!path || !number || !kind || !name || strncmp(name, "/chunkwise", 10) != 0) return;
    realMap = next("mmap");
    int (*realOpen)(const char *, int, ...) = next("open");
    int file = realOpen(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = realMap(NULL, sizeof(struct calls), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int (*realClose)(int) = next("close");
    realClose(file);
    if (mapped == MAP_FAILED) return;
    failing = strtoull(number, NULL, 10);
    isShort = strcmp(kind, "short") == 0;
    isKill = strcmp(kind, "kill") == 0;
    isClock = strcmp(kind, "clock") == 0;
    const char *on = getenv("CHUNKWISE_CALLS_ON");
    isFilesOnly = on && strcmp(on, "files") == 0;
    stays = strcmp(kind, "ENOSPC") == 0 || strcmp(kind, "EDQUOT") == 0;
    failure = strcmp(kind, "EIO") == 0      ? EIO
              : strcmp(kind, "ENOSPC") == 0 ? ENOSPC
              : strcmp(kind, "EDQUOT") == 0 ? EDQUOT
              : strcmp(kind, "EINTR") == 0  ? EINTR
              : strcmp(kind, "EAGAIN") == 0 ? EAGAIN
                                            : 0;
    calls = mapped;
}

/// Counts a call. Returns whether it fails, with `errno` set, or does a part of its work only.
static int meets(const char *name, int what) {
    if (!calls || (isFilesOnly && (what & STREAM))) return 0;
    uint64_t number = atomic_fetch_add(&calls->count, 1) + 1;
    if (failing == 0 || number < failing || (number > failing && !(stays && (what & GROWS)))) return 0;
    if (isShort && !(what & MOVES)) return 0;
    // A disk that is full reads as before.
    if (stays && !(what & GROWS)) return 0;
    if (!calls->isMet) strncpy(calls->name, name, sizeof calls->name - 1);
    calls->isMet = 1;
    if (isKill) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (isClock) return 0;
    if (!isShort) errno = failure;
    return 1;
}

/// What a call on a descriptor is on.
static int of(int file) {
    struct stat facts;
    struct statfs system;
    if (!calls || !isFilesOnly || syscall(SYS_fstat, file, &facts) != 0) return PLAIN;
    // Of /proc, /sys and control groups nothing is ours.
    if (syscall(SYS_fstatfs, file, &system) == 0 &&
        (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC || system.f_type == CGROUP_SUPER_MAGIC ||
         system.f_type == CGROUP2_SUPER_MAGIC)) return STREAM;
    return S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode) ? PLAIN : STREAM;
}

/// The same, and whether writing to it takes space on the disk: a pipe does not, and messages are on another one.
static int onDisk(int file) {
    struct stat facts;
    int isOnDisk = file != 2 && syscall(SYS_fstat, file, &facts) == 0 && S_ISREG(facts.st_mode);
    return of(file) | (isOnDisk ? GROWS : PLAIN);
}

/// Whether a path is the system's, and read by libraries that end the process where that fails: libdispatch looks at its
/// threads in /proc/PID/stat, libgcrypt at /proc/sys/crypto, SwiftNIO at control groups.
static int isForeign(const char *path) {
    if (strncmp(path, "/proc/", 6) == 0) return isFilesOnly || (path[6] >= '0' && path[6] <= '9') || path[6] == 's';
    return isFilesOnly && strncmp(path, "/sys/", 5) == 0;
}

// A call that fails with -1.
#define CALL(type, name, what, parameters, arguments)                                                                  \
    type name parameters {                                                                                             \
        static type(*real) parameters;                                                                                 \
        if (!real) real = next(#name);                                                                                 \
        if (meets(#name, what)) return (type)-1;                                                                       \
        return real arguments;                                                                                         \
    }

// A call that moves `count` bytes, and may move fewer.
#define MOVE(name, what, parameters, arguments)                                                                        \
    ssize_t name parameters {                                                                                          \
        static ssize_t(*real) parameters;                                                                              \
        if (!real) real = next(#name);                                                                                 \
        if (meets(#name, MOVES | (what))) {                                                                            \
            if (!isShort) return -1;                                                                                   \
            if (count > 1) count /= 2;                                                                                 \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        static int (*real)(const char *, int, ...);                                                                    \
        if (!real) real = next(#name);                                                                                 \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if (!isForeign(path) && meets(#name, flags & O_CREAT ? GROWS : PLAIN)) return -1;                             \
        return real(path, flags, mode);                                                                                \
    }

#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        static int (*real)(int, const char *, int, ...);                                                               \
        if (!real) real = next(#name);                                                                                 \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if (!isForeign(path) && meets(#name, flags & O_CREAT ? GROWS : PLAIN)) return -1;                             \
        return real(folder, path, flags, mode);                                                                        \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
MOVE(read, of(file), (int file, void *bytes, size_t count), (file, bytes, count))
MOVE(pread, 0, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
MOVE(pread64, 0, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
MOVE(write, onDisk(file), (int file, const void *bytes, size_t count), (file, bytes, count))
MOVE(pwrite, GROWS, (int file, const void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
MOVE(pwrite64, GROWS, (int file, const void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
MOVE(send, STREAM, (int file, const void *bytes, size_t count, int flags), (file, bytes, count, flags))
MOVE(recv, STREAM, (int file, void *bytes, size_t count, int flags), (file, bytes, count, flags))
CALL(ssize_t, writev, onDisk(file), (int file, const struct iovec *parts, int count), (file, parts, count))
CALL(ssize_t, readv, of(file), (int file, const struct iovec *parts, int count), (file, parts, count))
CALL(ssize_t, sendmsg, STREAM, (int file, const struct msghdr *message, int flags), (file, message, flags))
CALL(ssize_t, recvmsg, STREAM, (int file, struct msghdr *message, int flags), (file, message, flags))
CALL(ssize_t, preadv, PLAIN, (int file, const struct iovec *parts, int count, off_t offset),
     (file, parts, count, offset))
CALL(ssize_t, sendfile, PLAIN, (int to, int file, off_t *offset, size_t count), (to, file, offset, count))
CALL(off_t, lseek, PLAIN, (int file, off_t offset, int from), (file, offset, from))
CALL(off_t, lseek64, PLAIN, (int file, off_t offset, int from), (file, offset, from))
CALL(int, fsync, GROWS, (int file), (file))
CALL(int, fdatasync, GROWS, (int file), (file))
CALL(int, ftruncate, GROWS, (int file, off_t size), (file, size))
CALL(int, ftruncate64, GROWS, (int file, off_t size), (file, size))
CALL(int, fallocate, GROWS, (int file, int mode, off_t offset, off_t size), (file, mode, offset, size))
CALL(int, flock, PLAIN, (int file, int operation), (file, operation))
CALL(int, fchmod, PLAIN, (int file, mode_t mode), (file, mode))
CALL(int, fstat, of(file), (int file, struct stat *facts), (file, facts))
CALL(int, fstat64, of(file), (int file, struct stat64 *facts), (file, facts))
CALL(int, stat, PLAIN, (const char *path, struct stat *facts), (path, facts))
CALL(int, stat64, PLAIN, (const char *path, struct stat64 *facts), (path, facts))
CALL(int, lstat, PLAIN, (const char *path, struct stat *facts), (path, facts))
CALL(int, lstat64, PLAIN, (const char *path, struct stat64 *facts), (path, facts))
CALL(int, fstatat, PLAIN, (int folder, const char *path, struct stat *facts, int flags), (folder, path, facts, flags))
CALL(int, rename, GROWS, (const char *old, const char *new), (old, new))
CALL(int, renameat, GROWS, (int from, const char *old, int to, const char *new), (from, old, to, new))
CALL(int, renameat2, GROWS, (int from, const char *old, int to, const char *new, unsigned flags),
     (from, old, to, new, flags))
CALL(int, link, GROWS, (const char *old, const char *new), (old, new))
CALL(int, linkat, GROWS, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags))
CALL(int, unlink, PLAIN, (const char *path), (path))
CALL(int, unlinkat, PLAIN, (int folder, const char *path, int flags), (folder, path, flags))
CALL(int, rmdir, PLAIN, (const char *path), (path))
CALL(int, access, PLAIN, (const char *path, int mode), (path, mode))
CALL(ssize_t, readlink, PLAIN, (const char *path, char *name, size_t size), (path, name, size))
CALL(int, mkdir, GROWS, (const char *path, mode_t mode), (path, mode))
CALL(int, mkdirat, GROWS, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(int, pipe, STREAM, (int ends[2]), (ends))
CALL(int, pipe2, STREAM, (int ends[2], int flags), (ends, flags))
CALL(int, dup, of(file), (int file), (file))
CALL(int, dup2, of(file), (int file, int other), (file, other))
CALL(int, poll, STREAM, (struct pollfd *files, nfds_t count, int timeout), (files, count, timeout))
CALL(int, epoll_wait, STREAM, (int file, struct epoll_event *events, int count, int timeout),
     (file, events, count, timeout))
CALL(int, socket, STREAM, (int domain, int type, int protocol), (domain, type, protocol))
CALL(int, bind, STREAM, (int file, const struct sockaddr *address, socklen_t size), (file, address, size))
CALL(int, listen, STREAM, (int file, int backlog), (file, backlog))
CALL(int, connect, STREAM, (int file, const struct sockaddr *address, socklen_t size), (file, address, size))
CALL(int, accept, STREAM, (int file, struct sockaddr *address, socklen_t *size), (file, address, size))
CALL(int, accept4, STREAM, (int file, struct sockaddr *address, socklen_t *size, int flags),
     (file, address, size, flags))

// A call that returns why it failed, or fails with a null pointer.
#define RETURN(type, name, failed, parameters, arguments)                                                              \
    type name parameters {                                                                                             \
        static type(*real) parameters;                                                                                 \
        if (!real) real = next(#name);                                                                                 \
        if (meets(#name, PLAIN)) return failed;                                                                        \
        return real arguments;                                                                                         \
    }

RETURN(char *, realpath, NULL, (const char *path, char *resolved), (path, resolved))
RETURN(DIR *, opendir, NULL, (const char *path), (path))
RETURN(DIR *, fdopendir, NULL, (int file), (file))
RETURN(struct dirent *, readdir, NULL, (DIR * folder), (folder))
RETURN(struct dirent64 *, readdir64, NULL, (DIR * folder), (folder))
RETURN(int, posix_spawn, errno,
       (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
        char *const arguments[], char *const environment[]),
       (process, path, actions, attributes, arguments, environment))
RETURN(int, posix_spawnp, errno,
       (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
        char *const arguments[], char *const environment[]),
       (process, path, actions, attributes, arguments, environment))

int close(int file) {
    static int (*real)(int);
    if (!real) real = next("close");
    // Linux has closed the file even where it says that it failed.
    int isFailing = meets("close", of(file)), why = errno;
    int result = real(file);
    if (!isFailing) return result;
    errno = why;
    return -1;
}

// Of a file only: anonymous memory is no input or output.
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (!realMap) realMap = next("mmap");
    if (file >= 0 && meets("mmap", PLAIN)) return MAP_FAILED;
    return realMap(address, size, protection, flags, file, offset);
}

/// How far the clock on the wall is set back, in seconds.
static time_t setBack(void) {
    return calls && isClock && calls->isMet ? 86400 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = next("clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec -= setBack();
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = next("gettimeofday");
    int result = real(now, zone);
    if (result == 0) now->tv_sec -= setBack();
    return result;
}

time_t time(time_t *copy) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (copy) *copy = now.tv_sec;
    return now.tv_sec;
}

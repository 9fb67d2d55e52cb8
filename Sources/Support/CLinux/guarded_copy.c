#define _GNU_SOURCE

#include "guarded_copy.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { guard_count = 1024 };

struct guard {
    atomic_int is_taken;
    atomic_int is_broken;
    // Odd while start and length are being changed. A handler on another thread could otherwise see the start of one
    // mapping and the length of another, and map zeroes over foreign memory.
    atomic_uint version;
    _Atomic uintptr_t start;
    atomic_size_t byte_count;
};

static struct guard guards[guard_count];
static struct sigaction previous;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int install_error;
static uintptr_t page_byte_count;

/// Maps zeroes over the rest of a mapping, from the page of `address` on. Calls only async-signal-safe functions.
static int replace(struct guard *guard, uintptr_t address) {
    // Only the thread that touches a mapping changes its guard, so a guard that is changing now was not touched.
    unsigned version = atomic_load(&guard->version);
    uintptr_t start = atomic_load(&guard->start);
    size_t byte_count = atomic_load(&guard->byte_count);
    if (version % 2 != 0 || atomic_load(&guard->version) != version) return 0;
    if (address < start || address - start >= byte_count) return 0;
    uintptr_t page = address & ~(page_byte_count - 1);
    void *replaced = mmap(
        (void *)page, start + byte_count - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (replaced == MAP_FAILED) return 0;
    atomic_store(&guard->is_broken, 1);
    return 1;
}

static void handle(int number, siginfo_t *info, void *context) {
    int saved = errno;
    // Other causes, such as an alignment fault or a hardware error, do not concern files.
    if (info->si_code == BUS_ADRERR) {
        for (int i = 0; i < guard_count; i++) {
            if (atomic_load(&guards[i].is_taken) && replace(&guards[i], (uintptr_t)info->si_addr)) {
                errno = saved;
                return;
            }
        }
    }
    errno = saved;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        // The instruction is retried, and then ends the process as without this handler.
        signal(number, SIG_DFL);
    } else {
        previous.sa_handler(number);
    }
}

static void install(void) {
    page_byte_count = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    install_error = sigaction(SIGBUS, &action, &previous) == 0 ? 0 : errno;
}

int chunkwise_guard_install(void) {
    pthread_once(&once, install);
    return install_error;
}

int chunkwise_guard_open(void) {
    for (int i = 0; i < guard_count; i++) {
        int is_free = 0;
        if (atomic_compare_exchange_strong(&guards[i].is_taken, &is_free, 1)) return i;
    }
    return -1;
}

void chunkwise_guard_close(int guard) {
    chunkwise_guard_set(guard, NULL, 0);
    atomic_store(&guards[guard].is_taken, 0);
}

void chunkwise_guard_set(int guard, const void *start, size_t byte_count) {
    struct guard *changed = &guards[guard];
    atomic_fetch_add(&changed->version, 1);
    atomic_store(&changed->is_broken, 0);
    atomic_store(&changed->start, (uintptr_t)start);
    atomic_store(&changed->byte_count, byte_count);
    atomic_fetch_add(&changed->version, 1);
}

int chunkwise_guard_is_broken(int guard) {
    return atomic_load(&guards[guard].is_broken);
}

void chunkwise_guard_unblock(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

/// Memory-mapped files that may be truncated while they are read.
///
/// Touching a page of a mapping that has no file behind it any more raises SIGBUS, which ends the process. Here a
/// mapping is registered first; a handler then puts zeroes in the place of what is gone, notes that in the registration,
/// and lets the thread go on. Nothing is unwound, so that it does not matter whose code touched the page.

#ifndef CHUNKWISE_MAPPED_MEMORY_H
#define CHUNKWISE_MAPPED_MEMORY_H

#include <stddef.h>

/// Installs the handler, once for the process; signals that concern no registered mapping go to the handler before it.
///
/// Returns 0, or the `errno` of `sigaction`.
int chunkwise_guard_install(void);

/// Finds a free registration. Returns its number, or -1 if all are taken.
int chunkwise_guard_open(void);

/// Gives a registration back.
void chunkwise_guard_close(int guard);

/// Says which pages a registration is for, before they are touched first; a length of 0 for none.
void chunkwise_guard_set(int guard, const void *start, size_t byte_count);

/// Returns 1 if pages of the registration turned out to be gone since `chunkwise_guard_set`, else 0.
int chunkwise_guard_is_broken(int guard);

/// Lets SIGBUS through to the calling thread; blocked, it would end the process whatever the handler is.
void chunkwise_guard_unblock(void);

#endif

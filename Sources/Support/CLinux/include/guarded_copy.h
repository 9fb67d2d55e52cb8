/// Memory-mapped files that may be truncated while they are read.
///
/// Touching a page of a mapping beyond the end of its file raises SIGBUS, which ends the process. Here, the program
/// registers a mapping first. A handler then maps zeroes over the missing pages, records that in the registration, and
/// lets the thread continue. Nothing is unwound, so any code may touch the page.

#ifndef CHUNKWISE_MAPPED_MEMORY_H
#define CHUNKWISE_MAPPED_MEMORY_H

#include <stddef.h>

/// Installs the handler, once for the process; signals outside registered mappings go to the previous handler.
///
/// Returns 0, or the `errno` of `sigaction`.
int chunkwise_guard_install(void);

/// Reserves a registration. Returns its number, or -1 if all are in use.
int chunkwise_guard_open(void);

/// Releases a registration.
void chunkwise_guard_close(int guard);

/// Sets the pages of a registration before they are first touched; a length of 0 for no pages.
void chunkwise_guard_set(int guard, const void *start, size_t byte_count);

/// Returns 1 if a touched page of the registration was missing since `chunkwise_guard_set`, else 0.
int chunkwise_guard_is_broken(int guard);

/// Unblocks SIGBUS on the calling thread; a blocked SIGBUS would end the process despite the handler.
void chunkwise_guard_unblock(void);

#endif

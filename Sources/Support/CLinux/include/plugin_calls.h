/// Reports on standard error the plug-in call that ended the process, and the cause: a signal, or `exit`.

#ifndef CHUNKWISE_PLUGIN_CALLS_H
#define CHUNKWISE_PLUGIN_CALLS_H

#include <stddef.h>

/// A call of a plug-in on a thread, with the buffers that it may touch. Either may be absent.
typedef struct {
    /// The function's name, a constant; NULL outside of calls.
    const char *function;
    const void *input;
    size_t input_byte_count;
    void *output;
    size_t output_byte_count;
    /// A third buffer: an IV, counter or nonce.
    const void *start;
    size_t start_byte_count;
} chunkwise_plugin_call;

/// Installs the handlers, once, before a library is loaded.
void chunkwise_plugin_watch(void);

/// Records that a call begins on this thread. Returns the previous call, for `chunkwise_plugin_resume`.
chunkwise_plugin_call chunkwise_plugin_begin(chunkwise_plugin_call call);

/// Records that the call is over: `call` is the result of `chunkwise_plugin_begin`.
void chunkwise_plugin_resume(chunkwise_plugin_call call);

/// Calls `body` with the path of each loaded library.
void chunkwise_each_library(void (*body)(const char *path, void *context), void *context);

/// Calls `body` with the name of each library that a loaded one declares it needs; `handle` is the result of `dlopen`.
void chunkwise_each_need(void *handle, void (*body)(const char *name, void *context), void *context);

#endif

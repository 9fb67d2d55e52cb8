#define _GNU_SOURCE

#include "plugin_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local chunkwise_plugin_call current;

enum {
    alternate_stack_byte_count = 64 << 10,
    guard_byte_count = 64 << 10,
    start_guard_byte_count = 4096,
    line_byte_count = 256
};

static char alternate_stack[alternate_stack_byte_count];

/// Appends text as far as the line has space. Calls only async-signal-safe functions.
static size_t append(char *line, size_t count, const char *text) {
    while (*text != 0 && count < line_byte_count - 1) line[count++] = *text++;
    return count;
}

/// Writes a line with the call and the event.
static void report(const char *what) {
    char line[line_byte_count];
    size_t count = append(line, 0, "chunkwise-subject: the plug-in's ");
    count = append(line, count, current.function);
    count = append(line, count, what);
    line[count++] = '\n';
    (void)!write(STDERR_FILENO, line, count);
}

/// Describes a touched address in relation to the call's buffers.
static const char *place(const void *address) {
    uintptr_t touched = (uintptr_t)address;
    uintptr_t output = (uintptr_t)current.output, input = (uintptr_t)current.input;
    uintptr_t start = (uintptr_t)current.start, start_end = start + current.start_byte_count;
    uintptr_t output_end = output + current.output_byte_count, input_end = input + current.input_byte_count;
    // In place, they are one buffer; otherwise, one may lie right behind the other.
    if (input != 0 && input != output && touched >= input && touched < input_end) return " wrote to its input";
    // Its own guard is checked first, because others extend further.
    if (start != 0 && touched >= start_end && touched - start_end < start_guard_byte_count)
        return " touched memory behind the end of its IV, counter or nonce";
    if (output != 0 && touched >= output_end && touched - output_end < guard_byte_count)
        return " touched memory behind the end of its output buffer";
    if (output != 0 && touched < output && output - touched < guard_byte_count)
        return " touched memory before its output buffer";
    if (input != 0 && touched >= input_end && touched - input_end < guard_byte_count)
        return " touched memory behind the end of its input";
    return " touched memory that is not there";
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    if (current.function != NULL) {
        switch (number) {
        case SIGSEGV: report(place(info->si_addr)); break;
        case SIGILL: report(" reached a trap, or an instruction that this CPU does not have"); break;
        case SIGFPE: report(" divided by zero"); break;
        case SIGBUS: report(" touched memory behind the end of a file, or at an address that cannot be"); break;
        default: report(" called abort");
        }
    }
    // Restores the default action, which ends the process when the handler returns.
    signal(number, SIG_DFL);
    raise(number);
}

static void handle_exit(void) {
    if (current.function != NULL) report(" called exit");
}

void chunkwise_plugin_watch(void) {
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &action, NULL);
    atexit(handle_exit);
}

chunkwise_plugin_call chunkwise_plugin_begin(chunkwise_plugin_call call) {
    chunkwise_plugin_call before = current;
    current = call;
    return before;
}

void chunkwise_plugin_resume(chunkwise_plugin_call call) { current = call; }

struct library_list {
    void (*body)(const char *path, void *context);
    void *context;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct library_list *list = data;
    // The program itself has no name.
    if (info->dlpi_name != NULL && info->dlpi_name[0] != 0) list->body(info->dlpi_name, list->context);
    return 0;
}

void chunkwise_each_library(void (*body)(const char *path, void *context), void *context) {
    struct library_list list = {body, context};
    dl_iterate_phdr(visit, &list);
}

void chunkwise_each_need(void *handle, void (*body)(const char *name, void *context), void *context) {
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) return;
    const char *names = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB) names = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = map->l_ld; names != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED) body(names + entry->d_un.d_val, context);
}

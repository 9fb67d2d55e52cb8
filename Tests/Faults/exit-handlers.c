// Says on the standard error which library asks for what to be called when the program ends: "at exit: libcrypto.so.3".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
    static int (*real)(void (*)(void *), void *, void *);
    if (!real) real = dlsym(RTLD_NEXT, "__cxa_atexit");
    Dl_info owner;
    if (dladdr((void *)function, &owner) && owner.dli_fname) {
        const char *name = strrchr(owner.dli_fname, '/');
        dprintf(2, "at exit: %s\n", name ? name + 1 : owner.dli_fname);
    }
    return real(function, argument, library);
}

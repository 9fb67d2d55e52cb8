#ifndef CHUNKWISE_CGCRYPT_H
#define CHUNKWISE_CGCRYPT_H

#include <gcrypt.h>

/* `gcry_control` is variadic, which Swift cannot call. */
static inline gcry_error_t chunkwise_gcrypt_disable_secure_memory(void) {
    return gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
}

static inline gcry_error_t chunkwise_gcrypt_finish_initialization(void) {
    return gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

static inline int chunkwise_gcrypt_is_initialized(void) {
    return gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0;
}

/* Call it before the library is initialised. */
static inline gcry_error_t chunkwise_gcrypt_disable_hardware_feature(const char *name) {
    return gcry_control(GCRYCTL_DISABLE_HWF, name, NULL);
}

#endif

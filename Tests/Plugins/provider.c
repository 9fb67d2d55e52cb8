/* A provider of OpenSSL with AES-CBC decryption alone, over libcrypto's own AES. With -DFAULT each call of update begins
 * from the IV of init again, as if nothing had been decrypted before: what no single call shows.
 *
 *     cc -O2 -fPIC -shared provider.c -o injected.so -lcrypto
 *     OPENSSL_MODULES=$PWD chunkwise verify --backend openssl:provider=injected
 *
 * Source: provider-cipher(7), provider-base(7). */

#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/aes.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t key_byte_count;
  AES_KEY key;
  unsigned char iv[16], first_iv[16];
} context;

static void *make(size_t key_byte_count) {
  context *made = calloc(1, sizeof *made);
  if (made != NULL) made->key_byte_count = key_byte_count;
  return made;
}

static void release(void *pointer) { free(pointer); }

static int init(void *pointer, const unsigned char *key, size_t key_count, const unsigned char *iv, size_t iv_count,
                const OSSL_PARAM parameters[]) {
  context *own = pointer;
  (void)parameters;
  if (key != NULL && (key_count != own->key_byte_count || AES_set_decrypt_key(key, (int)key_count * 8, &own->key) != 0))
    return 0;
  if (iv != NULL) {
    if (iv_count != 16) return 0;
    memcpy(own->iv, iv, 16);
    memcpy(own->first_iv, iv, 16);
  }
  return 1;
}

static int update(void *pointer, unsigned char *out, size_t *written, size_t space, const unsigned char *in, size_t count) {
  context *own = pointer;
  if (count % 16 != 0 || space < count) return 0;
#ifdef FAULT
  memcpy(own->iv, own->first_iv, 16);
#endif
  AES_cbc_encrypt(in, out, count, &own->key, own->iv, AES_DECRYPT);
  *written = count;
  return 1;
}

static int final(void *pointer, unsigned char *out, size_t *written, size_t space) {
  (void)pointer, (void)out, (void)space;
  *written = 0;
  return 1;
}

static int set(OSSL_PARAM parameters[], const char *name, size_t value) {
  OSSL_PARAM *parameter = OSSL_PARAM_locate(parameters, name);
  return parameter == NULL || OSSL_PARAM_set_size_t(parameter, value);
}

static int describe(OSSL_PARAM parameters[], size_t key_byte_count) {
  OSSL_PARAM *mode = OSSL_PARAM_locate(parameters, OSSL_CIPHER_PARAM_MODE);
  return set(parameters, OSSL_CIPHER_PARAM_KEYLEN, key_byte_count) && set(parameters, OSSL_CIPHER_PARAM_IVLEN, 16) &&
         set(parameters, OSSL_CIPHER_PARAM_BLOCK_SIZE, 16) &&
         (mode == NULL || OSSL_PARAM_set_uint(mode, EVP_CIPH_CBC_MODE));
}

static int describe_context(void *pointer, OSSL_PARAM parameters[]) {
  return describe(parameters, ((context *)pointer)->key_byte_count);
}

/* Padding, which is off. */
static int take(void *pointer, const OSSL_PARAM parameters[]) {
  (void)pointer, (void)parameters;
  return 1;
}

#define LENGTH(bits)                                                                                                 \
  static void *make_##bits(void *provider) {                                                                         \
    (void)provider;                                                                                                  \
    return make(bits / 8);                                                                                           \
  }                                                                                                                  \
  static int describe_##bits(OSSL_PARAM parameters[]) { return describe(parameters, bits / 8); }                     \
  static const OSSL_DISPATCH functions_##bits[] = {                                                                  \
      {OSSL_FUNC_CIPHER_NEWCTX, (void (*)(void))make_##bits},                                                        \
      {OSSL_FUNC_CIPHER_FREECTX, (void (*)(void))release},                                                           \
      {OSSL_FUNC_CIPHER_DECRYPT_INIT, (void (*)(void))init},                                                         \
      {OSSL_FUNC_CIPHER_UPDATE, (void (*)(void))update},                                                             \
      {OSSL_FUNC_CIPHER_FINAL, (void (*)(void))final},                                                               \
      {OSSL_FUNC_CIPHER_GET_PARAMS, (void (*)(void))describe_##bits},                                                \
      {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, (void (*)(void))describe_context},                                           \
      {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, (void (*)(void))take},                                                       \
      {0, NULL}};

LENGTH(128)
LENGTH(192)
LENGTH(256)

static const OSSL_ALGORITHM *query(void *provider, int operation, int *may_not_cache) {
  static const OSSL_ALGORITHM ciphers[] = {{"AES-128-CBC", "provider=injected", functions_128, NULL},
                                           {"AES-192-CBC", "provider=injected", functions_192, NULL},
                                           {"AES-256-CBC", "provider=injected", functions_256, NULL},
                                           {NULL, NULL, NULL, NULL}};
  (void)provider;
  *may_not_cache = 0;
  return operation == OSSL_OP_CIPHER ? ciphers : NULL;
}

static int parameters(void *provider, OSSL_PARAM parameters[]) {
  OSSL_PARAM *version = OSSL_PARAM_locate(parameters, OSSL_PROV_PARAM_VERSION);
  (void)provider;
  return version == NULL || OSSL_PARAM_set_utf8_ptr(version, "7");
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                       void **provider) {
  static const OSSL_DISPATCH functions[] = {{OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
                                            {OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))parameters},
                                            {0, NULL}};
  (void)in;
  *out = functions;
  *provider = (void *)handle;
  return 1;
}

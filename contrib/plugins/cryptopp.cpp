// Crypto++ as a plug-in of level 1. Build it with contrib/plugins/build.
//
// A mode holds the key schedule and the IV, and each call writes to it. So each call makes its own on the stack, and what
// is kept is the key.

#include "chunkwise_plugin.h"

#include <cryptopp/aes.h>
#include <cryptopp/cryptlib.h>
#include <cryptopp/gcm.h>
#include <cryptopp/modes.h>
#include <cryptopp/secblock.h>
#include <string>

namespace {

using CryptoPP::AES;
using CryptoPP::byte;
using Key = CryptoPP::SecByteBlock;  // erases what it frees

// No exception leaves the library.
template <typename Body>
int guarded(Body body) {
  try {
    return body();
  } catch (...) {
    return CHUNKWISE_INTERNAL;
  }
}

int makeKey(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  return guarded([&] {
    *made = new Key(static_cast<const byte *>(key), count);
    return CHUNKWISE_OK;
  });
}

void freeKey(void *made) { delete static_cast<Key *>(made); }

int cbcDecrypt(void *made, uint8_t iv[16], const void *in, void *out, size_t blocks) {
  return guarded([&] {
    auto &key = *static_cast<const Key *>(made);
    CryptoPP::CBC_Mode<AES>::Decryption mode(key, key.size(), iv);
    mode.ProcessData(static_cast<byte *>(out), static_cast<const byte *>(in), blocks * 16);
    return CHUNKWISE_OK;
  });
}

int ctr(void *made, const uint8_t counter[16], const void *in, void *out, size_t bytes) {
  return guarded([&] {
    auto &key = *static_cast<const Key *>(made);
    CryptoPP::CTR_Mode<AES>::Decryption mode(key, key.size(), counter);
    mode.ProcessData(static_cast<byte *>(out), static_cast<const byte *>(in), bytes);
    return CHUNKWISE_OK;
  });
}

int gcmOpen(void *made, const uint8_t nonce[12], const void *in, void *out, size_t bytes) {
  return guarded([&] {
    auto &key = *static_cast<const Key *>(made);
    auto from = static_cast<const byte *>(in);
    CryptoPP::GCM<AES>::Decryption mode;
    mode.SetKeyWithIV(key, key.size(), nonce, 12);
    auto to = static_cast<byte *>(out);
    bool genuine = mode.DecryptAndVerify(to, from + bytes, 16, nonce, 12, nullptr, 0, from, bytes);
    return genuine ? CHUNKWISE_OK : CHUNKWISE_AUTHENTICATION_FAILED;
  });
}

}  // namespace

const chunkwise_plugin *chunkwise_plugin_v1(uint32_t harness_abi) {
  static chunkwise_plugin plugin{};
  static const int number = CryptoPP::LibraryVersion();  // 870 is 8.7.0
  static const std::string version =
      std::to_string(number / 100) + "." + std::to_string(number / 10 % 10) + "." + std::to_string(number % 10);
  plugin.abi = CHUNKWISE_ABI;
  plugin.size = sizeof plugin;
  plugin.name = "cryptopp";
  plugin.version = version.c_str();
  plugin.key = makeKey;
  plugin.cbc_decrypt = cbcDecrypt;
  plugin.ctr = ctr;
  plugin.key_free = freeKey;
  plugin.gcm_open = gcmOpen;
  return harness_abi == CHUNKWISE_ABI ? &plugin : nullptr;
}

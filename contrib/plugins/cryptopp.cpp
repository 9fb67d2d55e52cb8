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
struct Schedule {
  int cipher;
  CryptoPP::SecByteBlock key;  // erases what it frees
};

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
    *made = new Schedule{cipher, {static_cast<const byte *>(key), count}};
    return CHUNKWISE_OK;
  });
}

void freeKey(void *made) { delete static_cast<Schedule *>(made); }

int decrypt(void *made, const uint8_t *nonce, size_t nonceCount, const void *associatedData,
            size_t associatedDataCount, const void *in, void *out, size_t bytes) {
  return guarded([&] {
    auto &key = static_cast<const Schedule *>(made)->key;
    auto cipher = static_cast<const Schedule *>(made)->cipher;
    auto from = static_cast<const byte *>(in);
    auto to = static_cast<byte *>(out);
    if (cipher == CHUNKWISE_CBC) {
      CryptoPP::CBC_Mode<AES>::Decryption(key, key.size(), nonce).ProcessData(to, from, bytes);
    } else if (cipher == CHUNKWISE_CTR) {
      CryptoPP::CTR_Mode<AES>::Decryption(key, key.size(), nonce).ProcessData(to, from, bytes);
    } else {
      CryptoPP::GCM<AES>::Decryption mode;
      mode.SetKeyWithIV(key, key.size(), nonce, nonceCount);
      if (!mode.DecryptAndVerify(to, from + bytes, 16, nonce, static_cast<int>(nonceCount),
                                 static_cast<const byte *>(associatedData), associatedDataCount, from, bytes))
        return CHUNKWISE_AUTHENTICATION_FAILED;
    }
    return CHUNKWISE_OK;
  });
}

void nonces(int, size_t *min, size_t *max) {
  *min = 1;
  *max = 1 << 24;
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
  plugin.key_free = freeKey;
  plugin.decrypt = decrypt;
  plugin.nonces = nonces;
  return harness_abi == CHUNKWISE_ABI ? &plugin : nullptr;
}

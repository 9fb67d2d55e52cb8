// Botan 2 as a plug-in of level 1. Build it with contrib/plugins/build.
//
// A mode holds the key and the IV, and each call writes to it. So each call makes its own, and what is kept is the key.
// CBC and GCM work in place: the ciphertext is copied to where the plaintext is wanted.

#include "chunkwise_plugin.h"

#include <botan/aead.h>
#include <botan/cipher_mode.h>
#include <botan/exceptn.h>
#include <botan/stream_cipher.h>
#include <botan/version.h>
#include <cstring>
#include <string>

namespace {

struct Schedule {
  int mode;
  Botan::secure_vector<uint8_t> key;  // erases what it frees
  std::string cipher;                 // "AES-128"
};

// No exception leaves the library.
template <typename Body>
int guarded(Body body) {
  try {
    return body();
  } catch (const Botan::Invalid_Authentication_Tag &) {
    return CHUNKWISE_AUTHENTICATION_FAILED;
  } catch (...) {
    return CHUNKWISE_INTERNAL;
  }
}

int makeKey(int cipher, const void *key, size_t count, void **made) {
  if (count != 16 && count != 24 && count != 32) return CHUNKWISE_INVALID_KEY;
  if (cipher < CHUNKWISE_CBC || cipher > CHUNKWISE_GCM) return CHUNKWISE_UNSUPPORTED;
  return guarded([&] {
    auto bytes = static_cast<const uint8_t *>(key);
    *made = new Schedule{cipher, {bytes, bytes + count}, "AES-" + std::to_string(count * 8)};
    return CHUNKWISE_OK;
  });
}

void freeKey(void *made) { delete static_cast<Schedule *>(made); }

void cbc(const Schedule &schedule, const uint8_t *iv, const uint8_t *in, uint8_t *out, size_t bytes) {
  auto mode = Botan::Cipher_Mode::create_or_throw(schedule.cipher + "/CBC/NoPadding", Botan::DECRYPTION);
  mode->set_key(schedule.key);
  mode->start(iv, 16);
  if (in != out) std::memcpy(out, in, bytes);
  mode->process(out, bytes);
}

void ctr(const Schedule &schedule, const uint8_t *counter, const uint8_t *in, uint8_t *out, size_t bytes) {
  auto stream = Botan::StreamCipher::create_or_throw("CTR-BE(" + schedule.cipher + ")");
  stream->set_key(schedule.key);
  stream->set_iv(counter, 16);
  stream->cipher(in, out, bytes);
}

void gcm(const Schedule &schedule, const uint8_t *nonce, size_t nonceCount, const uint8_t *associatedData,
         size_t associatedDataCount, const uint8_t *in, uint8_t *out, size_t bytes) {
  auto mode = Botan::AEAD_Mode::create_or_throw(schedule.cipher + "/GCM", Botan::DECRYPTION);
  mode->set_key(schedule.key);
  mode->set_associated_data(associatedData, associatedDataCount);
  mode->start(nonce, nonceCount);
  size_t whole = bytes - bytes % mode->update_granularity();
  if (whole > 0) {
    std::memcpy(out, in, whole);
    mode->process(out, whole);
  }
  Botan::secure_vector<uint8_t> last(in + whole, in + bytes + 16);
  mode->finish(last);
  if (!last.empty()) std::memcpy(out + whole, last.data(), last.size());
}

int decrypt(void *made, const uint8_t *nonce, size_t nonceCount, const void *associatedData,
            size_t associatedDataCount, const void *in, void *out, size_t bytes) {
  return guarded([&] {
    auto &schedule = *static_cast<const Schedule *>(made);
    auto from = static_cast<const uint8_t *>(in);
    auto to = static_cast<uint8_t *>(out);
    if (schedule.mode == CHUNKWISE_CBC)
      cbc(schedule, nonce, from, to, bytes);
    else if (schedule.mode == CHUNKWISE_CTR)
      ctr(schedule, nonce, from, to, bytes);
    else
      gcm(schedule, nonce, nonceCount, static_cast<const uint8_t *>(associatedData), associatedDataCount, from, to,
          bytes);
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
  static const std::string version = Botan::short_version_string();
  plugin.abi = CHUNKWISE_ABI;
  plugin.size = sizeof plugin;
  plugin.name = "botan";
  plugin.version = version.c_str();
  plugin.key = makeKey;
  plugin.key_free = freeKey;
  plugin.decrypt = decrypt;
  plugin.nonces = nonces;
  return harness_abi == CHUNKWISE_ABI ? &plugin : nullptr;
}

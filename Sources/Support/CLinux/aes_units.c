#include "aes_units_internal.h"

#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

bool chunkwise_unit_is_present(chunkwise_unit unit) {
    switch (unit) {
#if defined(__x86_64__)
    case chunkwise_unit_aes_ni: return __builtin_cpu_supports("aes");
    case chunkwise_unit_vaes_avx2:
        return __builtin_cpu_supports("aes") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vaes");
    case chunkwise_unit_vaes_avx512:
        return __builtin_cpu_supports("aes") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vaes");
#elif defined(__aarch64__)
    /* HWCAP_AES of asm/hwcap.h. */
    case chunkwise_unit_arm: return (getauxval(AT_HWCAP) & (1UL << 3)) != 0;
#endif
    default: return false;
    }
}

#if defined(__x86_64__)
static const chunkwise_sub_word sub_word = chunkwise_x86_sub_word;
static const chunkwise_inverse_mix inverse_mix = chunkwise_x86_inverse_mix;
#elif defined(__aarch64__)
static const chunkwise_sub_word sub_word = chunkwise_arm_sub_word;
static const chunkwise_inverse_mix inverse_mix = chunkwise_arm_inverse_mix;
#else
/* Never called, since no unit is present. */
static uint32_t sub_word(uint32_t word) { return word; }
static void inverse_mix(uint8_t *round_key) { (void)round_key; }
#endif

/* The product with x in GF(2^8). Source: FIPS 197, section 4.2. */
static uint32_t times_x(uint32_t byte) { return (byte << 1 ^ (byte & 0x80 ? 0x11b : 0)) & 0xff; }

bool chunkwise_schedule_init(
    chunkwise_schedule *schedule, chunkwise_unit unit, const uint8_t *key, size_t key_byte_count) {
    if (!chunkwise_unit_is_present(unit)) return false;
    if (key_byte_count != 16 && key_byte_count != 24 && key_byte_count != 32) return false;
    unsigned key_words = (unsigned)key_byte_count / 4;
    unsigned rounds = key_words + 6;

    /* FIPS 197, section 5.2, with the first byte of a word in its low bits, as both CPU families load it. */
    uint32_t words[60];
    memcpy(words, key, key_byte_count);
    uint32_t constant = 1;
    for (unsigned index = key_words; index < 4 * (rounds + 1); index++) {
        uint32_t word = words[index - 1];
        if (index % key_words == 0) {
            word = sub_word(word >> 8 | word << 24) ^ constant;
            constant = times_x(constant);
        } else if (key_words > 6 && index % key_words == 4) {
            word = sub_word(word);
        }
        words[index] = words[index - key_words] ^ word;
    }

    schedule->round_count = rounds;
    for (unsigned round = 0; round <= rounds; round++) {
        memcpy(schedule->round_keys[round], words + 4 * (rounds - round), 16);
        if (round > 0 && round < rounds) inverse_mix(schedule->round_keys[round]);
    }
    return true;
}

void chunkwise_decrypt_blocks(
    const chunkwise_schedule *schedule, chunkwise_unit unit, const uint8_t *input, uint8_t *output,
    size_t block_count) {
    switch (unit) {
#if defined(__x86_64__)
    case chunkwise_unit_aes_ni: chunkwise_aes_ni_decrypt(schedule, input, output, block_count); break;
    case chunkwise_unit_vaes_avx2: chunkwise_vaes_avx2_decrypt(schedule, input, output, block_count); break;
    case chunkwise_unit_vaes_avx512: chunkwise_vaes_avx512_decrypt(schedule, input, output, block_count); break;
#elif defined(__aarch64__)
    case chunkwise_unit_arm: chunkwise_arm_decrypt(schedule, input, output, block_count); break;
#endif
    default: (void)schedule, (void)input, (void)output, (void)block_count;
    }
}

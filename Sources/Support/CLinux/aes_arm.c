#if defined(__aarch64__)

#include "aes_units_internal.h"

#include <arm_neon.h>

#if defined(__clang__)
#define WITH_AES __attribute__((target("aes")))
#else
#define WITH_AES __attribute__((target("+crypto")))
#endif

WITH_AES uint32_t chunkwise_arm_sub_word(uint32_t word) {
    /* Four equal columns: ShiftRows changes nothing. */
    uint8x16_t columns = vreinterpretq_u8_u32(vdupq_n_u32(word));
    return vgetq_lane_u32(vreinterpretq_u32_u8(vaeseq_u8(columns, vdupq_n_u8(0))), 0);
}

WITH_AES void chunkwise_arm_inverse_mix(uint8_t *round_key) {
    vst1q_u8(round_key, vaesimcq_u8(vld1q_u8(round_key)));
}

/* AESD adds its key before the substitution, x86 adds it after the mixing: the keys are the same, one step later. */
WITH_AES void chunkwise_arm_decrypt(
    const chunkwise_schedule *schedule, const uint8_t *input, uint8_t *output, size_t block_count) {
    enum { batch = 8 };
    unsigned last = schedule->round_count;
    size_t index = 0;
    for (; index + batch <= block_count; index += batch) {
        uint8x16_t blocks[batch];
#pragma GCC unroll 8
        for (int i = 0; i < batch; i++) blocks[i] = vld1q_u8(input + 16 * (index + i));
        for (unsigned round = 0; round + 1 < last; round++) {
            uint8x16_t key = vld1q_u8(schedule->round_keys[round]);
#pragma GCC unroll 8
            for (int i = 0; i < batch; i++) blocks[i] = vaesimcq_u8(vaesdq_u8(blocks[i], key));
        }
        uint8x16_t before = vld1q_u8(schedule->round_keys[last - 1]);
        uint8x16_t after = vld1q_u8(schedule->round_keys[last]);
#pragma GCC unroll 8
        for (int i = 0; i < batch; i++) {
            vst1q_u8(output + 16 * (index + i), veorq_u8(vaesdq_u8(blocks[i], before), after));
        }
    }
    for (; index < block_count; index++) {
        uint8x16_t block = vld1q_u8(input + 16 * index);
        for (unsigned round = 0; round + 1 < last; round++) {
            block = vaesimcq_u8(vaesdq_u8(block, vld1q_u8(schedule->round_keys[round])));
        }
        block = vaesdq_u8(block, vld1q_u8(schedule->round_keys[last - 1]));
        vst1q_u8(output + 16 * index, veorq_u8(block, vld1q_u8(schedule->round_keys[last])));
    }
}

#endif

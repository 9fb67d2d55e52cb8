#if defined(__x86_64__)

#include "aes_units_internal.h"

#include <immintrin.h>

/* Each instruction takes some cycles, and a new one starts every cycle or half, so many blocks are processed at once.
 * Whole registers of blocks are decrypted in batches, and the remaining blocks one by one. */

__attribute__((target("aes"))) uint32_t chunkwise_x86_sub_word(uint32_t word) {
    /* Four equal columns: ShiftRows changes nothing. */
    __m128i columns = _mm_set1_epi32((int)word);
    return (uint32_t)_mm_cvtsi128_si32(_mm_aesenclast_si128(columns, _mm_setzero_si128()));
}

__attribute__((target("aes"))) void chunkwise_x86_inverse_mix(uint8_t *round_key) {
    _mm_storeu_si128((__m128i *)round_key, _mm_aesimc_si128(_mm_loadu_si128((const __m128i *)round_key)));
}

__attribute__((target("aes"))) void chunkwise_aes_ni_decrypt(
    const chunkwise_schedule *schedule, const uint8_t *input, uint8_t *output, size_t block_count) {
    enum { batch = 8 };
    const __m128i *keys = (const __m128i *)schedule->round_keys;
    const __m128i *source = (const __m128i *)input;
    __m128i *target = (__m128i *)output;
    unsigned last = schedule->round_count;
    size_t index = 0;
    for (; index + batch <= block_count; index += batch) {
        __m128i blocks[batch];
        __m128i key = _mm_loadu_si128(keys);
#pragma GCC unroll 8
        for (int i = 0; i < batch; i++) blocks[i] = _mm_xor_si128(_mm_loadu_si128(source + index + i), key);
        for (unsigned round = 1; round < last; round++) {
            key = _mm_loadu_si128(keys + round);
#pragma GCC unroll 8
            for (int i = 0; i < batch; i++) blocks[i] = _mm_aesdec_si128(blocks[i], key);
        }
        key = _mm_loadu_si128(keys + last);
#pragma GCC unroll 8
        for (int i = 0; i < batch; i++) _mm_storeu_si128(target + index + i, _mm_aesdeclast_si128(blocks[i], key));
    }
    for (; index < block_count; index++) {
        __m128i block = _mm_xor_si128(_mm_loadu_si128(source + index), _mm_loadu_si128(keys));
        for (unsigned round = 1; round < last; round++) block = _mm_aesdec_si128(block, _mm_loadu_si128(keys + round));
        _mm_storeu_si128(target + index, _mm_aesdeclast_si128(block, _mm_loadu_si128(keys + last)));
    }
}

__attribute__((target("aes,avx2,vaes"))) void chunkwise_vaes_avx2_decrypt(
    const chunkwise_schedule *schedule, const uint8_t *input, uint8_t *output, size_t block_count) {
    enum { batch = 12, blocks_each = 2 };
    const __m128i *keys = (const __m128i *)schedule->round_keys;
    unsigned last = schedule->round_count;
    size_t done = 0;
    for (; done + batch * blocks_each <= block_count; done += batch * blocks_each) {
        const __m256i *source = (const __m256i *)(input + 16 * done);
        __m256i *target = (__m256i *)(output + 16 * done);
        __m256i blocks[batch];
        __m256i key = _mm256_broadcastsi128_si256(_mm_loadu_si128(keys));
#pragma GCC unroll 12
        for (int i = 0; i < batch; i++) blocks[i] = _mm256_xor_si256(_mm256_loadu_si256(source + i), key);
        for (unsigned round = 1; round < last; round++) {
            key = _mm256_broadcastsi128_si256(_mm_loadu_si128(keys + round));
#pragma GCC unroll 12
            for (int i = 0; i < batch; i++) blocks[i] = _mm256_aesdec_epi128(blocks[i], key);
        }
        key = _mm256_broadcastsi128_si256(_mm_loadu_si128(keys + last));
#pragma GCC unroll 12
        for (int i = 0; i < batch; i++) _mm256_storeu_si256(target + i, _mm256_aesdeclast_epi128(blocks[i], key));
    }
    chunkwise_aes_ni_decrypt(schedule, input + 16 * done, output + 16 * done, block_count - done);
}

__attribute__((target("aes,avx512f,vaes"))) void chunkwise_vaes_avx512_decrypt(
    const chunkwise_schedule *schedule, const uint8_t *input, uint8_t *output, size_t block_count) {
    enum { batch = 12, blocks_each = 4 };
    const __m128i *keys = (const __m128i *)schedule->round_keys;
    unsigned last = schedule->round_count;
    /* There are enough registers for all keys. */
    __m512i wide_keys[15];
#pragma GCC unroll 15
    for (unsigned round = 0; round < 15; round++) {
        wide_keys[round] = _mm512_broadcast_i32x4(_mm_loadu_si128(keys + (round <= last ? round : last)));
    }
    size_t done = 0;
    for (; done + batch * blocks_each <= block_count; done += batch * blocks_each) {
        const uint8_t *source = input + 16 * done;
        uint8_t *target = output + 16 * done;
        __m512i blocks[batch];
#pragma GCC unroll 12
        for (int i = 0; i < batch; i++) {
            blocks[i] = _mm512_xor_si512(_mm512_loadu_si512(source + 64 * i), wide_keys[0]);
        }
#pragma GCC unroll 13
        for (unsigned round = 1; round < 14; round++) {
            if (round >= last) break;
#pragma GCC unroll 12
            for (int i = 0; i < batch; i++) blocks[i] = _mm512_aesdec_epi128(blocks[i], wide_keys[round]);
        }
#pragma GCC unroll 12
        for (int i = 0; i < batch; i++) {
            /* Every entry from the last round on is the last round's key. */
            _mm512_storeu_si512(target + 64 * i, _mm512_aesdeclast_epi128(blocks[i], wide_keys[14]));
        }
    }
    chunkwise_aes_ni_decrypt(schedule, input + 16 * done, output + 16 * done, block_count - done);
}

#endif

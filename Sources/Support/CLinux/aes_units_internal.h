#ifndef CHUNKWISE_UNITS_H
#define CHUNKWISE_UNITS_H

#include "aes_units.h"

/* The functions of each CPU family for aes_units.c. */

/* Applies SubBytes to the four bytes of a word. */
typedef uint32_t (*chunkwise_sub_word)(uint32_t word);

/* Applies InvMixColumns to a round key, in place. */
typedef void (*chunkwise_inverse_mix)(uint8_t *round_key);

#if defined(__x86_64__)
uint32_t chunkwise_x86_sub_word(uint32_t word);
void chunkwise_x86_inverse_mix(uint8_t *round_key);
void chunkwise_aes_ni_decrypt(const chunkwise_schedule *, const uint8_t *, uint8_t *, size_t);
void chunkwise_vaes_avx2_decrypt(const chunkwise_schedule *, const uint8_t *, uint8_t *, size_t);
void chunkwise_vaes_avx512_decrypt(const chunkwise_schedule *, const uint8_t *, uint8_t *, size_t);
#elif defined(__aarch64__)
uint32_t chunkwise_arm_sub_word(uint32_t word);
void chunkwise_arm_inverse_mix(uint8_t *round_key);
void chunkwise_arm_decrypt(const chunkwise_schedule *, const uint8_t *, uint8_t *, size_t);
#endif

#endif

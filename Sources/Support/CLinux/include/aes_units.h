#ifndef CHUNKWISE_CMACHINELIMITS_H
#define CHUNKWISE_CMACHINELIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* AES decryption of independent blocks with the CPU's own instructions: the upper limit for every cipher mode.
 * It is for measurements only, never for real data. */

/* The kinds of instructions, narrowest registers first. */
typedef enum {
    chunkwise_unit_none = 0,
    chunkwise_unit_aes_ni = 1,
    chunkwise_unit_vaes_avx2 = 2,
    chunkwise_unit_vaes_avx512 = 3,
    chunkwise_unit_arm = 4,
} chunkwise_unit;

/* The round keys of the equivalent inverse cipher in the order of use. Source: FIPS 197, section 5.3.5. */
typedef struct {
    uint8_t round_keys[15][16];
    unsigned round_count;
} chunkwise_schedule;

/* Returns whether both this CPU and the kernel support the instructions. */
bool chunkwise_unit_is_present(chunkwise_unit unit);

/* Makes the schedule for a key of 16, 24 or 32 bytes. Returns false for other lengths and absent units. */
bool chunkwise_schedule_init(
    chunkwise_schedule *schedule, chunkwise_unit unit, const uint8_t *key, size_t key_byte_count);

/* Decrypts blocks of 16 bytes, each on its own, with a unit that is present. `input` and `output` hold `block_count`
 * blocks each, at any alignment; they are the same or do not overlap. */
void chunkwise_decrypt_blocks(
    const chunkwise_schedule *schedule, chunkwise_unit unit, const uint8_t *input, uint8_t *output,
    size_t block_count);

#endif

#ifndef CHUNKWISE_VECTOR_LEVELS_H
#define CHUNKWISE_VECTOR_LEVELS_H

/* A function written in Swift, compiled once more for each level of vector instructions.
 *
 * C has an attribute for the instructions that a function may use, Swift has none. What a header defines is compiled
 * together with the Swift file that calls it, and `flatten` copies the Swift function into each of these: the work is
 * Swift's, the attribute C's. In a build without optimization they only call it. */

/* The levels, narrowest first. */
typedef enum {
    chunkwise_vectors_portable = 0,
    chunkwise_vectors_avx2 = 1,
    chunkwise_vectors_avx512 = 2,
} chunkwise_vectors;

/* The highest level that this CPU, and the kernel under it, have. */
chunkwise_vectors chunkwise_vectors_present(void);

/* Does the work of a `BatchTask`: `BitslicedBatch.swift` has it. */
void chunkwise_process_batch(const void *_Nonnull task);

#if defined(__x86_64__)
#define CHUNKWISE_COMPILED_FOR(features) __attribute__((target(features), flatten)) static inline
#else
#define CHUNKWISE_COMPILED_FOR(features) static inline
#endif

CHUNKWISE_COMPILED_FOR("avx2")
void chunkwise_process_batch_avx2(const void *_Nonnull task) { chunkwise_process_batch(task); }

/* On vectors of 256 bits, too: of these, AVX-512 has twice as many registers, and gates of three inputs. */
CHUNKWISE_COMPILED_FOR("avx512vl")
void chunkwise_process_batch_avx512(const void *_Nonnull task) { chunkwise_process_batch(task); }

#endif

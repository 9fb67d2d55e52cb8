#ifndef CHUNKWISE_VECTOR_LEVELS_H
#define CHUNKWISE_VECTOR_LEVELS_H

/* A function written in Swift, compiled once more for each level of vector instructions.
 *
 * C has an attribute for the instructions that a function may use, and Swift does not. The functions of a header are
 * compiled together with the Swift file that calls them, and `flatten` inlines the Swift function into each of them:
 * the code is Swift's, the attribute C's. In a build without optimization they only call it. */

/* The levels, narrowest first. */
typedef enum {
    chunkwise_vectors_portable = 0,
    chunkwise_vectors_avx2 = 1,
    chunkwise_vectors_avx512 = 2,
} chunkwise_vectors;

/* Returns the highest level that both this CPU and the kernel support. */
chunkwise_vectors chunkwise_vectors_present(void);

/* Runs a `BatchTask`; `BatchTask.swift` implements it. */
void chunkwise_process_batch(const void *_Nonnull task);

#if defined(__x86_64__)
#define CHUNKWISE_COMPILED_FOR(features) __attribute__((target(features), flatten)) static inline
#else
#define CHUNKWISE_COMPILED_FOR(features) static inline
#endif

CHUNKWISE_COMPILED_FOR("avx2")
void chunkwise_process_batch_avx2(const void *_Nonnull task) { chunkwise_process_batch(task); }

/* Also on vectors of 256 bits, for which AVX-512 has twice as many registers, and gates with three inputs. */
CHUNKWISE_COMPILED_FOR("avx512vl")
void chunkwise_process_batch_avx512(const void *_Nonnull task) { chunkwise_process_batch(task); }

#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The binary logarithm of the ratio of two lengths, both above 0. The corresponding C function is `log2`.
func logarithm(_ byteCount: UInt64, over other: UInt64) -> Double {
    log2(Double(max(1, byteCount)) / Double(max(1, other)))
}

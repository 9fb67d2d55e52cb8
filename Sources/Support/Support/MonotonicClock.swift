import Glibc

/// Returns nanoseconds on a clock that cannot be set. The corresponding C function is `clock_gettime` with
/// `CLOCK_MONOTONIC`.
package func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

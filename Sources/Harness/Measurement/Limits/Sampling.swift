import Glibc
import Results
internal import Support

/// Threads, and how long and how often they are timed.
struct Sampling {
    let team: ThreadTeam
    let sampleNanoseconds: UInt64
    let sampleCount: Int

    /// Times work that all threads do side by side.
    ///
    /// Each sample repeats the work as often as it takes to last long enough; the first runs only find out how often.
    ///
    /// - Parameters:
    ///   - byteCount: What goes through in one round over all threads.
    ///   - round: One round of the thread with that index.
    /// - Returns: The samples, in the order in which they were taken.
    func rate(byteCount: Int, round: @escaping (Int) -> Void) -> Rate {
        var repeats = 1
        // The first run is the warm-up.
        _ = time(repeats, round)
        while true {
            let nanoseconds = max(1, time(repeats, round))
            if nanoseconds >= sampleNanoseconds || repeats >= 1 << 30 { break }
            let factor = Double(sampleNanoseconds) / Double(nanoseconds) * 1.1
            repeats = Int(Double(repeats) * min(max(factor, 1.2), 16)) + 1
        }
        let samples = (0..<max(1, sampleCount)).map { _ in time(repeats, round) }
        return Rate(byteCount: UInt64(byteCount) * UInt64(repeats), nanoseconds: samples)
    }

    private func time(_ repeats: Int, _ round: @escaping (Int) -> Void) -> UInt64 {
        let start = now()
        team.run { index in
            for _ in 0..<repeats { round(index) }
        }
        return now() - start
    }

    /// The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
    private func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

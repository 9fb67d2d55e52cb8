/// Durations and rates as people write them: `20ms`, `2s`, `100MB/s`.
package enum TimeText {
    /// Reads a duration: a whole number of at most six digits and `us`, `ms` or `s`.
    ///
    /// - Returns: Nanoseconds, or `nil` for anything else.
    package static func nanoseconds(_ text: String) -> UInt64? {
        for (unit, factor) in [("ms", UInt64(1_000_000)), ("us", 1000), ("s", 1_000_000_000)]
        where text.hasSuffix(unit) {
            let digits = text.dropLast(unit.count)
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let value = UInt64(digits), value < 1_000_000 else {
                return nil
            }
            return value * factor
        }
        return nil
    }

    /// The longest latency of a simulated store, in nanoseconds.
    package static let longestLatency: UInt64 = 60_000_000_000

    /// What a latency may be, in words.
    package static let latencyExpectation = "a duration such as 500us, 20ms or 1s, at most 60s"

    /// What a bandwidth may be, in words.
    package static let bandwidthExpectation = "bytes per second such as 100MB/s or 1GiB/s"

    /// What a bit rate may be, in words.
    package static let bitRateExpectation = "bits per second such as 800kbit/s or 8Mbit/s"

    /// Reads a bit rate: a whole number of at most six digits and `bit/s`, `kbit/s`, `Mbit/s` or `Gbit/s`.
    ///
    /// - Returns: Bits per second, more than 0, or `nil` for anything else.
    package static func bitsPerSecond(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors: [Substring: UInt64] = [
            "bit/s": 1, "kbit/s": 1000, "Mbit/s": 1_000_000, "Gbit/s": 1_000_000_000,
        ]
        guard digits.count <= 6, let value = UInt64(digits), value > 0,
            let factor = factors[text.dropFirst(digits.count)]
        else { return nil }
        return value * factor
    }

    /// Reads a rate: a size, and `/s`.
    ///
    /// - Returns: Bytes per second, more than 0, or `nil` for anything else.
    package static func bytesPerSecond(_ text: String) -> UInt64? {
        guard text.hasSuffix("/s"), let size = ByteSize(String(text.dropLast(2))), size.byteCount > 0 else {
            return nil
        }
        return size.byteCount
    }
}

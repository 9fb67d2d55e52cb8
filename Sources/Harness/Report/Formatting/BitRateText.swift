import Results

/// Bit rates and what happens at them, as text.
enum BitRateText {
    /// A rate with decimal prefixes, as bit rates have, such as `8 Mbit/s`.
    static func text(_ bitsPerSecond: UInt64) -> String {
        for (factor, unit) in [(UInt64(1_000_000_000), "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s")]
        where bitsPerSecond >= factor && bitsPerSecond % factor == 0 {
            return "\(bitsPerSecond / factor) \(unit)"
        }
        return "\(bitsPerSecond) bit/s"
    }

    /// How often and how long a film stood still.
    static func stalls(_ playback: LatencyRecord.Playback) -> String {
        guard playback.stallCount > 0 else { return "no stall" }
        return RatioText.count(playback.stallCount, "stall") + " of "
            + DurationText.text(nanoseconds: playback.stallNanoseconds) + " together"
    }
}

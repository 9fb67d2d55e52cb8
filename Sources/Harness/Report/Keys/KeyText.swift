import Results

/// Words for figures about keys.
enum KeyText {
    /// Where keys came from.
    static func name(_ way: KeyWaitsRecord.Way) -> String {
        switch way {
        case .local: "key files"
        case .preloaded: "preloaded"
        case .batched: "in one batch"
        case .onDemand: "on demand"
        }
    }

    /// When clients asked.
    static func name(_ way: KeyLoadRecord.Way) -> String {
        switch way {
        case .onDemand: "on demand"
        case .preloaded: "preloaded"
        case .dispersed: "dispersed"
        }
    }

    /// A way has the same look in all pictures.
    static func style(_ way: KeyWaitsRecord.Way) -> SeriesStyle {
        switch way {
        case .local: SeriesStyle(0)
        case .preloaded: SeriesStyle(1)
        case .batched: SeriesStyle(2)
        case .onDemand: SeriesStyle(3)
        }
    }

    /// A way has the same look in all pictures.
    static func style(_ way: KeyLoadRecord.Way) -> SeriesStyle {
        switch way {
        case .preloaded: SeriesStyle(1)
        case .onDemand: SeriesStyle(3)
        case .dispersed: SeriesStyle(0)
        }
    }

    /// How late a key was: `in time`, `50.0 ms`, or `no key`.
    static func lateness(_ nanoseconds: UInt64?) -> String {
        guard let nanoseconds else { return "no key" }
        return nanoseconds == 0 ? "in time" : DurationText.text(nanoseconds: nanoseconds)
    }

    /// A median of durations.
    static func duration(_ nanoseconds: Double) -> String {
        DurationText.text(nanoseconds: UInt64(min(max(nanoseconds, 0), 1e18).rounded()))
    }

    /// A server by how long it holds an answer back.
    static func server(_ delayMilliseconds: UInt64) -> String {
        "key server of \(SignificantDigits.grouped(delayMilliseconds)) ms"
    }

    /// How many clients, with the noun.
    static func clients(_ count: UInt64) -> String {
        "\(SignificantDigits.grouped(count)) \(count == 1 ? "client" : "clients")"
    }
}

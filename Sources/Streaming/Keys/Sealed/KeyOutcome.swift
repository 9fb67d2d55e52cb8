#if Network
package import RandomAccess

/// What a server says about one identifier.
package enum KeyOutcome: Sendable {
    /// The key, and how long it may be used.
    case key(SecretKey, KeyTerms)
    /// There is no such key.
    case missing
    /// There is one, and not for this client.
    case refused
    /// It may be asked for again after a time.
    case later(Duration)

    /// The outcome's name, as audit lines have it.
    package var name: String {
        switch self {
        case .key: "key"
        case .missing: "missing"
        case .refused: "refused"
        case .later: "later"
        }
    }

    /// The outcome's number and its two times.
    var fields: (code: UInt8, first: UInt64, second: UInt64) {
        switch self {
        case .key(_, .online(let validity)): (0, WireTime.milliseconds(validity), 0)
        case .key(_, .persistable(let storage, let playback)):
            (1, WireTime.milliseconds(storage), WireTime.milliseconds(playback))
        case .missing: (2, 0, 0)
        case .refused: (3, 0, 0)
        case .later(let time): (4, WireTime.milliseconds(time), 0)
        }
    }
}

/// Times as messages have them: whole milliseconds, and all ones where there is no limit.
enum WireTime {
    private static let noLimit = UInt64.max

    /// A time in milliseconds.
    static func milliseconds(_ time: Duration?) -> UInt64 {
        time.map { min(KeyTiming.nanoseconds($0) / 1_000_000, noLimit - 1) } ?? noLimit
    }

    /// The time that a number means; `nil` where there is no limit.
    static func duration(_ milliseconds: UInt64) -> Duration? {
        milliseconds == noLimit ? nil : .milliseconds(Int64(clamping: milliseconds))
    }
}
#endif

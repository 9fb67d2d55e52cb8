/// A number of bytes in the notation of users: `4096`, `64KiB`, `16MB`, `100MiB`, `1.5GiB`.
package struct ByteSize: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes.
    package let byteCount: UInt64

    /// A size of a number of bytes.
    package init(_ byteCount: UInt64) {
        self.byteCount = byteCount
    }

    /// Parses a size: digits, optionally with a decimal fraction that results in whole bytes, and a unit.
    ///
    /// `kB`, `MB`, `GB`, `TB` are powers of 1000; `KiB`, `MiB`, `GiB`, `TiB` powers of 1024; `B` or no unit means
    /// bytes.
    /// Source: IEC 80000-13. Case does not matter, and a space may stand before the unit.
    ///
    /// - Returns: `nil` for anything else, and for sizes of 2⁶² bytes and more.
    package init?(_ text: String) {
        let digits = text.prefix(while: Decimal.isDigit)
        let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard let factor = Self.factors[unit], let byteCount = Decimal.product(digits, factor), byteCount < 1 << 62
        else { return nil }
        self.byteCount = byteCount
    }

    /// The size in the largest unit in which it is a whole number: `64KiB`, `16MB`, `100MiB`.
    ///
    /// It uses decimal units only for at least a million bytes, and if no binary unit gives a whole number.
    package var description: String {
        for (name, factor) in Self.units where byteCount >= factor && byteCount % factor == 0 {
            return "\(byteCount / factor)\(name)"
        }
        return "\(byteCount)B"
    }

    private static let units: [(String, UInt64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("GB", 1_000_000_000), ("MB", 1_000_000),
        ("KiB", 1 << 10),
    ]

    private static let factors: [String: UInt64] = [
        "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
        "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    ]
}

/// Decimal numbers in front of a unit.
private enum Decimal {
    /// Returns whether a character belongs to a number.
    static func isDigit(_ character: Character) -> Bool {
        character.isASCII && (character.isNumber || character == ".")
    }

    /// Returns a number times a factor. The number has digits, optionally with at most nine behind a point.
    ///
    /// - Returns: `nil` for any other text, for a product that is not whole, and for one that is too large.
    static func product(_ digits: Substring, _ factor: UInt64) -> UInt64? {
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, digits.allSatisfy(isDigit), let whole = UInt64(parts[0]) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return product }
        guard (1...9).contains(parts[1].count), let numerator = UInt64(parts[1]) else { return nil }
        let denominator = (0..<parts[1].count).reduce(UInt64(1)) { power, _ in power * 10 }
        let (scaled, fractionOverflow) = numerator.multipliedReportingOverflow(by: factor)
        guard !fractionOverflow, scaled % denominator == 0 else { return nil }
        let (sum, sumOverflow) = product.addingReportingOverflow(scaled / denominator)
        return sumOverflow ? nil : sum
    }
}

/// Durations and rates in the notation of users: `20ms`, `2.5s`, `100MB/s`.
package enum TimeText {
    /// A unit of durations.
    package enum Unit: String, CaseIterable, Sendable {
        case nanoseconds = "ns"
        case microseconds = "us"
        case milliseconds = "ms"
        case seconds = "s"
        case minutes = "m"
        case hours = "h"
        case days = "d"

        /// The length of the unit in nanoseconds.
        package var nanoseconds: UInt64 {
            switch self {
            case .nanoseconds: 1
            case .microseconds: 1000
            case .milliseconds: 1_000_000
            case .seconds: 1_000_000_000
            case .minutes: 60_000_000_000
            case .hours: 3_600_000_000_000
            case .days: 86_400_000_000_000
            }
        }
    }

    /// Parses a duration: a number, optionally with a decimal fraction that results in whole nanoseconds, and a unit.
    ///
    /// - Parameters:
    ///   - text: `500us`, `20ms`, `2.5s`, `10m`, `1h`, `30d`; `µs` is `us`.
    ///   - unit: The unit of a number without one; `nil` to require a unit.
    /// - Returns: Nanoseconds; `nil` for any other text, and for more than 500 years.
    package static func nanoseconds(_ text: String, in unit: Unit? = nil) -> UInt64? {
        let digits = text.prefix(while: Decimal.isDigit)
        let name = text.dropFirst(digits.count)
        let written = name == "µs" ? Unit.microseconds : Unit(rawValue: String(name))
        guard let unit = name.isEmpty ? unit : written else { return nil }
        return Decimal.product(digits, unit.nanoseconds)
    }

    /// Returns a duration in the largest unit up to seconds in which it is a whole number: `20ms`, `1500us`, `0s`.
    package static func text(nanoseconds: UInt64) -> String {
        let units: [Unit] = [.seconds, .milliseconds, .microseconds]
        let unit = units.first { nanoseconds.isMultiple(of: $0.nanoseconds) } ?? .nanoseconds
        return "\(nanoseconds / unit.nanoseconds)\(unit.rawValue)"
    }

    /// Returns a duration, which must not be negative, to the nearest nanosecond.
    package static func text(_ duration: Duration) -> String {
        text(nanoseconds: UInt64(nearest: duration / .nanoseconds(1)))
    }

    /// The expected notation of a duration, in words.
    package static let expectation = "a duration such as 500ms, 10s, 2m or 1h"

    /// The max latency of a simulated store, in nanoseconds.
    package static let longestLatency: UInt64 = 60_000_000_000

    /// The expected notation of a latency, in words.
    package static let latencyExpectation = "a duration such as 500us, 20ms or 1s, at most 60s"

    /// The expected notation of a bandwidth, in words.
    package static let bandwidthExpectation = "bytes per second such as 100MB/s or 1GiB/s"

    /// The expected notation of a bit rate, in words.
    package static let bitRateExpectation = "bits per second such as 800kbit/s or 8Mbit/s"

    /// Parses a bit rate: a whole number of at most six digits and `bit/s`, `kbit/s`, `Mbit/s` or `Gbit/s`.
    ///
    /// - Returns: Bits per second, more than 0; `nil` for any other text.
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

    /// Parses a rate: a size, and `/s`.
    ///
    /// - Returns: Bytes per second, more than 0; `nil` for any other text.
    package static func bytesPerSecond(_ text: String) -> UInt64? {
        guard text.hasSuffix("/s"), let size = ByteSize(String(text.dropLast(2))), size.byteCount > 0 else {
            return nil
        }
        return size.byteCount
    }
}

extension UInt64 {
    /// The nearest whole number to a figure, from 0 to 2⁶³; 0 for NaN.
    ///
    /// Bounds of intervals may exceed all measured values, and files may contain any number.
    package init(nearest figure: Double) {
        self = figure > 0 ? UInt64(Swift.min(figure, 0x1p63).rounded()) : 0
    }
}

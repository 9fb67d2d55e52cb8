import Results
import Statistics
import Support

/// Numbers for people: three significant digits, the same in every locale.
enum SignificantDigits {
    /// Returns a value of at least 0 with three significant digits, or as a grouped integer from 100 on.
    static func text(_ value: Double) -> String {
        guard value.isFinite, value < 1e18 else { return "–" }
        if value == 0 { return "0" }
        if value < 0.001 { return "<0.001" }
        for (limit, places) in [(0.009995, 5), (0.09995, 4), (0.9995, 3), (9.995, 2), (99.95, 1)] where value < limit {
            return fixed(value, places: places)
        }
        return grouped(UInt64(value.rounded()))
    }

    /// Returns a value of at least 0 with the given number of digits after the point.
    static func fixed(_ value: Double, places: Int) -> String {
        guard places > 0 else { return String(UInt64(value.rounded())) }
        let scale = (0..<places).reduce(UInt64(1)) { power, _ in power * 10 }
        let scaled = UInt64((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }

    /// Returns an integer with a comma between groups of three digits.
    static func grouped(_ value: UInt64) -> String {
        var rest = value
        var groups: [String] = []
        while rest >= 1000 {
            let group = String(rest % 1000)
            groups.append(String(repeating: "0", count: 3 - group.count) + group)
            rest /= 1000
        }
        groups.append(String(rest))
        return groups.reversed().joined(separator: ",")
    }
}

/// Byte counts and rates as text: in binary units, and in decimal ones for round decimal sizes.
package enum ByteCountText {
    private static let binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    private static let decimalUnits = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// Returns a chosen size: `4 KiB`, `100 MiB`, and `16 MB` for 16,000,000.
    ///
    /// A size that is round in neither kind of unit is rounded to three digits.
    package static func size(_ byteCount: UInt64) -> String {
        exact(byteCount, base: 1024, units: binaryUnits)
            ?? exact(byteCount, base: 1000, units: decimalUnits)
            ?? measured(byteCount)
    }

    /// Returns a size that must not be confused with a similar one: `16 GiB`, `15.6 GiB (16,777,216,001 B)`.
    static func exact(_ byteCount: UInt64) -> String {
        exact(byteCount, base: 1024, units: binaryUnits)
            ?? "\(measured(byteCount)) (\(SignificantDigits.grouped(byteCount)) B)"
    }

    /// Returns a size that was measured, with three digits and a binary unit: `101 MiB`, `3.81 MiB`, `0 B`.
    package static func measured(_ byteCount: UInt64) -> String {
        var value = Double(byteCount)
        var unit = 0
        while value >= 1023.5, unit + 1 < binaryUnits.count {
            value /= 1024
            unit += 1
        }
        let number = unit == 0 ? String(byteCount) : SignificantDigits.text(value)
        return "\(number) \(binaryUnits[unit])"
    }

    /// Returns the growth of memory. The kernel keeps its counters per CPU, so growth below 256 KiB is not told apart.
    package static func growth(_ byteCount: UInt64) -> String {
        byteCount < 256 << 10 ? "< 256 KiB" : measured(byteCount)
    }

    /// Returns a rate: `5.21 GiB/s`, `38.4 MiB/s`.
    package static func rate(_ bytesPerSecond: UInt64) -> String {
        measured(bytesPerSecond) + "/s"
    }

    /// Returns an interval of rates with its unit once, `14.9–15.3 GiB/s`, or twice if the units of the ends differ.
    package static func rateRange(_ low: UInt64, _ high: UInt64) -> String {
        let (lowText, highText) = (measured(low), measured(high))
        let lowParts = lowText.split(separator: " ")
        if let number = lowParts.first, let unit = lowParts.last, highText.hasSuffix(" \(unit)") {
            return "\(number)–\(highText)/s"
        }
        return "\(lowText)/s–\(highText)/s"
    }

    private static func exact(_ byteCount: UInt64, base: UInt64, units: [String]) -> String? {
        var coefficient = byteCount
        for unit in units {
            if coefficient < base { return "\(coefficient) \(unit)" }
            guard coefficient.isMultiple(of: base) else { return nil }
            coefficient /= base
        }
        return nil
    }
}

extension LogInterval {
    /// Returns the interval as text. An upper end beyond 2⁶³, possible for figures from a file, is shown as ∞.
    func text(_ name: (UInt64) -> String) -> String {
        "\(name(UInt64(nearest: low)))–" + (high < 0x1p63 ? name(UInt64(nearest: high)) : "∞")
    }
}

/// Ratios and shares as text.
package enum RatioText {
    /// Returns a ratio with a multiplication sign: `1.00×`, `3,906×`.
    package static func times(_ ratio: Double) -> String {
        SignificantDigits.text(ratio) + "×"
    }

    /// Returns a power of ten as a ratio: 2 is `100×`; `nil` below 1 and beyond 10¹⁸.
    static func decade(power: Int) -> String? {
        guard (0..<19).contains(power) else { return nil }
        return SignificantDigits.grouped(UInt64(LogScale.power(power, base: 10))) + "×"
    }

    /// Returns a share of one in percent: `1.2 %`, `12 %`.
    package static func percent(_ share: Double) -> String {
        let percent = share * 100
        guard percent.isFinite, percent >= 0, percent < 1e6 else { return "–" }
        return SignificantDigits.fixed(percent, places: percent < 9.95 ? 1 : 0) + " %"
    }

    /// Returns a count with the noun in singular or plural.
    package static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(SignificantDigits.grouped(UInt64(max(number, 0)))) \(number == 1 ? singular : plural ?? singular + "s")"
    }
}

/// Durations as text, with three significant digits and a suitable unit.
package enum DurationText {
    /// Returns a duration: `850 ns`, `12.3 µs`, `4.10 ms`, `1.23 s`.
    package static func text(nanoseconds: UInt64) -> String {
        var value = Double(nanoseconds)
        for unit in ["ns", "µs", "ms"] {
            if value < 999.5 {
                return (unit == "ns" ? String(nanoseconds) : SignificantDigits.text(value)) + " \(unit)"
            }
            value /= 1000
        }
        return SignificantDigits.text(value) + " s"
    }

    /// Returns a power of ten nanoseconds with its unit: 4 is `10 µs`; `nil` below a nanosecond or beyond 10⁹ seconds.
    static func decade(nanosecondPower power: Int) -> String? {
        guard (0..<19).contains(power) else { return nil }
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(power / 3, units.count - 1)
        return "\(SignificantDigits.grouped(UInt64(LogScale.power(power - unit * 3, base: 10)))) \(units[unit])"
    }
}

/// Bit rates, and the stalls of a film, as text.
enum BitRateText {
    /// Returns a rate with decimal prefixes, as is usual for bit rates, such as `8 Mbit/s`.
    static func text(_ bitsPerSecond: UInt64) -> String {
        for (factor, unit) in [(UInt64(1_000_000_000), "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s")]
        where bitsPerSecond >= factor && bitsPerSecond % factor == 0 {
            return "\(bitsPerSecond / factor) \(unit)"
        }
        return "\(bitsPerSecond) bit/s"
    }

    /// Returns the number and total duration of a film's stalls.
    static func stalls(_ playback: LatencyRecord.Playback) -> String {
        guard playback.stallCount > 0 else { return "no stall" }
        return RatioText.count(playback.stallCount, "stall") + " of "
            + DurationText.text(nanoseconds: playback.stallNanoseconds) + " together"
    }
}

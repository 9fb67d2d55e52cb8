/// Byte counts and rates in the units of this project: binary ones, and decimal ones where a size is a round decimal.
package enum ByteCountText {
    private static let binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    private static let decimalUnits = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// Returns a size that somebody chose: `4 KiB`, `100 MiB`, and `16 MB` for 16,000,000.
    ///
    /// A size that is round in neither kind of unit is rounded to three digits.
    package static func size(_ byteCount: UInt64) -> String {
        exact(byteCount, base: 1024, units: binaryUnits)
            ?? exact(byteCount, base: 1000, units: decimalUnits)
            ?? measured(byteCount)
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

    /// Returns how far memory grew: the kernel keeps its counters per CPU, so that small differences mean nothing.
    package static func growth(_ byteCount: UInt64) -> String {
        byteCount < 256 << 10 ? "< 256 KiB" : measured(byteCount)
    }

    /// Returns a rate: `5.21 GiB/s`, `38.4 MiB/s`.
    package static func rate(_ bytesPerSecond: UInt64) -> String {
        measured(bytesPerSecond) + "/s"
    }

    /// Returns an interval of rates with its unit once, `14.9–15.3 GiB/s`, or twice where the ends differ in it.
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

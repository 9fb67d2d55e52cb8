/// Durations with three significant digits and a unit that suits them.
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

    /// Returns a power of ten nanoseconds with its unit: 4 is `10 µs`; `nil` below a nanosecond and beyond 10⁹ seconds.
    static func decade(nanosecondPower power: Int) -> String? {
        guard (0..<19).contains(power) else { return nil }
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(power / 3, units.count - 1)
        return "\(SignificantDigits.grouped(UInt64(LogScale.power(power - unit * 3, base: 10)))) \(units[unit])"
    }
}

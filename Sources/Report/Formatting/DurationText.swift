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
}

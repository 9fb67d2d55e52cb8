/// Numbers as people read them: three significant digits, the same in every locale.
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

    /// Returns a value of at least 0 with that many digits after the point.
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

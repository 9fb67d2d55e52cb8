/// Ratios and shares as people read them.
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

    /// Returns a number of things with the noun in singular or plural.
    package static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(SignificantDigits.grouped(UInt64(max(number, 0)))) \(number == 1 ? singular : plural ?? singular + "s")"
    }
}

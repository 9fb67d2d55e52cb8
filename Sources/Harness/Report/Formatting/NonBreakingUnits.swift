/// Keeps numbers and their units on one line of a page.
enum NonBreakingUnits {
    private static let units: Set<Substring> = [
        "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "ns", "µs", "ms", "s", "%",
    ]

    /// Returns the text with a no-break space between each number and the unit after it.
    static func glued(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        var glued = ""
        for (index, word) in words.enumerated() {
            if index > 0 {
                let isNumber = words[index - 1].last.map { ("0"..."9").contains($0) } ?? false
                let unit = word.prefix { $0.isLetter || $0 == "%" }
                glued += isNumber && units.contains(unit) ? "\u{A0}" : " "
            }
            glued += word
        }
        return glued
    }
}

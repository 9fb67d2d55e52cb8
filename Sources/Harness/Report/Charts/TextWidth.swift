/// How much room text takes, without knowing the font: enough to place labels, not to set type.
enum TextWidth {
    /// Returns about how wide text of 13 units is; wide scripts count double.
    static func estimate(_ text: String) -> Double {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 7.2 : 14) }
    }

    /// Returns the text, cut and ended with an ellipsis if it needs more room.
    static func shortened(_ text: String, to width: Double) -> String {
        guard estimate(text) > width else { return text }
        var kept = ""
        for character in text {
            guard estimate(kept + String(character)) + 7.2 <= width else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}

/// Numbers as playlists write them.
///
/// - Source: RFC 8216, section 4.2.
enum DecimalText {
    /// A decimal-integer: 1 to 20 digits, below 2⁶⁴.
    static func integer(_ text: some StringProtocol) -> UInt64? {
        let digits = text.utf8
        guard 1...20 ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(text)
    }

    /// A decimal-floating-point or a decimal-integer, finite and without a sign.
    static func number(_ text: some StringProtocol) -> Double? {
        let characters = text.utf8
        // `Double` reads more than that: exponents, hexadecimal digits, infinity.
        guard 1...64 ~= characters.count, characters.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }),
            let first = characters.first, 0x30...0x39 ~= first, characters.filter({ $0 == 0x2E }).count <= 1
        else { return nil }
        return Double(String(text))
    }

    /// A byte range's length and, where it is given, its offset: `n[@o]`. Source: RFC 8216, section 4.3.2.2.
    static func byteRange(_ text: some StringProtocol) -> (byteCount: UInt64, offset: UInt64?)? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let byteCount = integer(first) else { return nil }
        guard parts.count == 2 else { return (byteCount, nil) }
        guard let offset = integer(parts[1]), !offset.addingReportingOverflow(byteCount).overflow else { return nil }
        return (byteCount, offset)
    }

    /// A value as a message shows it: digits and a few signs as they are, and not more than 40 of them.
    static func shown(_ text: some StringProtocol) -> String {
        let plain = text.unicodeScalars.prefix(40).map { 0x20..<0x7F ~= $0.value ? String($0) : CharacterText.name($0) }
        return "\"" + plain.joined() + (text.unicodeScalars.count > 40 ? "…" : "") + "\""
    }
}

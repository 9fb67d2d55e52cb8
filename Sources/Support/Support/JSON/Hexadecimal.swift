/// Byte strings as the protocol and the command line write them.
package enum Hexadecimal {
    /// Decodes hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: The digits, two for each byte.
    ///   - allowsUpperCase: Whether `A` to `F` are taken as well; the protocol has lower case only.
    /// - Returns: The bytes, or `nil` if a character is no digit or their number is odd.
    package static func decode(_ text: some StringProtocol, allowsUpperCase: Bool = false) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index], allowsUpperCase), let low = digit(digits[index + 1], allowsUpperCase)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Encodes bytes in lower case.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ character: UInt8, _ allowsUpperCase: Bool) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x61...0x66: character - 0x61 + 10
        case 0x41...0x46 where allowsUpperCase: character - 0x41 + 10
        default: nil
        }
    }
}

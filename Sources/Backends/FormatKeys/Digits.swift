/// Digits that encode some bits each, as in Base64, Bech32 and hexadecimal.
///
/// Written by hand for two reasons: the decoded bytes may be secret, and a library's strings would leave copies; and
/// age accepts only one encoding of each value.
///
/// - Source: RFC 4648, section 3.5 (leftover bits are zeros).
enum Digits {
    /// RFC 4648, section 4.
    static let base64 = letters + Array("+/".utf8)
    /// RFC 4648, section 5.
    static let base64URL = letters + Array("-_".utf8)
    /// BIP 173, "Bech32", in upper case.
    static let bech32 = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".utf8)

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Returns the number of whole bytes in a number of digits; `nil` if a digit is left over.
    static func byteCount(of digitCount: Int, _ alphabet: [UInt8]) -> Int? {
        let bitCount = alphabet.count.trailingZeroBitCount
        return digitCount * bitCount % 8 < bitCount ? digitCount * bitCount / 8 : nil
    }

    /// Decodes digits into a buffer.
    ///
    /// - Returns: `false` if the buffer's length does not match, or there is an invalid character or a leftover bit.
    static func decode(
        _ text: some Collection<UInt8>, _ alphabet: [UInt8], into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard byteCount(of: text.count, alphabet) == output.count else { return false }
        let bitCount = alphabet.count.trailingZeroBitCount
        var (bits, heldCount, index) = (0, 0, 0)
        for character in text {
            guard let digit = alphabet.firstIndex(of: character) else { return false }
            bits = bits << bitCount | digit
            heldCount += bitCount
            guard heldCount >= 8 else { continue }
            heldCount -= 8
            output[index] = UInt8(truncatingIfNeeded: bits >> heldCount)
            bits &= 1 << heldCount - 1
            index += 1
        }
        return bits == 0
    }

    /// Decodes Base64 without padding, for values that are not secret.
    static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard let count = byteCount(of: text.count, base64) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { decode(text, base64, into: $0) } ? bytes : nil
    }
}

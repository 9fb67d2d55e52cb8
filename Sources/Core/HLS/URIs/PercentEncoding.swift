/// Bytes that a URI cannot hold as they are.
///
/// - Source: RFC 3986, section 2.1.
enum PercentEncoding {
    /// Decodes one segment of a path.
    ///
    /// - Returns: The segment, or `nil` if it holds a percent sign that two hexadecimal digits do not follow, or decodes
    ///   to something that is not UTF-8, or that a file's name cannot hold.
    static func decode(segment: some StringProtocol) -> String? {
        var decoded: [UInt8] = []
        var rest = segment.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        guard !decoded.contains(0), !decoded.contains(UInt8(ascii: "/")) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Encodes a path, of which slashes and unreserved characters stay.
    static func encode(path: String) -> String {
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

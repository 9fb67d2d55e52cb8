#if Network
/// What a request line asks for. Source: RFC 9112, section 3.2; RFC 3986, sections 2.1 and 3.3.
package struct RequestTarget: Hashable, Sendable {
    /// The names between the slashes, decoded; none for the root.
    package let path: [String]
    /// What follows the question mark.
    package let query: Substring?

    /// Why a target is not taken.
    package enum Refusal: Error, Hashable, Sendable {
        /// It is no path.
        case malformed
        /// It is one that no file here can have.
        case notFound
    }

    /// Reads a target in origin form.
    ///
    /// Names are decoded once. A name that is empty, `.` or `..`, or that holds a slash, a backslash or a control
    /// character in whatever notation, never reaches a file system.
    package init(_ target: String) throws(Refusal) {
        guard target.utf8.first == UInt8(ascii: "/"), !target.utf8.contains(UInt8(ascii: "#")) else { throw .malformed }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.query = parts.count == 2 ? parts[1] : nil
        var names: [String] = []
        if parts[0] != "/" {
            for part in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
                names.append(try RequestTarget.name(part))
            }
        }
        self.path = names
    }

    private static func name(_ part: Substring) throws(Refusal) -> String {
        var bytes: [UInt8] = []
        var rest = part.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw .malformed
            }
            bytes.append(high << 4 | low)
        }
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .malformed }
        guard !bytes.isEmpty, name != ".", name != "..", !bytes.contains(UInt8(ascii: "/")),
            !bytes.contains(UInt8(ascii: "\\")), bytes.count <= 255
        else { throw .notFound }
        return name
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Writes a name so that it can stand in a URL's path.
    package static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "-._~".utf8.contains(byte):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}
#endif

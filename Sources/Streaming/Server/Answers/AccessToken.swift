#if Network
import HLS
import Keys
import RandomAccess
import Support

/// A secret that clients must present: 128 random bits, printed at the start and nowhere else.
package struct AccessToken: Sendable {
    private let bytes: [UInt8]

    /// Draws a random token.
    package init() {
        self.init(text: AccessToken.randomDigits(byteCount: 16))
    }

    /// A token with a known text.
    package init(text: String) {
        self.bytes = Array(text.utf8)
    }

    /// The token in the form for a URL.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns whether the value of `Authorization` presents the token as `Bearer`. Source: RFC 6750, section 2.1.
    package func isShown(in authorization: String?) -> Bool {
        guard let authorization, authorization.utf8.count > 7,
            authorization.prefix(7).lowercased() == "bearer "
        else { return false }
        return isEqual(authorization.dropFirst(7).utf8)
    }

    /// Returns the part of a target behind the token, if the token is its first name. Relative references keep the
    /// token, so nothing else has to.
    ///
    /// - Returns: The rest, from the slash behind the token on; `nil` if the target does not start with the token.
    package func rest(of target: String) -> String? {
        let end = 1 + bytes.count
        let target = Array(target.utf8)
        guard target.count >= end, target[0] == UInt8(ascii: "/"), isEqual(target[1..<end]) else { return nil }
        let rest = target[end...]
        guard rest.isEmpty || [UInt8(ascii: "/"), UInt8(ascii: "?")].contains(rest[end]) else { return nil }
        return String(decoding: rest, as: UTF8.self)
    }

    /// Compares in a time that depends only on the lengths.
    private func isEqual(_ other: some Collection<UInt8>) -> Bool {
        let other = Array(other)
        guard other.count == bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in other.withUnsafeBytes { isEqualInConstantTime(bytes, $0) } }
    }

    private static func randomDigits(byteCount: Int) -> String { Hexadecimal.encode([UInt8].random(count: byteCount)) }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// A text without any part of the token.
    package var description: String { "AccessToken" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The target of a request line. Source: RFC 9112, section 3.2; RFC 3986, sections 2.1 and 3.3.
package struct RequestTarget: Hashable, Sendable {
    /// The decoded names between the slashes; empty for the root.
    package let path: [String]

    /// The reason why the server rejects a target.
    package enum Rejection: Error, Hashable, Sendable {
        /// The target is not a path.
        case malformed
        /// No file on this server can have this path.
        case notFound
    }

    /// Reads a target in origin form.
    ///
    /// Names are decoded once. A name that is empty, `.` or `..`, or that holds a slash, a backslash or a control
    /// character in whatever notation, never reaches a file system.
    package init(_ target: String) throws(Rejection) {
        guard target.utf8.first == UInt8(ascii: "/"), !target.utf8.contains(UInt8(ascii: "#")) else { throw .malformed }
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }.dropFirst()
        var names: [String] = []
        if !path.isEmpty {
            for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                names.append(try RequestTarget.name(Substring(part)))
            }
        }
        self.path = names
    }

    private static func name(_ part: Substring) throws(Rejection) -> String {
        guard let bytes = PercentEncoding.bytes(of: part), let name = String(validating: bytes, as: UTF8.self),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .malformed }
        guard !bytes.isEmpty, name != ".", name != "..", !bytes.contains(UInt8(ascii: "/")),
            !bytes.contains(UInt8(ascii: "\\")), bytes.count <= 255
        else { throw .notFound }
        return name
    }

    /// Encodes names for a URL's path.
    package static func encoded(_ path: [String]) -> String {
        PercentEncoding.encode(path: path.joined(separator: "/"))
    }
}
#endif

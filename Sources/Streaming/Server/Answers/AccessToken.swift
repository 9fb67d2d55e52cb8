#if Network
import HLS
import Keys
import RandomAccess
import Support

/// What a client has to show: 128 random bits, printed at the start and nowhere else.
package struct AccessToken: Sendable {
    private let bytes: [UInt8]

    /// Draws a token.
    package init() {
        self.init(text: AccessToken.randomDigits(byteCount: 16))
    }

    /// Creates a token of a known text.
    package init(text: String) {
        self.bytes = Array(text.utf8)
    }

    /// The token as a URL has it.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the value of `Authorization` shows the token, as `Bearer`. Source: RFC 6750, section 2.1.
    package func isShown(in authorization: String?) -> Bool {
        guard let authorization, authorization.utf8.count > 7,
            authorization.prefix(7).lowercased() == "bearer "
        else { return false }
        return isEqual(authorization.dropFirst(7).utf8)
    }

    /// What a target asks for whose first name is the token: relative references keep it, and nothing else has to.
    ///
    /// - Returns: The rest, from the slash behind the token on; `nil` if the token is not there.
    package func rest(of target: String) -> String? {
        let end = 1 + bytes.count
        let target = Array(target.utf8)
        guard target.count >= end, target[0] == UInt8(ascii: "/"), isEqual(target[1..<end]) else { return nil }
        let rest = target[end...]
        guard rest.isEmpty || [UInt8(ascii: "/"), UInt8(ascii: "?")].contains(rest[end]) else { return nil }
        return String(decoding: rest, as: UTF8.self)
    }

    /// Compares in a time that depends on the lengths only.
    private func isEqual(_ other: some Collection<UInt8>) -> Bool {
        let other = Array(other)
        guard other.count == bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in other.withUnsafeBytes { isEqualInConstantTime(bytes, $0) } }
    }

    private static func randomDigits(byteCount: Int) -> String { Hexadecimal.encode([UInt8].random(count: byteCount)) }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// Nothing of the token.
    package var description: String { "AccessToken" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a request line asks for. Source: RFC 9112, section 3.2; RFC 3986, sections 2.1 and 3.3.
package struct RequestTarget: Hashable, Sendable {
    /// The names between the slashes, decoded; none for the root.
    package let path: [String]

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
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }.dropFirst()
        var names: [String] = []
        if !path.isEmpty {
            for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                names.append(try RequestTarget.name(Substring(part)))
            }
        }
        self.path = names
    }

    private static func name(_ part: Substring) throws(Refusal) -> String {
        guard let bytes = PercentEncoding.bytes(of: part), let name = String(validating: bytes, as: UTF8.self),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .malformed }
        guard !bytes.isEmpty, name != ".", name != "..", !bytes.contains(UInt8(ascii: "/")),
            !bytes.contains(UInt8(ascii: "\\")), bytes.count <= 255
        else { throw .notFound }
        return name
    }

    /// Writes names so that they can stand in a URL's path.
    package static func encoded(_ path: [String]) -> String {
        PercentEncoding.encode(path: path.joined(separator: "/"))
    }
}
#endif

#if Network
import HLS
package import HTTPTypes
import Keys
import RandomAccess
import Support

/// What a client has to show: 128 random bits, printed at the start and nowhere else.
package struct AccessToken: Sendable {
    private let bytes: [UInt8]
    /// The name of the cookie that keeps it: one of each server's own, since browsers keep cookies by host, whatever the
    /// port.
    package let cookieName = "chunkwise-token-" + AccessToken.randomDigits(byteCount: 8)

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

    /// The name under which a URL carries the token.
    package static let queryName = "token"

    /// How a client showed the token.
    package enum Presentation: Hashable, Sendable {
        /// In `Authorization: Bearer` or a cookie.
        case field
        /// In the URL: it should get a cookie, for the URLs that follow from this one.
        case query
    }

    /// Looks for the token in a request.
    ///
    /// - Parameters:
    ///   - query: What follows the question mark, or `nil`.
    ///   - fields: The request's fields.
    /// - Returns: Where it was found, or `nil`.
    package func presentation(query: Substring?, fields: HTTPFields) -> Presentation? {
        if let authorization = fields[.authorization], authorization.utf8.count > 7,
            authorization.prefix(7).lowercased() == "bearer "
        {
            if isEqual(authorization.dropFirst(7).utf8) { return .field }
        }
        for cookie in fields[values: .cookie] {
            for pair in cookie.split(separator: ";") {
                let trimmed = pair.drop { $0 == " " }
                guard trimmed.hasPrefix(cookieName + "=") else { continue }
                if isEqual(trimmed.dropFirst(cookieName.count + 1).utf8) { return .field }
            }
        }
        for pair in (query ?? "").split(separator: "&") where pair.hasPrefix(Self.queryName + "=") {
            if isEqual(pair.dropFirst(Self.queryName.count + 1).utf8) { return .query }
        }
        return nil
    }

    /// The cookie that keeps the token, unseen by scripts and by other sites.
    package var cookie: String { "\(cookieName)=\(text); Path=/; HttpOnly; SameSite=Strict" }

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

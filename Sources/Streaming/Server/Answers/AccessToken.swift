#if Network
package import HTTPTypes

/// What a client has to show: 128 random bits, printed at the start and nowhere else.
package struct AccessToken: Sendable {
    private let bytes: [UInt8]
    /// The name of the cookie that keeps it: one of each server's own, since browsers keep cookies by host, whatever the
    /// port.
    package let cookieName = "chunkwise-token-" + AccessToken.digits(.random(in: .min ... .max))

    /// Draws a token.
    package init() {
        self.init(text: (0..<2).map { _ in AccessToken.digits(.random(in: .min ... .max)) }.joined())
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
        guard other.count == bytes.count else { return false }
        return zip(bytes, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func digits(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// Nothing of the token.
    package var description: String { "AccessToken" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif

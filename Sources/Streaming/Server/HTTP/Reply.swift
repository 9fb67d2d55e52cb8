#if Network
package import HTTPTypes
import NIOCore
import NIOHTTP1

/// An answer that is ready to be sent.
package struct Reply: Sendable {
    /// What follows the fields.
    enum Body: Sendable {
        case none
        /// A page that was made.
        case page(ByteBuffer)
        /// A part of some content, which is not empty.
        case plaintext(PlaintextBody)
    }

    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: Body = .none

    /// An answer without a body.
    package init(status: HTTPResponse.Status, fields: HTTPFields) {
        self.init(status: status, fields: fields, body: .none)
    }

    init(status: HTTPResponse.Status, fields: HTTPFields, body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer that is a page.
    static func page(
        _ page: ByteBuffer, type: String, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]
    ) -> Reply {
        var fields = fields
        fields[.contentType] = type
        fields[.contentLength] = "\(page.readableBytes)"
        return Reply(status: status, fields: fields, body: .page(page))
    }

    /// Source: Content Security Policy Level 3, W3C, section 6.
    private static let pagePolicy =
        "default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

    /// What every answer has. Source: Referrer Policy, W3C, section 4.1; the Fetch Standard, section 3.5.
    private static let commonFields: HTTPHeaders = [
        // What was decrypted should not end up in a browser's cache on a disk.
        "Cache-Control": "no-store",
        // A page's URL may hold the token.
        "Referrer-Policy": "no-referrer",
        // What is served may be anybody's. A page of it gets its scripts and pictures from here, and sends nothing elsewhere.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": pagePolicy,
    ]

    /// The fields as they are sent, with those that every answer has.
    var sentFields: HTTPHeaders {
        var result = HTTPHeaders()
        result.reserveCapacity(fields.count + Self.commonFields.count + 2)
        for field in fields { result.add(name: field.name.rawName, value: field.value) }
        result.add(name: "Date", value: HTTPDate.nowText)
        result.add(contentsOf: Self.commonFields)
        return result
    }
}

/// A request that is refused, with the fields that the answer needs.
struct Refusal: Error {
    var status: HTTPResponse.Status
    /// What the client is told; the status and its name if it is nothing else.
    var reason: String?
    /// What the audit of keys says of it; `nil` where it has its lines already, or no keys were asked for.
    var result: String?
    var fields: HTTPFields = [:]

    /// The answer, with a line for people.
    var reply: Reply {
        let text = reason ?? "\(status.code) \(status.reasonPhrase)"
        return .page(
            ByteBuffer(string: text + "\n"), type: "text/plain; charset=utf-8", status: status, fields: fields)
    }
}
#endif

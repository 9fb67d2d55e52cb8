#if Network
package import HTTPTypes
import NIOCore

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
    /// Whether the connection is closed behind it.
    var isLast = false

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

    /// What every answer has, as it is sent, with the head's end.
    ///
    /// What was decrypted should not end up in a browser's cache on a disk. A page's URL may hold the token. What is served
    /// may be anybody's: a page of it gets its scripts and pictures from here, and sends nothing elsewhere.
    ///
    /// - Source: Referrer Policy, W3C, section 4.1; the Fetch Standard, section 3.5; Content Security Policy Level 3, W3C,
    ///   section 6.
    private static let commonFields = Array(
        """
        Cache-Control: no-store\r
        Referrer-Policy: no-referrer\r
        X-Content-Type-Options: nosniff\r
        Content-Security-Policy: default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'self'\r
        \r

        """.utf8)

    /// The head as it is sent, with the fields that every answer has.
    ///
    /// No name or value that fields can have ends a line.
    ///
    /// - Parameter connection: What it says of the connection, if anything.
    /// - Returns: The bytes up to the empty line, that included.
    /// - Source: RFC 9112, sections 4 and 5.
    func head(connection: String?) -> ByteBuffer {
        // Bytes, as a text takes twice as long to become longer.
        var head: [UInt8] = []
        head.reserveCapacity(1 << 10)
        func add(_ name: String, _ value: String) {
            head += name.utf8
            head += ": ".utf8
            head += value.utf8
            head += "\r\n".utf8
        }
        head += "HTTP/1.1 ".utf8
        head += String(status.code).utf8
        head += " ".utf8
        head += status.reasonPhrase.utf8
        head += "\r\n".utf8
        for field in fields { add(field.name.rawName, field.value) }
        // Without a length, the end of the body would be that of the connection.
        if status.code != 204, status.code != 304, !fields.contains(.contentLength) { add("Content-Length", "0") }
        if let connection { add("Connection", connection) }
        add("Date", HTTPDate.nowText)
        head += Self.commonFields
        return ByteBuffer(bytes: head)
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

#if Network
import NIOCore
package import NIOHTTP1

/// An answer that is ready to be sent.
package struct Reply: Sendable {
    /// The part of an answer behind the fields.
    enum Body: Sendable {
        case none
        /// A generated page.
        case page(ByteBuffer)
        /// A non-empty part of some content.
        case plaintext(PlaintextBody)
    }

    var status: HTTPResponseStatus
    var fields: FieldLines
    var body: Body = .none
    /// True if the connection is closed after this answer.
    var isLast = false

    /// An answer without a body.
    package init(status: HTTPResponseStatus, fields: FieldLines = [:]) {
        self.init(status: status, fields: fields, body: .none)
        // Without a length, the body would end with the connection.
        if status != .noContent { self.fields.add("Content-Length", 0) }
    }

    /// An answer whose fields contain the length of its body.
    init(status: HTTPResponseStatus, fields: FieldLines, body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Returns an answer with a page as its body.
    static func page(
        _ page: ByteBuffer, type: String, status: HTTPResponseStatus = .ok, fields: FieldLines = [:]
    ) -> Reply {
        var fields = fields
        fields.add("Content-Type", type)
        fields.add("Content-Length", UInt64(page.readableBytes))
        return Reply(status: status, fields: fields, body: .page(page))
    }

    /// The fields of every answer as they are sent, with the end of the head.
    ///
    /// Plaintext should not end up in a browser's cache on a disk. A page's URL may hold the token, and the contents
    /// may come from anybody. A page therefore loads pictures only from this server, and runs no scripts
    /// (``ServedContent``): scripts could send anywhere what they have read.
    ///
    /// - Source: Referrer Policy, W3C, section 4.1; the Fetch Standard, section 3.5; Content Security Policy Level 3,
    ///   W3C, section 6.
    private static let commonFields: StaticString =
        """
        Cache-Control: no-store\r
        Referrer-Policy: no-referrer\r
        X-Content-Type-Options: nosniff\r
        Content-Security-Policy: default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'self'\r
        \r

        """

    /// Returns the head as it is sent, with the fields of every answer.
    ///
    /// - Parameter connection: The value of `Connection`; `nil` for no such field.
    /// - Returns: The bytes up to and including the empty line.
    /// - Source: RFC 9112, sections 4 and 5.
    func head(connection: String?) -> ByteBuffer {
        // The capacity leaves space for a short body.
        var head = ByteBufferAllocator().buffer(capacity: 8 << 10)
        head.writeStaticString("HTTP/1.1 ")
        head.writeString("\(status.code) ")
        head.writeString(status.reasonPhrase)
        head.writeStaticString("\r\n")
        head.writeBytes(fields.bytes)
        if let connection {
            head.writeStaticString("Connection: ")
            head.writeString(connection)
            head.writeStaticString("\r\n")
        }
        head.writeStaticString("Date: ")
        head.writeString(HTTPDate.nowText)
        head.writeStaticString("\r\n")
        head.writeStaticString(Self.commonFields)
        return head
    }
}

/// The fields of an answer as they are sent, one line each.
///
/// The server formats the fields of a content once, because heads are most of its work for a small range.
///
/// - Source: RFC 9112, section 5.
package struct FieldLines: Hashable, Sendable {
    /// The lines with their line ends.
    package private(set) var bytes: [UInt8] = []

    /// Adds a field. Control characters become spaces, so that a value from a request cannot end the line.
    mutating func add(_ name: StaticString, _ value: String) {
        begin(name)
        add(value)
        end()
    }

    /// Adds a field whose value is a number.
    mutating func add(_ name: StaticString, _ value: UInt64) {
        begin(name)
        add(value)
        end()
    }

    /// Adds `Content-Range`.
    ///
    /// - Parameters:
    ///   - range: The bytes of the body; `nil` if there are none.
    ///   - byteCount: The object's length in bytes.
    /// - Source: RFC 9110, section 14.4.
    mutating func addContentRange(_ range: Range<UInt64>?, of byteCount: UInt64) {
        add("Content-Range: bytes " as StaticString)
        if let range {
            add(range.lowerBound)
            add("-" as StaticString)
            add(range.upperBound - 1)
        } else {
            add("*" as StaticString)
        }
        add("/" as StaticString)
        add(byteCount)
        end()
    }

    /// Reserves capacity for further bytes.
    mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(bytes.count + byteCount) }

    private mutating func begin(_ name: StaticString) {
        add(name)
        add(": " as StaticString)
    }

    private mutating func end() { add("\r\n" as StaticString) }

    private mutating func add(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func add(_ text: String) {
        var text = text
        let start = bytes.count
        text.withUTF8 { bytes.append(contentsOf: $0) }
        for index in start..<bytes.count where bytes[index] < 0x20 || bytes[index] == 0x7F {
            bytes[index] = UInt8(ascii: " ")
        }
    }

    private mutating func add(_ number: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var (start, rest) = (digits.count, number)
        repeat {
            start -= 1
            digits[start] += UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        for index in start..<digits.count { bytes.append(digits[index]) }
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    /// The lines keep this order.
    package init(dictionaryLiteral elements: (StaticString, String)...) {
        for (name, value) in elements { add(name, value) }
    }
}

/// A refused request, with the fields that the answer needs.
struct ErrorReply: Error {
    var status: HTTPResponseStatus
    /// The text for the client; `nil` for the status and its name.
    var reason: String?
    /// The result for the audit of keys; `nil` if the audit has its lines already, or if no keys were asked for.
    var result: String?
    var fields: FieldLines = [:]

    /// The answer, with a line of text for people.
    var reply: Reply {
        let text = reason ?? "\(status.code) \(status.reasonPhrase)"
        return .page(
            ByteBuffer(string: text + "\n"), type: "text/plain; charset=utf-8", status: status, fields: fields)
    }
}
#endif

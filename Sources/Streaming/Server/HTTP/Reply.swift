#if Network
import NIOCore
package import NIOHTTP1

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

    var status: HTTPResponseStatus
    var fields: FieldLines
    var body: Body = .none
    /// Whether the connection is closed behind it.
    var isLast = false

    /// An answer without a body.
    package init(status: HTTPResponseStatus, fields: FieldLines = [:]) {
        self.init(status: status, fields: fields, body: .none)
        // Without a length, the end of the body would be that of the connection.
        if status != .noContent { self.fields.add("Content-Length", 0) }
    }

    /// An answer whose fields tell how long its body is.
    init(status: HTTPResponseStatus, fields: FieldLines, body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer that is a page.
    static func page(
        _ page: ByteBuffer, type: String, status: HTTPResponseStatus = .ok, fields: FieldLines = [:]
    ) -> Reply {
        var fields = fields
        fields.add("Content-Type", type)
        fields.add("Content-Length", UInt64(page.readableBytes))
        return Reply(status: status, fields: fields, body: .page(page))
    }

    /// What every answer has, as it is sent, with the head's end.
    ///
    /// Plaintext should not end up in a browser's cache on a disk. A page's URL may hold the token, and what is
    /// served may be anybody's: a page gets its pictures from here only, and runs no scripts (``ServedContent``), which
    /// could go wherever they like with what they have read.
    ///
    /// - Source: Referrer Policy, W3C, section 4.1; the Fetch Standard, section 3.5; Content Security Policy Level 3, W3C,
    ///   section 6.
    private static let commonFields: StaticString =
        """
        Cache-Control: no-store\r
        Referrer-Policy: no-referrer\r
        X-Content-Type-Options: nosniff\r
        Content-Security-Policy: default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'self'\r
        \r

        """

    /// The head as it is sent, with the fields that every answer has.
    ///
    /// - Parameter connection: What it says of the connection, if anything.
    /// - Returns: The bytes up to the empty line, that included.
    /// - Source: RFC 9112, sections 4 and 5.
    func head(connection: String?) -> ByteBuffer {
        // What is short goes behind it.
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

/// Fields of an answer as they are sent, a line each.
///
/// Those of some content are written once: heads are most of what a server does for a small range.
///
/// - Source: RFC 9112, section 5.
package struct FieldLines: Hashable, Sendable {
    /// The lines, each with its end.
    package private(set) var bytes: [UInt8] = []

    /// Adds a field. Of a value that came with a request, no character ends the line.
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

    /// Makes space for what is added, at once.
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
    /// Creates fields, in this order.
    package init(dictionaryLiteral elements: (StaticString, String)...) {
        for (name, value) in elements { add(name, value) }
    }
}

/// A request that is refused, with the fields that the answer needs.
struct Refusal: Error {
    var status: HTTPResponseStatus
    /// What the client is told; the status and its name if it is nothing else.
    var reason: String?
    /// What the audit of keys says of it; `nil` where it has its lines already, or no keys were asked for.
    var result: String?
    var fields: FieldLines = [:]

    /// The answer, with a line for people.
    var reply: Reply {
        let text = reason ?? "\(status.code) \(status.reasonPhrase)"
        return .page(
            ByteBuffer(string: text + "\n"), type: "text/plain; charset=utf-8", status: status, fields: fields)
    }
}
#endif

#if Network
import HTTPTypes
import NIOCore

/// An answer that is ready to be sent.
struct Reply: Sendable {
    /// What follows the fields.
    enum Body: Sendable {
        case none
        /// A page that was made.
        case page(ByteBuffer)
        /// A part of some content, which is not empty, and the name it was asked for by.
        case plaintext(ServedContent, Range<UInt64>, name: String)
    }

    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: Body = .none

    /// The head, with the fields that every answer has.
    var head: HTTPResponse {
        var fields = fields
        fields[.date] = HTTPDate.text(HTTPDate.now)
        // What was decrypted should not end up in a browser's cache on a disk.
        fields[.cacheControl] = "no-store"
        // A page's URL may hold the token.
        fields[.referrerPolicy] = "no-referrer"
        return HTTPResponse(status: status, headerFields: fields)
    }
}

extension HTTPField.Name {
    /// Source: Referrer Policy, W3C, section 4.1.
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .server
}

/// A request that is refused, with the fields that the answer needs.
struct Refusal: Error {
    var status: HTTPResponse.Status
    var fields: HTTPFields = [:]

    /// The answer, with a line for people.
    var reply: Reply {
        var fields = fields
        let text = ByteBuffer(string: "\(status.code) \(status.reasonPhrase)\n")
        fields[.contentType] = "text/plain; charset=utf-8"
        fields[.contentLength] = "\(text.readableBytes)"
        return Reply(status: status, fields: fields, body: .page(text))
    }
}
#endif

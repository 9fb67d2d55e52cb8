#if Network
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import RandomAccess

/// Decides how a request is answered, and sends the answer.
struct RangeResponder: Sendable {
    let catalogue: any ContentCatalogue
    let limits: ServerLimits
    let token: AccessToken?
    /// What counts where there is no token.
    let browserRules: BrowserRules
    /// The sites whose pages may read answers.
    let allowedOrigins: AllowedOrigins
    let recorder: TraceRecorder?
    let pool: BufferPool
    /// The threads that find out what is asked for, and wait for disks.
    let lookups: NIOThreadPool
    /// Where to say what failed; never a key, a token or plaintext.
    let report: @Sendable (String) -> Void

    /// Answers one request.
    ///
    /// - Throws: What makes an answer that was begun impossible to finish: the connection is then closed.
    func respond(to request: Request, with writer: consuming ResponseWriter) async throws {
        let receivedAt = recorder?.now ?? 0
        // Files are opened there, playlists parsed and keys asked for; the connections of an event loop do not wait for it.
        let head = request.head
        let stream = BodyStream(pool: pool, waiting: lookups)
        let (reply, short) = try await lookups.runIfActive {
            let reply = self.reply(to: head)
            guard case .plaintext(let content, let range, _) = reply.body else { return (reply, nil as ByteBuffer?) }
            return (reply, stream.short(range, of: content))
        }
        guard case .plaintext(let content, let range, let name) = reply.body else {
            return try await reply.send(to: request, with: writer)
        }
        let entry = entry(of: content, range, name, asked: request.headers[.range], at: receivedAt)
        var deliveredByteCount: UInt64 = 0
        defer { if let entry { recorder?.finish(entry, deliveredByteCount: deliveredByteCount) } }
        if let short {
            defer { pool.leave(BodyStream.shortByteCount) }
            try await writer.write(response: reply.head, body: ResponseBody(byteBuffer: short))
            deliveredByteCount = UInt64(short.readableBytes)
            return
        }
        var body = try await writer.writeHead(reply.head)
        do {
            try await stream.send(range, of: content, to: &body) { deliveredByteCount = $0 }
        } catch let error as DecryptionError {
            report("\(name): \(error)")
            throw error
        }
        try await body.finish(nil)
    }

    /// Notes a request, if it is one that a trace has.
    private func entry(
        of content: ServedContent, _ range: Range<UInt64>, _ name: String, asked: String?, at time: UInt64
    ) -> TraceRecorder.Entry? {
        guard content.isRecorded else { return nil }
        let start = content.position?.offset ?? 0
        return recorder?.begin(
            asked: asked, object: content.position?.object ?? name,
            range: start + range.lowerBound..<start + range.upperBound,
            objectByteCount: content.position?.objectByteCount ?? content.byteCount, at: time)
    }

    /// The answer to a request.
    func reply(to request: HTTPRequest) -> Reply {
        var reply: Reply
        if let preflight = allowedOrigins.preflight(request) {
            reply = preflight
        } else {
            do throws(Refusal) {
                reply = try self.reply(admitting: request)
            } catch {
                reply = error.reply
                // Of one that may not ask, nothing more is read.
                if Self.closing.contains(reply.status) { reply.fields[.connection] = "close" }
            }
        }
        allowedOrigins.mark(&reply.fields, for: request)
        return reply
    }

    private static let closing: Set<HTTPResponse.Status> = [.badRequest, .unauthorized, .forbidden, .methodNotAllowed]

    private func reply(admitting request: HTTPRequest) throws(Refusal) -> Reply {
        try checkBody(request.headerFields)
        guard request.method == .get || request.method == .head else {
            throw Refusal(status: .methodNotAllowed, fields: [.allow: "GET, HEAD"])
        }
        let target = try target(try admittedTarget(of: request))
        if target.path.isEmpty {
            let page = ByteBuffer(
                string: try attempt("/") { () throws(DecryptionError) in
                    StartPage.html(try catalogue.listing())
                })
            return .page(page, type: "text/html; charset=utf-8")
        }
        let name = target.path.joined(separator: "/")
        let found = try attempt(name) { () throws(DecryptionError) in try catalogue.content(at: target.path) }
        guard let content = found else { throw Refusal(status: .notFound) }
        let answer = Answer(
            method: request.method, fields: request.headerFields, content: content, now: HTTPDate.now)
        guard let range = answer.body, !range.isEmpty else {
            return Reply(status: answer.status, fields: answer.fields)
        }
        return Reply(status: answer.status, fields: answer.fields, body: .plaintext(content, range, name: name))
    }

    /// What a request asks for that may ask, without the token.
    private func admittedTarget(of request: HTTPRequest) throws(Refusal) -> String {
        let target = request.path ?? ""
        guard let token else {
            guard browserRules.admits(request) else { throw Refusal(status: .forbidden, reason: BrowserRules.refusal) }
            return target
        }
        if let rest = token.rest(of: target) {
            // What the page of a folder names lies below its URL only if that ends with a slash.
            guard rest.hasPrefix("/") else {
                throw Refusal(status: .permanentRedirect, fields: [.location: "/\(token.text)/"])
            }
            return rest
        }
        guard token.isShown(in: request.headerFields) else {
            throw Refusal(status: .unauthorized, fields: [.wwwAuthenticate: "Bearer realm=\"chunkwise\""])
        }
        return target
    }

    /// Refuses what would have to be read to the end first. Source: RFC 9110, sections 10.1.1, 15.5.12 and 15.5.14.
    private func checkBody(_ fields: HTTPFields) throws(Refusal) {
        if fields[.transferEncoding] != nil {
            throw Refusal(status: .lengthRequired, fields: [.connection: "close"])
        }
        let length = fields[.contentLength]
        if let length, Int(length).map({ $0 > limits.requestBodyByteCount }) ?? true {
            throw Refusal(status: .contentTooLarge, fields: [.connection: "close"])
        }
        if fields[.expect] != nil, length != nil {
            // A client that was not told to go on sends no body, and one that does could not be told apart.
            throw Refusal(status: .expectationFailed, fields: [.connection: "close"])
        }
    }

    private func target(_ text: String) throws(Refusal) -> RequestTarget {
        do throws(RequestTarget.Refusal) {
            return try RequestTarget(text)
        } catch {
            throw Refusal(status: error == .malformed ? .badRequest : .notFound)
        }
    }

    private func attempt<Value>(
        _ name: String, _ body: () throws(DecryptionError) -> Value
    ) throws(Refusal) -> Value {
        do throws(DecryptionError) {
            return try body()
        } catch {
            report("\(name): \(error)")
            throw Refusal(status: error.isMissing ? .notFound : .internalServerError)
        }
    }
}

/// The page that names what is served.
enum StartPage {
    /// A list of links, in HTML.
    static func html(_ listing: [[String]]) -> String {
        let items = listing.map { path in
            "<li><a href=\"\(RequestTarget.encoded(path))\">\(escaped(path.joined(separator: "/")))</a></li>\n"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Chunkwise</title></head>
            <body>
            <ul>
            \(items.joined())</ul>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
#endif

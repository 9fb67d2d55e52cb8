#if Network
import NIOCore
import NIOHTTP1
import NIOPosix
import RandomAccess
import Synchronization

/// Answers requests for plaintext.
struct RangeResponder: Responder {
    let server: RangeServer
    /// The rules for servers without a token.
    let browserRules: BrowserRules
    let pool: BufferPool
    /// The threads that look up contents and wait for disks.
    let lookups: NIOThreadPool

    /// The contents of recent requests.
    private let known = KnownContents()

    /// 0, because bodies are not read.
    var keptBodyByteCount: Int { 0 }

    /// Answers one request. The event loop answers it if the content is known already. Otherwise a thread that may wait
    /// opens the content; there, playlists are parsed and keys are asked for.
    func respond(to request: Request, _ exchange: Exchange) {
        let receivedAt = server.recorder?.now ?? 0
        if let preflight = server.allowedOrigins.preflight(request) { return send(preflight, to: request, exchange) }
        do throws(ErrorReply) {
            try checkBody(of: request)
            guard request.method == .GET || request.method == .HEAD else {
                throw ErrorReply(status: .methodNotAllowed, fields: ["Allow": "GET, HEAD"])
            }
            let target = try admittedTarget(of: request)
            if let known = known.content(at: target) {
                let reply = try reply(to: request, with: known, receivedAt: receivedAt, mayWait: false)
                return send(reply, to: request, exchange)
            }
            let path = try self.target(target).path
            lookups.submit { _ in
                do throws(ErrorReply) {
                    guard !path.isEmpty else { return send(try startPage(), to: request, exchange) }
                    let found = try found(path)
                    known.note(found, at: target, exchange.eventLoop)
                    let reply = try reply(to: request, with: found, receivedAt: receivedAt, mayWait: true)
                    send(reply, to: request, exchange)
                } catch {
                    send(error, to: request, exchange)
                }
            }
        } catch {
            send(error, to: request, exchange)
        }
    }

    private func send(_ refusal: ErrorReply, to request: Request, _ exchange: Exchange) {
        var reply = refusal.reply
        reply.isLast = Self.closing.contains(reply.status)
        send(reply, to: request, exchange)
    }

    private func send(_ reply: Reply, to request: Request, _ exchange: Exchange) {
        var reply = reply
        server.allowedOrigins.mark(&reply.fields, for: request)
        exchange.send(reply)
    }

    /// The statuses after which the connection is closed. The server reads nothing more from a client that may not ask,
    /// or behind a body that it does not read.
    private static let closing: Set<HTTPResponseStatus> = [
        .badRequest, .unauthorized, .forbidden, .methodNotAllowed, .lengthRequired, .payloadTooLarge,
        .expectationFailed,
    ]

    private func startPage() throws(ErrorReply) -> Reply {
        let page = try attempt("/") { () throws(DecryptionError) in StartPage.html(try server.catalogue.listing()) }
        return .page(ByteBuffer(string: page), type: "text/html; charset=utf-8")
    }

    private func found(_ path: [String]) throws(ErrorReply) -> FoundContent {
        let name = path.joined(separator: "/")
        let content = try attempt(name) { () throws(DecryptionError) in try server.catalogue.content(at: path) }
        guard let content else { throw ErrorReply(status: .notFound) }
        return FoundContent(content: content, name: name)
    }

    private func reply(
        to request: Request, with found: FoundContent, receivedAt time: UInt64, mayWait: Bool
    ) throws(ErrorReply) -> Reply {
        let answer = Answer(to: request, with: found, now: HTTPDate.now)
        guard let range = answer.body, !range.isEmpty else {
            return Reply(status: answer.status, fields: answer.fields, body: .none)
        }
        let body = body(range, of: found, request, at: time)
        try attempt(found.name) { () throws(DecryptionError) in try body.fillIfShort(mayWait: mayWait) }
        return Reply(status: answer.status, fields: answer.fields, body: .plaintext(body))
    }

    /// Returns an answer's body, and records it in the trace if there is one.
    private func body(
        _ range: Range<UInt64>, of found: FoundContent, _ request: Request, at time: UInt64
    ) -> PlaintextBody {
        var onEnd: @Sendable (UInt64) -> Void = { _ in }
        if let recorder = server.recorder, found.content.isRecorded {
            let (content, start) = (found.content, found.content.position?.offset ?? 0)
            let entry = recorder.begin(
                asked: request.fields.range, object: content.position?.object ?? found.name,
                range: start + range.lowerBound..<start + range.upperBound,
                objectByteCount: content.position?.objectByteCount ?? content.byteCount, at: time)
            onEnd = { recorder.finish(entry, deliveredByteCount: $0) }
        }
        return PlaintextBody(range, of: found, pool: pool, report: server.report, onEnd: onEnd)
    }

    /// Returns the target of a request without the token, and throws if the client may not ask.
    private func admittedTarget(of request: Request) throws(ErrorReply) -> String {
        let target = request.target
        guard let token = server.token else {
            guard browserRules.admits(request) else {
                throw ErrorReply(status: .forbidden, reason: BrowserRules.refusal)
            }
            return target
        }
        if let rest = token.rest(of: target) {
            // The start page's relative links lie below its URL only if that ends with a slash.
            guard rest.hasPrefix("/") else {
                throw ErrorReply(status: .permanentRedirect, fields: ["Location": "/\(token.text)/"])
            }
            return rest
        }
        guard token.isShown(in: request.fields.authorization) else {
            throw ErrorReply(
                status: .unauthorized,
                reason: "401 Unauthorized: expected the token, first in the path as in the URL that chunkwise printed, "
                    + "or in the field Authorization: Bearer",
                fields: ["WWW-Authenticate": "Bearer realm=\"chunkwise\""])
        }
        return target
    }

    /// Refuses a request whose body the server would have to read to the end first. Source: RFC 9110, sections 10.1.1,
    /// 15.5.12 and 15.5.14.
    private func checkBody(of request: Request) throws(ErrorReply) {
        if request.fields.transferEncoding != nil {
            throw ErrorReply(status: .lengthRequired)
        }
        let length = request.fields.contentLength
        if let length, Int(length).map({ $0 > server.limits.requestBodyByteCount }) ?? true {
            throw ErrorReply(status: .payloadTooLarge)
        }
        if request.fields.expect != nil, length != nil {
            // A client that waits for "100 Continue" sends no body, and looks the same as one that does not wait.
            throw ErrorReply(status: .expectationFailed)
        }
    }

    private func target(_ text: String) throws(ErrorReply) -> RequestTarget {
        do throws(RequestTarget.Rejection) {
            return try RequestTarget(text)
        } catch {
            throw ErrorReply(status: error == .malformed ? .badRequest : .notFound)
        }
    }

    private func attempt<Value>(
        _ name: String, _ body: () throws(DecryptionError) -> Value
    ) throws(ErrorReply) -> Value {
        do throws(DecryptionError) {
            return try body()
        } catch {
            server.report("\(name): \(error)")
            throw ErrorReply(status: error.isMissing ? .notFound : .internalServerError)
        }
    }
}

/// The contents of recent requests, still open. A client that asks again does not wait for a disk, and gets the content
/// only if it is still current.
final class KnownContents: Sendable {
    private let contents = Mutex<[String: FoundContent]>([:])

    /// The time for which a content is known.
    private static let lifetime = TimeAmount.seconds(1)
    /// The max number of known contents. Each may hold an open file.
    private static let maxCount = 8

    /// Returns the content of a target, if it is known and current.
    func content(at target: String) -> FoundContent? {
        guard let known = contents.withLock({ $0[target] }), known.content.isCurrent?() == true else { return nil }
        return known
    }

    /// Keeps a content for a short time, if it can tell whether it is current.
    func note(_ found: FoundContent, at target: String, _ eventLoop: any EventLoop) {
        guard found.content.isCurrent != nil else { return }
        let isNew = contents.withLock { contents in
            guard contents[target] != nil || contents.count < Self.maxCount else { return false }
            return contents.updateValue(found, forKey: target) == nil
        }
        guard isNew else { return }
        eventLoop.scheduleTask(in: Self.lifetime) { _ = self.contents.withLock { $0.removeValue(forKey: target) } }
    }
}

/// The page that lists the served contents.
enum StartPage {
    /// Returns a list of links in HTML.
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

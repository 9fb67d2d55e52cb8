#if Network
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix
import RandomAccess
import Synchronization

/// Asks a key server on loopback, by a connection of its own for each key.
struct LoopbackExchange: KeyExchange {
    let port: Int
    let overhead: ExchangeOverhead

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        var answers: [ExchangedKey] = []
        for identifier in query.identifiers {
            let reply: KeyReply
            let start = ContinuousClock.now
            do {
                reply = try await ask(identifier)
            } catch {
                throw .unreachable(reason: "\(error)")
            }
            overhead.note(start.duration(to: .now), held: reply.heldNanoseconds)
            switch reply.status {
            case .ok:
                // A key of another length is for the session to refuse.
                guard let key = try? SecretKey(material: reply.body) else { throw .wrongLength(byteCount: 0) }
                answers.append(ExchangedKey(identifier, key: key))
            case .serviceUnavailable: throw .busy(retryAfter: nil)
            default: throw .refused(reason: "HTTP status \(reply.status.code)")
            }
        }
        return answers
    }

    private func ask(_ identifier: String) async throws -> KeyReply {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: KeyReply.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(KeyReplyHandler(promise))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: "/keys/\(identifier)", headers: ["host": "127.0.0.1:\(port)"])
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
            return try await withTaskCancellationHandler {
                defer { channel.close(promise: nil) }
                return try await promise.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            // Nothing happens if it was kept before.
            promise.fail(error)
            throw error
        }
    }
}

/// How long exchanges took beside what the server held them back: what this machine adds.
final class ExchangeOverhead: Sendable {
    private let list = Mutex<[UInt64]>([])

    /// In nanoseconds of the machine's clock, in the order in which exchanges ended.
    var nanoseconds: [UInt64] { list.withLock { $0 } }

    func note(_ time: Duration, held: UInt64) {
        let all = KeyTiming.nanoseconds(time)
        list.withLock { $0.append(all - min(all, held)) }
    }
}

/// What a key server answered.
struct KeyReply: Sendable {
    var status: HTTPResponseStatus
    var body: [UInt8]
    var heldNanoseconds: UInt64 = 0
}

/// Collects one answer.
private final class KeyReplyHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private static let maxByteCount = 1024

    private let promise: EventLoopPromise<KeyReply>
    private var reply = KeyReply(status: .ok, body: [])

    init(_ promise: EventLoopPromise<KeyReply>) {
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            reply.status = head.status
            reply.heldNanoseconds = head.headers.first(name: LoopbackKeyServer.heldName).flatMap { UInt64($0) } ?? 0
        case .body(let part):
            reply.body += part.readableBytesView.prefix(Self.maxByteCount - reply.body.count)
        case .end: promise.succeed(reply)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
#endif

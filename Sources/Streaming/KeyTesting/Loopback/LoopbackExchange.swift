#if Network
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix
import RandomAccess
import Synchronization

/// Asks a key server on loopback, with a connection of its own for each key.
struct LoopbackExchange: KeyExchange {
    let port: Int
    let overhead: ExchangeOverhead

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        var answers: [ExchangedKey] = []
        for identifier in query.identifiers {
            let reply: NIOHTTPClientResponseFull
            let start = ContinuousClock.now
            do {
                reply = try await ask(identifier)
            } catch {
                throw .unreachable(reason: "\(error)")
            }
            let held = reply.head.headers.first(name: LoopbackKeyServer.heldName).flatMap { UInt64($0) } ?? 0
            overhead.note(start.duration(to: .now), held: held)
            switch reply.head.status {
            case .ok:
                // The session refuses keys of other lengths.
                let bytes = reply.body.map { Array($0.readableBytesView) } ?? []
                guard let key = try? SecretKey(material: bytes) else { throw .wrongLength(byteCount: 0) }
                answers.append(ExchangedKey(identifier, key: key))
            case .serviceUnavailable: throw .busy(retryAfter: nil)
            default: throw .refused(reason: "HTTP status \(reply.head.status.code)")
            }
        }
        return answers
    }

    private func ask(_ identifier: String) async throws -> NIOHTTPClientResponseFull {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: NIOHTTPClientResponseFull.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandlers(
                            NIOHTTPClientResponseAggregator(maxContentLength: 1024), KeyReplyHandler(promise))
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
            // This has no effect if the promise was kept before.
            promise.fail(error)
            throw error
        }
    }
}

/// The time of exchanges beyond the time that the server held them back: the delay that this machine adds.
final class ExchangeOverhead: Sendable {
    private let list = Mutex<[UInt64]>([])

    /// The times in nanoseconds of the machine's clock, in the order in which exchanges ended.
    var nanoseconds: [UInt64] { list.withLock { $0 } }

    func note(_ time: Duration, held: UInt64) {
        let all = KeyTiming.nanoseconds(time)
        list.withLock { $0.append(all - min(all, held)) }
    }
}

/// Waits for one answer.
private final class KeyReplyHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull

    private let promise: EventLoopPromise<NIOHTTPClientResponseFull>

    init(_ promise: EventLoopPromise<NIOHTTPClientResponseFull>) {
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        promise.succeed(unwrapInboundIn(data))
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

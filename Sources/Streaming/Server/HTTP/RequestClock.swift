#if Network
import NIOCore

/// Knows since when a request has been coming, however its bytes are spread over that time.
///
/// Stands below TLS and the parser: neither a handshake nor a header that comes byte by byte reaches those above.
final class RequestClock: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// When the first byte came, or the connection; `nil` where no request is coming.
    private(set) var since: NIODeadline?

    func channelActive(context: ChannelHandlerContext) {
        start(context.eventLoop.now)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        start(context.eventLoop.now)
        context.fireChannelRead(data)
    }

    /// Something of a request has come.
    func start(_ now: NIODeadline) { if since == nil { since = now } }

    /// A request has come to its end.
    func stop() { since = nil }

    /// Counts from now on, if a request is coming.
    func restart(_ now: NIODeadline) { if since != nil { since = now } }
}

@available(*, unavailable)
extension RequestClock: Sendable {}
#endif

#if Network
import NIOCore

/// Measures the time since a request began to arrive, however its bytes are spread over that time.
///
/// The handler stands below TLS and the parser, because the handlers above see neither a handshake nor a header that
/// arrives byte by byte.
final class RequestClock: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The time of the first byte, or of the connection's start; `nil` while no request is arriving.
    private(set) var since: NIODeadline?

    func channelActive(context: ChannelHandlerContext) {
        start(context.eventLoop.now)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        start(context.eventLoop.now)
        context.fireChannelRead(data)
    }

    /// Starts the clock at the first bytes of a request.
    func start(_ now: NIODeadline) { if since == nil { since = now } }

    /// Stops the clock at the end of a request.
    func stop() { since = nil }

    /// Restarts the clock, if a request is arriving.
    func restart(_ now: NIODeadline) { if since != nil { since = now } }
}

@available(*, unavailable)
extension RequestClock: Sendable {}
#endif

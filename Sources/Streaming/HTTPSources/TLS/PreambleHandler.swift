#if Network
import NIOCore

/// Keeps a server's first bytes, before the TLS library sees them.
final class PreambleHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private(set) var preamble = PeerPreamble()
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Sends bytes as they are, past the TLS library.
    func send(_ text: String) {
        guard let context else { return }
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(string: text)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        preamble.append(buffer.readableBytesView, count: buffer.readableBytes)
        context.fireChannelRead(data)
    }
}
#endif

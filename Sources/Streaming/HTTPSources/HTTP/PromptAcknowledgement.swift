#if Network
import Glibc
import NIOCore

/// Has the system acknowledge at once what comes.
///
/// Otherwise it waits up to 40 ms, for more to come that could be acknowledged with it. On loopback, whose segments have
/// 64 KiB, a server meanwhile waits for space for the next one: reading a gigabyte in ranges of 1 MiB took ten times as
/// long. The option does not last, and so is set after each read.
///
/// - Source: tcp(7), `TCP_QUICKACK`.
final class PromptAcknowledgement: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        ask(context.channel)
        context.fireChannelActive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        ask(context.channel)
        context.fireChannelReadComplete()
    }

    private func ask(_ channel: any Channel) {
        #if os(Linux)
        // What cannot be had is not needed.
        try? channel.syncOptions?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_QUICKACK)), value: 1)
        #endif
    }
}
#endif

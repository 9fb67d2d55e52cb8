// The max that a server on NIO can do: reads heads, and answers each with the same 4 KiB, which are ready. For comparison
// with `chunkwise serve` only; see Benchmarks/compare-with-nginx.
//
// usage: fixed-answer PORT [--ready]    on 127.0.0.1; heads are written by NIO, or are ready as well
import NIOCore
import NIOHTTP1
import NIOPosix

/// Answers with a head that NIO writes.
final class WrittenHead: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    static let head = HTTPResponseHead(
        version: .http1_1, status: .partialContent,
        headers: [
            "Accept-Ranges": "bytes", "Cache-Control": "no-store", "Content-Length": "4096",
            "Content-Range": "bytes 0-4095/268435456", "Content-Type": "application/octet-stream",
            "Date": "Fri, 27 Nov 2026 02:00:00 GMT", "ETag": "\"0123456789abcdef0123456789abcdef\"",
        ])
    static let body = ByteBuffer(repeating: 7, count: 4096)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        context.write(wrapOutboundOut(.head(Self.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(Self.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// Answers with bytes.
final class ReadyHead: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    static let answer: ByteBuffer = {
        let lines = ["HTTP/1.1 206 Partial Content"] + WrittenHead.head.headers.map { "\($0.name): \($0.value)" }
        var answer = ByteBuffer(string: lines.map { $0 + "\r\n" }.joined() + "\r\n")
        answer.writeImmutableBuffer(WrittenHead.body)
        return answer
    }()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        context.writeAndFlush(wrapOutboundOut(Self.answer), promise: nil)
    }
}

let arguments = CommandLine.arguments.dropFirst()
let isReady = arguments.contains("--ready")
let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .serverChannelOption(.backlog, value: 256)
    .childChannelOption(.maxMessagesPerRead, value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if !isReady { try pipeline.addHandler(HTTPResponseEncoder()) }
            try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            try pipeline.addHandler(isReady ? ReadyHead() : WrittenHead())
        }
    }
    .bind(host: "127.0.0.1", port: arguments.first.flatMap { Int($0) } ?? 0).wait()
try server.closeFuture.wait()

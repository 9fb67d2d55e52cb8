import NIOCore
import NIOHTTP1
import RandomAccess

/// Answers requests for ranges on one connection, one after the other, as fast as the client takes them.
final class CiphertextHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// An answer that is under way.
    private struct Answer {
        var source: any ByteSource
        var rest: Range<UInt64>
        var closes: Bool
    }

    private static let pieceByteCount = 256 << 10

    private let contents: CiphertextServer.Contents
    private var request: HTTPRequestHead?
    private var answer: Answer?

    init(_ contents: CiphertextServer.Contents) {
        self.contents = contents
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end:
            guard let request else { return }
            self.request = nil
            start(request, context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        proceed(context)
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func start(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let source = Int(request.uri.dropFirst()).flatMap { contents[$0] }
        var fields = HTTPHeaders([("Accept-Ranges", "bytes")])
        let closes = !request.isKeepAlive
        if closes { fields.add(name: "Connection", value: "close") }
        guard let source else { return finish(.notFound, fields, closes: closes, context) }
        fields.add(name: "ETag", value: "\"\(source.byteCount)\"")
        guard let range = Self.range(request.headers.first(name: "Range") ?? "", of: source.byteCount) else {
            fields.add(name: "Content-Range", value: "bytes */\(source.byteCount)")
            return finish(.rangeNotSatisfiable, fields, closes: closes, context)
        }
        fields.add(
            name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(source.byteCount)")
        fields.add(name: "Content-Length", value: "\(range.upperBound - range.lowerBound)")
        let head = HTTPResponseHead(version: .http1_1, status: .partialContent, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        answer = Answer(source: source, rest: range, closes: closes)
        proceed(context)
    }

    /// Writes pieces as long as the client takes them.
    private func proceed(_ context: ChannelHandlerContext) {
        while var answer, context.channel.isWritable {
            guard !answer.rest.isEmpty else {
                self.answer = nil
                end(closes: answer.closes, context)
                return
            }
            var buffer = context.channel.allocator.buffer(capacity: Self.pieceByteCount)
            let wanted = Int(min(UInt64(Self.pieceByteCount), UInt64(answer.rest.count)))
            let count = try? buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { room in
                try answer.source.read(
                    at: answer.rest.lowerBound,
                    into: FetchBuffers(UnsafeMutableRawBufferPointer(rebasing: room[..<wanted])))
            }
            guard let count, count > 0 else {
                // The client sees that bytes are missing.
                self.answer = nil
                context.close(promise: nil)
                return
            }
            answer.rest = answer.rest.lowerBound + UInt64(count)..<answer.rest.upperBound
            self.answer = answer
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
    }

    private func finish(
        _ status: HTTPResponseStatus, _ fields: HTTPHeaders, closes: Bool, _ context: ChannelHandlerContext
    ) {
        var fields = fields
        fields.add(name: "Content-Length", value: "0")
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        end(closes: closes, context)
    }

    private func end(closes: Bool, _ context: ChannelHandlerContext) {
        let promise = closes ? context.eventLoop.makePromise(of: Void.self) : nil
        let channel = context.channel
        promise?.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    }

    /// The range that a field asks for, cut at the end; `nil` for none that there is.
    private static func range(_ field: String, of byteCount: UInt64) -> Range<UInt64>? {
        let ends = field.dropFirst("bytes=".count).split(separator: "-")
        guard field.hasPrefix("bytes="), ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]),
            first <= last, first < byteCount
        else { return nil }
        return first..<min(last, byteCount - 1) + 1
    }
}

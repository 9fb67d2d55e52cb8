#if Network
import ByteSources
import Glibc
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import RandomAccess
@testable import Server
import Synchronization
import Testing

/// Notes whether an event loop had to wait for it.
private final class NotingReader: RandomAccessDecryptor, Sendable {
    static let byteCount = 100_000
    let isOnLoop = Mutex<[Bool]>([])

    var plaintextByteCount: UInt64 { UInt64(Self.byteCount) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        isOnLoop.withLock { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: Int(offset) + index) }
        return buffer.count
    }

    func checkVersion() {}
}

private func content(
    _ makeReader: @escaping @Sendable () throws(DecryptionError) -> any RandomAccessDecryptor
) -> ServedContent {
    ServedContent(
        contentType: "video/mp4", byteCount: UInt64(NotingReader.byteCount), entityTag: EntityTag(of: ["a"]),
        modified: nil, makeReader: makeReader)
}

/// One content under every name, which counts how often it was looked up.
private final class NotingCatalogue: ContentCatalogue {
    let lookupCount = Mutex(0)
    let isCurrent = Mutex(true)
    let found: ServedContent

    init(_ content: ServedContent) {
        found = content
    }

    func content(at path: [String]) -> ServedContent? {
        lookupCount.withLock { $0 += 1 }
        var content = found
        content.isCurrent = { self.isCurrent.withLock { $0 } }
        return content
    }

    func listing() -> [[String]] { [] }
}

/// Answers with what it was asked, later.
private final class WaitingResponder: Responder {
    let asked = Mutex<[(String, Exchange)]>([])

    var keptBodyByteCount: Int { 8 }

    func respond(to request: Request, _ exchange: Exchange) {
        asked.withLock { $0.append((request.head.path ?? "", exchange)) }
    }

    /// Answers the request that came first.
    func answer() {
        guard let (path, exchange) = asked.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        exchange.send(.page(ByteBuffer(string: path), type: "text/plain"))
    }
}

@Suite("connections of a server")
struct ServedConnectionTests {
    @Test(
        "what may wait for a disk is read apart from the event loops, and all else on them", arguments: [false, true])
    func waiting(mayWait: Bool) async throws {
        var limits = ServerLimits()
        limits.windowByteCount = ServerLimits.minWindowByteCount
        let reader = NotingReader()
        var content = content { () throws(DecryptionError) in reader }
        // The first window is there in either case.
        content.mayWait = { mayWait && $0.lowerBound > 10 }
        let answer = try await answers(NotingCatalogue(content), limits, ["10-89999"])
        #expect(answer.suffix(89_990).elementsEqual((10..<90_000).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(reader.isOnLoop.withLock { $0 } == [true] + [Bool](repeating: !mayWait, count: 2))
    }

    @Test("what was asked for a moment ago is answered on the event loop, as long as it is there", arguments: [1, 2])
    func known(_ round: Int) async throws {
        let reader = NotingReader()
        let catalogue = NotingCatalogue(content { () throws(DecryptionError) in reader })
        if round == 2 { catalogue.isCurrent.withLock { $0 = false } }
        let answer = try await answers(catalogue, ServerLimits(), ["0-9", "10-19"])
        #expect(answer.suffix(10).elementsEqual(10..<20))
        // A look-up may take longer than what was found is kept for.
        if round == 2 { #expect(catalogue.lookupCount.withLock { $0 } == 2) }
        #expect(reader.isOnLoop.withLock { $0.count } == 2)
        #expect(reader.isOnLoop.withLock { $0.first } == false)
    }

    @Test("what is known is found by its path, at most so many, and not when another is there")
    func knownContents() {
        let (known, loop) = (KnownContents(), EmbeddedEventLoop())
        var content = content { () throws(DecryptionError) in NotingReader() }
        known.note(content, at: ["a"], loop)
        #expect(known.content(at: ["a"]) == nil, "it cannot be found out whether it is current")
        let isCurrent = Mutex(true)
        content.isCurrent = { isCurrent.withLock { $0 } }
        for index in 0..<20 { known.note(content, at: ["\(index)"], loop) }
        #expect((0..<20).filter { known.content(at: ["\($0)"]) != nil } == Array(0..<8))
        isCurrent.withLock { $0 = false }
        #expect(known.content(at: ["0"]) == nil)
        isCurrent.withLock { $0 = true }
        loop.advanceTime(by: .seconds(2))
        #expect(known.content(at: ["0"]) == nil)
        known.note(content, at: ["20"], loop)
        #expect(known.content(at: ["20"]) != nil)
    }

    @Test("short ranges come at once as long as there is space, and those that fail take none")
    func short() throws {
        let byteCount = UInt64(PlaintextBody.shortByteCount)
        var limits = ServerLimits()
        // An eighth of what is free holds two of them.
        limits.bufferByteCount = 9 * PlaintextBody.shortByteCount
        let pool = BufferPool(limits: limits)
        let reader = NotingReader()
        let content = content { () throws(DecryptionError) in reader }
        func body(_ range: Range<UInt64>, of content: ServedContent) -> PlaintextBody {
            let body = PlaintextBody(range, of: content, pool: pool)
            body.fillIfShort(mayWait: true)
            return body
        }
        func readCount() -> Int { reader.isOnLoop.withLock { $0.count } }
        #expect(try body(5..<15, of: content).next() == ByteBuffer(bytes: (5..<15).map { UInt8($0) }))
        _ = body(0..<byteCount + 1, of: content)
        #expect(readCount() == 1)
        do {
            let first = body(0..<byteCount, of: content)
            let second = body(0..<byteCount, of: content)
            #expect(readCount() == 3)
            let third = body(0..<byteCount, of: content)
            #expect(readCount() == 3)
            #expect(try first.next().readableBytes == Int(byteCount) && first.isAtEnd)
            #expect(try third.next().readableBytes < Int(byteCount), "a window is shorter where there is less space")
            withExtendedLifetime((second, third)) {}
        }
        let failing = self.failing
        for _ in 0..<100 { #expect(throws: DecryptionError.invalidPadding) { try body(0..<10, of: failing).next() } }
        #expect(!pool.enter(exactly: PlaintextBody.shortByteCount + PlaintextBody.shortByteCount / 8 + 1))
        #expect(pool.enter(exactly: PlaintextBody.shortByteCount))
    }

    @Test("a reader without space stays while its client takes windows; one whose client does not gives its space back")
    func readers() throws {
        var limits = ServerLimits()
        limits.windowByteCount = ServerLimits.minWindowByteCount
        let pool = BufferPool(limits: limits)
        let openCount = Mutex(0)
        var content = content { () throws(DecryptionError) in
            openCount.withLock { $0 += 1 }
            return NotingReader()
        }
        // One of them has space.
        content.readerByteCount = UInt64(limits.bufferByteCount / 3)
        let bodies = (0..<2).map { _ in PlaintextBody(0..<100_000, of: content, pool: pool) }
        for body in bodies { for _ in 0..<2 { _ = try body.next() } }
        #expect(openCount.withLock { $0 } == 2)
        for body in bodies {
            body.pause()
            _ = try body.next()
        }
        #expect(openCount.withLock { $0 } == 3)
        bodies[0].release()
        for body in bodies {
            _ = try body.next()
            body.pause()
        }
        #expect(bodies.allSatisfy(\.isAtEnd) && openCount.withLock { $0 } == 4)
        #expect(!pool.reserve(content.readerByteCount), "the second one has the space")
    }

    private var failing: ServedContent { content { () throws(DecryptionError) in throw .invalidPadding } }

    @Test("requests that come at once are answered in their order, and what is behind them is refused then")
    func pipelined() throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        let requests = (0..<3).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
        try channel.writeInbound(ByteBuffer(string: requests + "garbage\r\n\r\n"))
        #expect(responder.asked.withLock { $0.map(\.0) } == ["/0"])
        #expect(try sent(channel) == "")
        for index in 0..<3 {
            responder.answer()
            let text = try sent(channel)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\n\r\n/\(index)"))
            #expect(text.contains("400 Bad Request") == (index == 2))
        }
        #expect(responder.asked.withLock { $0.isEmpty })
    }

    @Test("ten thousand requests at once need no stack")
    func many() throws {
        struct QuickResponder: Responder {
            var keptBodyByteCount: Int { 0 }
            func respond(to request: Request, _ exchange: Exchange) {
                exchange.send(.page(ByteBuffer(string: "b"), type: "text/plain"))
            }
        }
        let channel = try connection(QuickResponder())
        let requests = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 10_000)
        try channel.writeInbound(ByteBuffer(string: requests))
        let text = try sent(channel)
        #expect(text.split(separator: "HTTP/1.1 200 OK").count == 10_000)
    }

    @Test("a body that is not clear is refused, unless its answer is under way", arguments: [false, true])
    func brokenBody(isAnswered: Bool) throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        try channel.writeInbound(
            ByteBuffer(string: "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"))
        if isAnswered { responder.answer() }
        try channel.writeInbound(ByteBuffer(string: "x\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n"))
        responder.answer()
        let text = try sent(channel)
        #expect(text.contains("200 OK") == isAnswered && text.contains("400 Bad Request") != isAnswered)
        #expect(!text.contains("/b") && !channel.isActive)
    }

    @Test("bodies are given on up to their limit, whole", arguments: [0, 8, 9])
    func bodies(_ count: Int) throws {
        final class Asked: Responder {
            let body = Mutex<EventLoopFuture<ByteBuffer>?>(nil)
            var keptBodyByteCount: Int { 8 }
            func respond(to request: Request, _ exchange: Exchange) { body.withLock { $0 = request.body } }
        }
        let responder = Asked()
        let channel = try connection(responder)
        let text = String(repeating: "c", count: count)
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"))
        for byte in text { try channel.writeInbound(ByteBuffer(string: "\(byte)")) }
        let body = responder.body.withLock { $0 }
        #expect((body == nil) == (count > 8))
        #expect(try body?.wait() ?? ByteBuffer(string: text) == ByteBuffer(string: text))
        // One whose client goes away fails.
        let other = try connection(responder)
        try other.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"))
        let cut = try #require(responder.body.withLock { $0 })
        try other.close().wait()
        #expect(throws: (any Error).self) { try cut.wait() }
    }

    private func connection(_ responder: any Responder) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let setup = HTTPConnection.Setup(
            limits: ServerLimits(), tls: nil, lookups: NIOThreadPool(numberOfThreads: 1), responder: responder)
        try setup.addHandlers(to: channel.pipeline.syncOperations, address: "127.0.0.1")
        return channel
    }

    private func sent(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    /// Asks a server for ranges, one after the other, and gives all bytes of its answers.
    private func answers(
        _ catalogue: NotingCatalogue, _ limits: ServerLimits, _ ranges: [String]
    ) async throws -> [UInt8] {
        var server = RangeServer(catalogue: catalogue, token: nil)
        server.limits = limits
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let running = Task { [server] in
            try await server.run(host: ListeningHost("127.0.0.1"), port: 0) { continuation.yield($0) }
        }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let answer = try await NIOThreadPool.singleton.runIfActive { try Self.answers(from: port, ranges) }
        running.cancel()
        try await running.value
        return answer
    }

    private static func answers(from port: Int, _ ranges: [String]) throws -> [UInt8] {
        let collector = Collector()
        let client = try ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { $0.pipeline.addHandler(collector) }
            .connect(host: "127.0.0.1", port: port).wait()
        for (index, range) in ranges.enumerated() {
            let end = index == ranges.count - 1 ? "Connection: close\r\n" : ""
            let request = "GET /a HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\(range)\r\n\(end)\r\n"
            try client.writeAndFlush(ByteBuffer(string: request)).wait()
        }
        try client.closeFuture.wait()
        return collector.bytes
    }
}

/// Keeps what comes.
private final class Collector: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    var bytes: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { bytes += unwrapInboundIn(data).readableBytesView }
}
#endif

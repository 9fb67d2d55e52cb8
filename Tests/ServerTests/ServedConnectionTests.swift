#if Network
import ByteSources
import Glibc
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

/// Answers with the path that it was asked for, later.
private final class WaitingResponder: Responder {
    let asked = Mutex<[(Request, Exchange)]>([])

    var keptBodyByteCount: Int { 8 }

    func respond(to request: Request, _ exchange: Exchange) { asked.withLock { $0.append((request, exchange)) } }

    /// Answers the request that came first.
    func answer() {
        guard let (request, exchange) = asked.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        exchange.send(.page(ByteBuffer(string: request.target), type: "text/plain"))
    }
}

private struct QuickResponder: Responder {
    var keptBodyByteCount: Int { 0 }

    func respond(to request: Request, _ exchange: Exchange) {
        exchange.send(.page(ByteBuffer(string: "b"), type: "text/plain"))
    }
}

/// Counts how often a channel is to read.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = Never
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// Takes nothing until it takes everything.
private final class StalledClient: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { promises.append(promise) }
    }

    func take() {
        for promise in promises { promise.succeed(()) }
        promises = []
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
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

    @Test("a short range that cannot be read has a status, and no head before it")
    func unreadable() async throws {
        let answer = try await answers(NotingCatalogue(failing), ServerLimits(), ["0-9"])
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 500 ") && text.split(separator: "HTTP/1.1").count == 1, "\(text)")
    }

    @Test("what is known is found by its target, at most so many, and not when another is there")
    func knownContents() {
        let (known, loop) = (KnownContents(), EmbeddedEventLoop())
        var content = content { () throws(DecryptionError) in NotingReader() }
        known.note(FoundContent(content: content, name: "a"), at: "/a", loop)
        #expect(known.content(at: "/a") == nil, "it cannot be found out whether it is current")
        let isCurrent = Mutex(true)
        content.isCurrent = { isCurrent.withLock { $0 } }
        for index in 0..<20 { known.note(FoundContent(content: content, name: "\(index)"), at: "/\(index)", loop) }
        #expect((0..<20).filter { known.content(at: "/\($0)") != nil } == Array(0..<8))
        isCurrent.withLock { $0 = false }
        #expect(known.content(at: "/0") == nil)
        isCurrent.withLock { $0 = true }
        loop.advanceTime(by: .seconds(2))
        #expect(known.content(at: "/0") == nil)
        known.note(FoundContent(content: content, name: "20"), at: "/20", loop)
        #expect(known.content(at: "/20")?.name == "20")
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
        func body(_ range: Range<UInt64>, of content: ServedContent) throws(DecryptionError) -> PlaintextBody {
            let body = PlaintextBody(range, of: FoundContent(content: content, name: "a"), pool: pool)
            try body.fillIfShort(mayWait: true)
            return body
        }
        func readCount() -> Int { reader.isOnLoop.withLock { $0.count } }
        #expect(try body(5..<15, of: content).next() == ByteBuffer(bytes: (5..<15).map { UInt8($0) }))
        _ = try body(0..<byteCount + 1, of: content)
        #expect(readCount() == 1)
        do {
            let first = try body(0..<byteCount, of: content)
            let second = try body(0..<byteCount, of: content)
            #expect(readCount() == 3)
            let third = try body(0..<byteCount, of: content)
            #expect(readCount() == 3)
            #expect(try first.next().readableBytes == Int(byteCount) && first.isAtEnd)
            #expect(try third.next().readableBytes < Int(byteCount), "a window is shorter where there is less space")
            withExtendedLifetime((second, third)) {}
        }
        let failing = self.failing
        for _ in 0..<100 { #expect(throws: DecryptionError.invalidPadding) { try body(0..<10, of: failing) } }
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
        let found = FoundContent(content: content, name: "a")
        let bodies = (0..<2).map { _ in PlaintextBody(0..<100_000, of: found, pool: pool) }
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
        withExtendedLifetime(bodies) {
            #expect(!pool.reserve(content.readerByteCount), "the second one has the space")
        }
    }

    private var failing: ServedContent { content { () throws(DecryptionError) in throw .invalidPadding } }

    @Test("requests that come at once are answered in their order, and what is behind them is refused then")
    func pipelined() throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        let requests = (0..<3).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
        try channel.writeInbound(ByteBuffer(string: requests + "garbage\r\n\r\n"))
        #expect(responder.asked.withLock { $0.map(\.0.target) } == ["/0"])
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

    @Test("a client that takes no answers is given none, and gets all of them when it does")
    func unread() throws {
        let channel = try connection(QuickResponder())
        channel.isWritable = false
        try channel.writeInbound(
            ByteBuffer(string: String(repeating: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)))
        #expect(try sent(channel) == "")
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(try sent(channel).split(separator: "HTTP/1.1 200 OK").count == 100)
    }

    @Test("what is sent ahead is bounded, and the answer that is under way is finished")
    func sentAhead() throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        for _ in 0..<50 {
            try channel.writeInbound(
                ByteBuffer(string: String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)))
        }
        responder.answer()
        #expect(try sent(channel).split(separator: "HTTP/1.1 200 OK").count == 1)
        #expect(responder.asked.withLock { $0.isEmpty } && !channel.isActive)
    }

    @Test(
        "a request that came in part behind another one is read on, and fails where its client ends",
        arguments: [true, false])
    func split(isWhole: Bool) throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        let reads = ReadCounter()
        try channel.pipeline.syncOperations.addHandler(reads, position: .first)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: head + "abc" + head + "d"))
        channel.read()
        #expect(reads.count == 0 && responder.asked.withLock { $0.count } == 1)
        responder.answer()
        #expect(reads.count == 1)
        let body = try #require(responder.asked.withLock { $0.first?.0.body })
        if isWhole {
            try channel.writeInbound(ByteBuffer(string: "ef"))
            #expect(try body.wait() == ByteBuffer(string: "def"))
            responder.answer()
            #expect(try sent(channel).split(separator: "HTTP/1.1 200 OK").count == 2)
        } else {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            #expect(throws: (any Error).self) { try body.wait() }
            #expect(!channel.isActive)
        }
    }

    @Test("a request that does not come is waited for as long as limits say", arguments: ["", "GET / HT", "two"])
    func times(_ text: String) throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        var limits = ServerLimits()
        limits.idleMilliseconds = 60_000
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: text == "two" ? head + "abc" + head : text))
        if text == "two" {
            // An answer takes as long as it takes.
            channel.embeddedEventLoop.advanceTime(by: .seconds(500))
            responder.answer()
        }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(limits.requestMilliseconds - 10))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(limits.requestMilliseconds / 8 + 10))
        #expect(!channel.isActive)
    }

    @Test("the last answer has as much time as any, also where it was begun before its request's end")
    func lastAnswer() throws {
        let channel = try connection(QuickResponder())
        let client = StalledClient()
        try channel.pipeline.syncOperations.addHandler(client, position: .first)
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        #expect(channel.isActive)
        client.take()
        #expect(!channel.isActive)
        // Nothing is waited for longer than a connection may be idle.
        let other = try connection(QuickResponder())
        try other.pipeline.syncOperations.addHandler(StalledClient(), position: .first)
        try other.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
        other.embeddedEventLoop.advanceTime(by: .seconds(70))
        #expect(!other.isActive)
    }

    @Test("a listener that the system has ended is followed by another one, for the same port and the same limit")
    func listeners() async throws {
        var limits = ServerLimits()
        limits.connectionCount = 1
        let (listeners, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        var service = HTTPService(limits: limits, tls: nil)
        service.onListening = { continuation.yield($0) }
        let running = Task { [service] in
            try await service.run(host: ListeningHost("127.0.0.1"), port: 0, onStart: { _ in }) { _ in QuickResponder()
            }
        }
        var iterator = listeners.makeAsyncIterator()
        let first = try #require(await iterator.next())
        let port = try #require(first.localAddress?.port)
        let early = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        let answer = { try await NIOThreadPool.singleton.runIfActive { try Self.answers(from: port, ["0-1"]) } }
        try await first.close()
        #expect(await iterator.next()?.localAddress?.port == port)
        // It may come once there is space. A connection that was not accepted yet has gone with the first listener.
        try? await early.close()
        #expect(String(decoding: try await answer(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
        running.cancel()
        try await running.value
    }

    @Test("bodies are given on up to their limit, whole", arguments: [0, 8, 9])
    func bodies(_ count: Int) throws {
        let responder = WaitingResponder()
        let channel = try connection(responder)
        let text = String(repeating: "c", count: count)
        try channel.writeInbound(
            ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"))
        for byte in text { try channel.writeInbound(ByteBuffer(string: "\(byte)")) }
        let body = responder.asked.withLock { $0.last?.0.body }
        #expect((body == nil) == (count > 8))
        #expect(try body?.wait() ?? ByteBuffer(string: text) == ByteBuffer(string: text))
        // One whose client goes away fails.
        let other = try connection(responder)
        try other.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"))
        let cut = try #require(responder.asked.withLock { $0.last?.0.body })
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

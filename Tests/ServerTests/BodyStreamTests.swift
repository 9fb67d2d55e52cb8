#if Network
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import RandomAccess
@testable import Server
import Synchronization
import Testing

/// Counts what it reads, and notes whether an event loop had to wait for it.
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

private struct KeepingWriter: ResponseBodyWriter {
    var bytes: [UInt8] = []

    mutating func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

@Suite("bodies of answers")
struct BodyStreamTests {
    @Test(
        "what may wait for a disk is read apart from the event loops, and all else on them", arguments: [false, true])
    func waiting(mayWait: Bool) async throws {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        var limits = ServerLimits()
        limits.windowByteCount = ServerLimits.minWindowByteCount
        let reader = NotingReader()
        var content = content { () throws(DecryptionError) in reader }
        // The first window is there in either case.
        content.mayWait = { mayWait && $0.lowerBound > 10 }
        let stream = BodyStream(pool: BufferPool(limits: limits), waiting: threads)
        let loop = EventLoopExecutor(eventLoop: MultiThreadedEventLoopGroup.singleton.any())
        let sent = try await Task(executorPreference: loop) { [content] in
            var writer = KeepingWriter()
            try await stream.send(10..<90_000, of: content, to: &writer) { _ in }
            return writer.bytes
        }.value
        #expect(sent == (10..<90_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(reader.isOnLoop.withLock { $0 } == [true] + [Bool](repeating: !mayWait, count: 2))
        try await threads.shutdownGracefully()
    }

    @Test("short ranges come at once as long as there is space, and those that fail take none")
    func short() async throws {
        let byteCount = BodyStream.shortByteCount
        var limits = ServerLimits()
        // An eighth of what is free holds two of them.
        limits.bufferByteCount = 9 * byteCount
        let pool = BufferPool(limits: limits)
        let threads = NIOThreadPool(numberOfThreads: 1)
        let stream = BodyStream(pool: pool, waiting: threads)
        let failing = content { () throws(DecryptionError) in throw .invalidPadding }
        for _ in 0..<100 { #expect(stream.short(0..<10, of: failing) == nil) }
        let content = content { () throws(DecryptionError) in NotingReader() }
        #expect(stream.short(0..<UInt64(byteCount) + 1, of: content) == nil)
        let first = try #require(stream.short(5..<15, of: content))
        #expect(Array(first.readableBytesView) == (5..<15).map { UInt8($0) })
        #expect(stream.short(0..<UInt64(byteCount), of: content)?.readableBytes == byteCount)
        #expect(stream.short(0..<10, of: content) == nil)
        pool.leave(byteCount)
        #expect(stream.short(0..<10, of: content) != nil)
        try await threads.shutdownGracefully()
    }

    private func content(
        _ makeReader: @escaping @Sendable () throws(DecryptionError) -> any RandomAccessDecryptor
    ) -> ServedContent {
        ServedContent(
            contentType: "video/mp4", byteCount: UInt64(NotingReader.byteCount), entityTag: EntityTag(of: ["a"]),
            modified: nil, makeReader: makeReader)
    }
}
#endif

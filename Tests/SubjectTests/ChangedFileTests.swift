import BackendRegistry
import ByteSources
import RandomAccess
import Subject
import SubjectProtocol
import Support
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A source whose file is changed before one of the reads.
private final class ChangedMeanwhile: WrappingSource {
    let base: any ByteSource
    private let change: @Sendable () -> Void
    private let readsBefore: Mutex<Int?>

    init(_ base: any ByteSource, change: @escaping @Sendable () -> Void) {
        self.base = base
        self.change = change
        self.readsBefore = Mutex(nil)
    }

    /// Changes the file after so many reads more.
    func arm(after readCount: Int) { readsBefore.withLock { $0 = readCount } }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let isDue = readsBefore.withLock { count in
            defer { count = count.map { $0 - 1 } }
            return count == 0
        }
        if isDue { change() }
        return try base.read(at: offset, into: buffers)
    }
}

/// Keeps nothing.
private final class ForgetfulSink: ByteSink {
    let isSeekable = true
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {}
    func commit() {}
}

@Suite("files that change while they are read")
struct ChangedFileTests {
    private static let iv = Block(bigEndianValue: 42)

    /// An operation that says at its end that it succeeded.
    enum Operation: CaseIterable {
        case answer, digest, time, latencies, openLoop, transfer
    }

    @Test("no operation succeeds", arguments: FileChange.allCases, Operation.allCases)
    func operations(change: FileChange, operation: Operation) throws {
        for (threadCount, readCount) in [(1, 0), (1, 5), (3, 5)] {
            for strategy in [Strategy.ctr(iv: Self.iv), .cbcContinuous(iv: Self.iv, padding: .pkcs7)] {
                let folder = try TemporaryFolder()
                let opened = Mutex<ChangedMeanwhile?>(nil)
                let subject = try openSubject(
                    Samples.bytes(2000), strategy, threadCount: threadCount, folder: folder
                ) { source in
                    let path = folder.path("object")
                    let wrapped = ChangedMeanwhile(source) { try? change.apply(to: path) }
                    opened.withLock { $0 = wrapped }
                    return wrapped
                }
                let source = try #require(opened.withLock { $0 })
                func run() throws { try Self.run(operation, subject, source, strategy, threadCount) }
                try run()
                source.arm(after: readCount)
                #expect(throws: DecryptionError.self, "\(strategy), \(threadCount) threads, read \(readCount)") {
                    try run()
                }
            }
        }
    }

    private static func run(
        _ operation: Operation, _ subject: ReaderSubject, _ source: any ByteSource, _ strategy: Strategy,
        _ threadCount: Int
    ) throws {
        let reads: Workload = .random(rangeByteCount: 100, seed: 9, readCount: 30)
        func measure(_ collect: String, _ members: [String: JSONValue]) throws {
            _ = try subject.measure(
                id: 1,
                request: .object(
                    ["workload": reads.json, "collect": .string(collect)].merging(members) { $1 }))
        }
        switch operation {
        case .answer:
            for index in 0..<10 { _ = try subject.read(id: 1, offset: UInt64(100 * index), count: 100) }
        case .digest: try measure("digest", [:])
        case .time: try measure("time", ["minimumNanoseconds": 1, "maximumIterations": 1])
        case .latencies: try measure("latencies", [:])
        case .openLoop:
            try measure(
                "openLoop", ["extended": true, "arrivals": "fixed:20000", "arrivalSeed": 1, "readCount": 30])
        case .transfer:
            let object = try EncryptedObject(
                source: source, strategy: strategy, backend: BackendRegistry.backend(named: "libgcrypt"),
                key: SecretKey(Samples.bytes(16)))
            try RangeTransfer(object: object, range: 0..<2000, windowByteCount: 64)
                .run(to: ForgetfulSink(), threadCount: threadCount)
        }
    }

    @Test("a source that is pinned notices at the first read", arguments: FileChange.allCases)
    func pinned(change: FileChange) throws {
        let folder = try TemporaryFolder()
        let source = PinnedSource(try FileSource(path: FilePath(folder.file("object", Samples.bytes(1000)))))
        let cursor = try EncryptedObject(
            source: source, strategy: .ctr(iv: Self.iv), backend: BackendRegistry.backend(named: "libgcrypt"),
            key: SecretKey(Samples.bytes(16))
        ).makeCursor()
        withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
            #expect(throws: Never.self) { try cursor.read(at: 0, into: buffer) }
            #expect(throws: Never.self) { try change.apply(to: folder.path("object")) }
            #expect(throws: DecryptionError.self) { try cursor.read(at: 0, into: buffer) }
        }
    }
}

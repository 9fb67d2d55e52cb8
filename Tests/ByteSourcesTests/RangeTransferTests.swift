import ByteSources
import Glibc
import RandomAccess
import SwiftAESBackend
import SystemPackage
import TestSupport
import Testing

/// Encrypts with the backend that the other tests compare with published answers.
private func ciphertext(of plaintext: [UInt8], _ strategy: Strategy, key: SecretKey) throws -> [UInt8] {
    var ciphertext: [UInt8] = []
    let encryptor = try ObjectEncryptor(strategy: strategy, backend: SwiftReference(), key: key)
    try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
    try encryptor.finish { ciphertext += $0 }
    return ciphertext
}

@Suite("range transfers")
struct RangeTransferTests {
    private static let iv = Block(bigEndianValue: .max - 1)
    static let strategies: [Strategy] =
        Padding.allCases.flatMap { padding in
            [.cbcContinuous(iv: iv, padding: padding)]
                + IVRule.allCases.map { .cbcChunked(chunkByteCount: 48, iv: iv, ivRule: $0, padding: padding) }
        } + [.ctr(iv: iv)]

    private let key: SecretKey
    private let plaintext: [UInt8]

    init() throws {
        key = try SecretKey(Samples.bytes(16))
        plaintext = Samples.bytes(208, seed: 3)
    }

    private func object(
        _ strategy: Strategy, wrap: (any ByteSource) throws -> any ByteSource = { $0 }
    ) throws -> EncryptedObject {
        try EncryptedObject(
            source: wrap(MemorySource(try ciphertext(of: plaintext, strategy, key: key))), strategy: strategy,
            backend: SwiftReference(), key: key)
    }

    @Test(
        "any range, window and number of threads gives the slice of the plaintext, in order and out of order",
        arguments: strategies, [1, 2, 4])
    func everyTransfer(strategy: Strategy, threadCount: Int) throws {
        let object = try object(strategy)
        #expect(object.plaintextByteCount == 208)
        let ranges: [Range<UInt64>] = [
            0..<208, 0..<0, 208..<208, 0..<1, 207..<208, 15..<17, 47..<49, 33..<190, 96..<144,
        ]
        for windowByteCount in [1, 7, 16, 17, 48, 100, 207, 208, 1 << 20] {
            for range in ranges {
                let expected = Array(plaintext[Int(range.lowerBound)..<Int(range.upperBound)])
                for isSeekable in [false, true] {
                    let sink = MemorySink(isSeekable: isSeekable, byteCount: range.count)
                    try RangeTransfer(object: object, range: range, windowByteCount: windowByteCount)
                        .run(to: sink, threadCount: threadCount)
                    let difference = Samples.difference(sink.bytes, expected)
                    #expect(difference == nil, "\(range) in windows of \(windowByteCount), seekable: \(isSeekable)")
                }
            }
        }
    }

    @Test(
        "reads that come short, and files that are mapped, change nothing",
        arguments: strategies, [1, 2, 3])
    func everySource(strategy: Strategy, threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let path = FilePath(try folder.file("object", ciphertext(of: plaintext, strategy, key: key)))
        let wraps: [(String, (any ByteSource) throws -> any ByteSource)] = [
            ("short reads", { ShortReadingSource($0, largestRead: 5) }), ("pread", { _ in try FileSource(path: path) }),
            ("mmap", { _ in try MappedSource(path: path) }),
        ]
        for (name, wrap) in wraps {
            let object = try object(strategy, wrap: wrap)
            for windowByteCount in [16, 48, 100, 1 << 20] {
                for range: Range<UInt64> in [0..<208, 0..<1, 15..<17, 33..<190, 200..<208] {
                    let sink = MemorySink(isSeekable: threadCount == 2, byteCount: range.count)
                    try RangeTransfer(object: object, range: range, windowByteCount: windowByteCount)
                        .run(to: sink, threadCount: threadCount)
                    let expected = Array(plaintext[Int(range.lowerBound)..<Int(range.upperBound)])
                    let difference = Samples.difference(sink.bytes, expected)
                    #expect(difference == nil, "\(name): \(range) in windows of \(windowByteCount)")
                }
            }
        }
    }

    @Test("many windows on many threads leave in order, whoever is ahead", arguments: [2, 3, 8])
    func order(threadCount: Int) throws {
        let long = Samples.bytes(100_000, seed: 9)
        let strategy = Strategy.ctr(iv: Self.iv)
        let object = try EncryptedObject(
            source: MemorySource(try ciphertext(of: long, strategy, key: key)), strategy: strategy,
            backend: SwiftReference(), key: key)
        let sink = MemorySink(isSeekable: false)
        try RangeTransfer(object: object, range: 3..<99_990, windowByteCount: 64)
            .run(to: sink, threadCount: threadCount)
        #expect(Samples.difference(sink.bytes, Array(long[3..<99_990])) == nil)
    }

    @Test("of several windows that fail, one error is reported, and only whole windows before it were delivered")
    func oneFailure() throws {
        for place: UInt64 in [0, 16, 100, 207] {
            var faulty: FaultySource?
            let object = try object(.ctr(iv: Self.iv)) {
                let source = FaultySource(ShortReadingSource($0, largestRead: 7))
                faulty = source
                return source
            }
            faulty?.inject(.failureFrom(place))
            let sink = MemorySink(isSeekable: false)
            let transfer = RangeTransfer(object: object, range: 0..<208, windowByteCount: 16)
            #expect(throws: DecryptionError.io(operation: "read", code: 5, reason: "injected fault")) {
                try transfer.run(to: sink, threadCount: 4)
            }
            #expect(sink.bytes.count % 16 == 0 && sink.bytes.count <= place)
            #expect(Samples.difference(sink.bytes, Array(plaintext[..<sink.bytes.count])) == nil)
        }
    }

    @Test("windows start at multiples of their length, so that the first of a range may be shorter")
    func alignment() throws {
        let sink = MemorySink(isSeekable: false)
        try RangeTransfer(object: object(.ctr(iv: Self.iv)), range: 60..<130, windowByteCount: 64)
            .run(to: sink, threadCount: 1)
        // 60..<64, 64..<128, 128..<130
        #expect(sink.writes == 3)
    }

    @Test("an error of the source ends all threads and is what is reported", arguments: [1, 2, 4], [false, true])
    func sourceFailure(threadCount: Int, isSeekable: Bool) throws {
        for end: UInt64 in [0, 16, 100, 200] {
            var faulty: FaultySource?
            let object = try object(.ctr(iv: Self.iv)) {
                let source = FaultySource($0)
                faulty = source
                return source
            }
            faulty?.inject(.end(at: end))
            let sink = MemorySink(isSeekable: isSeekable, byteCount: 208)
            let transfer = RangeTransfer(object: object, range: 0..<208, windowByteCount: 16)
            let error = #expect(throws: DecryptionError.self) { try transfer.run(to: sink, threadCount: threadCount) }
            #expect(error?.protocolName == "truncatedCiphertext", "source ends at \(end)")
            if !isSeekable {
                #expect(Samples.difference(sink.bytes, Array(plaintext[..<sink.bytes.count])) == nil)
                #expect(sink.bytes.count <= end)
            }
        }
    }

    @Test("an error of the sink ends all threads and is what is reported", arguments: [1, 2, 4], [false, true])
    func sinkFailure(threadCount: Int, isSeekable: Bool) throws {
        let object = try object(.cbcContinuous(iv: Self.iv, padding: .pkcs7))
        for failsAt: UInt64 in [0, 20, 207] {
            let sink = MemorySink(isSeekable: isSeekable, byteCount: 208, failsAt: failsAt)
            let transfer = RangeTransfer(object: object, range: 0..<208, windowByteCount: 16)
            #expect(throws: DecryptionError.io(operation: "write", code: 28, reason: "injected")) {
                try transfer.run(to: sink, threadCount: threadCount)
            }
        }
    }

    @Test("a file that is rewritten meanwhile ends in an error, though its length stays", arguments: [1, 3])
    func rewritten(threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = try ciphertext(of: plaintext, .ctr(iv: Self.iv), key: key)
        let path = FilePath(try folder.file("object", bytes))
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
        /// Calls something whenever a window comes.
        final class WatchfulSink: ByteSink {
            let isSeekable = false
            let onWrite: @Sendable () throws -> Void
            init(_ onWrite: @escaping @Sendable () throws -> Void) { self.onWrite = onWrite }
            func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
                #expect(throws: Never.self) { try onWrite() }
            }
            func commit() {}
        }
        func transfer(_ onWrite: @escaping @Sendable () throws -> Void) throws {
            let object = try object(.ctr(iv: Self.iv)) { _ in try FileSource(path: path) }
            try RangeTransfer(object: object, range: 0..<208, windowByteCount: 16)
                .run(to: WatchfulSink(onWrite), threadCount: threadCount)
        }
        try transfer {}
        #expect {
            try transfer {
                let file = try FileDescriptor.open(path, .writeOnly)
                try file.closeAfter { _ = try file.writeAll(toAbsoluteOffset: 0, bytes.reversed()) }
            }
        } throws: { "\($0)".contains("changed while it was read") }
    }

    @Test("a read that comes short is an error, and leaves no hole", arguments: [1, 3])
    func shortRead(threadCount: Int) throws {
        final class Reader: RandomAccessDecryptor {
            let plaintextByteCount: UInt64 = 100
            func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
                offset == 32 ? buffer.count - 1 : buffer.count
            }
            func checkVersion() {}
        }
        struct Object: TransferableObject {
            let plaintextByteCount: UInt64 = 100
            func makeReader(windowByteCount: Int) -> any RandomAccessDecryptor { Reader() }
            func checkVersion() {}
            func adviseSequential(_ range: Range<UInt64>) {}
        }
        let transfer = RangeTransfer(object: Object(), range: 0..<100, windowByteCount: 16)
        #expect(throws: DecryptionError.truncatedCiphertext(byteCount: 47, expected: "48 for this read")) {
            try transfer.run(to: MemorySink(isSeekable: true, byteCount: 100), threadCount: threadCount)
        }
    }

    @Test("a range longer than an Int holds is no trap")
    func longest() throws {
        struct Endless: ByteSource {
            let byteCount = UInt64.max
            func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
                throw .io(operation: "read", code: 5, reason: "injected")
            }
        }
        let object = try EncryptedObject(
            source: Endless(), strategy: .ctr(iv: Self.iv), backend: SwiftReference(), key: key)
        let transfer = RangeTransfer(object: object, range: 0..<UInt64.max, windowByteCount: 16)
        #expect(throws: DecryptionError.io(operation: "read", code: 5, reason: "injected")) {
            try transfer.run(to: MemorySink(isSeekable: false), threadCount: 1)
        }
    }

    @Test("progress never falls, and ends at the whole")
    func progress() throws {
        var seen: [UInt64] = []
        try RangeTransfer(object: object(.ctr(iv: Self.iv)), range: 0..<208, windowByteCount: 16)
            .run(to: MemorySink(isSeekable: false), threadCount: 1) { seen.append($0) }
        #expect(seen == seen.sorted() && seen.last == 208)
    }
}

@Suite("range requests")
struct RangeRequestTests {
    @Test(
        "the three forms of RFC 9110 are read",
        arguments: [
            ("0-0", .between(first: 0, last: 0)), ("0-499", .between(first: 0, last: 499)),
            ("007-9", .between(first: 7, last: 9)), ("9500-", .from(9500)), ("0-", .from(0)), ("-500", .suffix(500)),
            ("-0", .suffix(0)), ("0-18446744073709551615", .between(first: 0, last: .max)),
            ("18446744073709551615-", .from(.max)),
        ] as [(String, RangeRequest)]
    )
    func forms(text: String, request: RangeRequest) {
        #expect(RangeRequest(text) == request)
    }

    @Test(
        "everything else is none",
        arguments: [
            "", "-", "--", "--5", "5", "1-0", "500-499", "+1-2", "1-+2", "-+5", "-1-2", "1--2", "1-2-3", " 1-2", "1-2 ",
            "1 -2", "a-b", "0x1-2", "1.0-2", "1,2-3", "bytes=0-1", "0-1,3-4", "١-٢", "1–2",
        ])
    func garbage(text: String) {
        #expect(RangeRequest(text) == nil, "\"\(text)\"")
    }

    @Test(
        "numbers too large for 64 bits mean more than there is",
        arguments: [
            ("5-18446744073709551616", 5..<10), ("0-99999999999999999999999", 0..<10),
            ("-99999999999999999999999", 0..<10), ("99999999999999999999999-", nil),
            ("99999999999999999999998-99999999999999999999999", nil),
        ] as [(String, Range<UInt64>?)]
    )
    func overflow(text: String, range: Range<UInt64>?) throws {
        let request = try #require(RangeRequest(text))
        #expect(resolved(request, 10) == range)
    }

    @Test("for every range and length, exactly the bytes of the object that the range names are meant")
    func exhaustive() {
        for length: UInt64 in 0...6 {
            for first: UInt64 in 0...8 {
                for last in first...9 {
                    check(.between(first: first, last: last), length) { $0 >= first && $0 <= last }
                }
                check(.from(first), length) { $0 >= first }
                check(.suffix(first), length) { $0 + first >= length }
            }
            check(.between(first: 0, last: .max), length) { _ in true }
            check(.suffix(.max), length) { _ in true }
            check(.from(.max), length) { _ in false }
        }
    }

    private func check(_ request: RangeRequest, _ length: UInt64, _ contains: (UInt64) -> Bool) {
        let expected = (0..<length).filter(contains)
        let actual = resolved(request, length).map(Array.init) ?? []
        #expect(actual == expected, "\(request) of \(length) bytes")
    }

    /// The bytes that are meant, or `nil` if there are none.
    private func resolved(_ request: RangeRequest, _ length: UInt64) -> Range<UInt64>? {
        request.resolved(plaintextByteCount: length)
    }
}

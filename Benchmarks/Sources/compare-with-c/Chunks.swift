import ByteSources
import CAllocationCount
import CLoops
import Dispatch
import GcryptBackend
import OpenSSLBackend
import RandomAccess
import SystemPackage

/// Readers of authenticated chunks against the plain loop over the same library and file, in this process.
struct Chunks {
    let path: String
    let key: [UInt8]
    let cipher: String
    let chunkByteCount: Int
    let roundCount: Int

    /// A user of chunks asks for this many bytes at a time, or for a chunk if it is longer.
    private static let windowByteCount = 256 << 10
    private static let readByteCount = 4 << 10
    /// Bytes that the random reads of one round open at least, and the max number of reads.
    private static let openedByteCount = 256 << 20
    private static let maxReadCount = 20_000

    func run() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            try run(library, backend)
        }
    }

    private func run(_ library: Int, _ backend: any CipherBackend) throws {
        let kind = cipher == "aes-gcm" ? CHUNKWISE_AES_256_GCM : CHUNKWISE_CHACHA20_POLY1305
        // One for each thread.
        let loops = try (0..<2).map { _ in
            guard let loop = chunkwise_chunks_open(Int32(library), Int32(kind), path, key, chunkByteCount, 0) else {
                throw Failure("cannot open \(path) in C")
            }
            return CLoop(pointer: loop)
        }
        defer { for loop in loops { chunkwise_chunks_close(loop.pointer) } }
        let loop = loops[0].pointer
        let strategy = try Strategy(
            "chunk-nonce-ct-tag",
            ["chunkByteCount": .integer(UInt64(chunkByteCount)), "aead": .text(cipher)])
        func object(_ source: any ByteSource) throws -> EncryptedObject {
            try EncryptedObject(source: source, strategy: strategy, backend: backend, key: SecretKey(key))
        }
        let file = try object(FileSource(path: FilePath(path)))
        let mapped = try object(MappedSource(path: FilePath(path)))
        let byteCount = file.plaintextByteCount
        let all = chunkwise_chunks_count(loop)
        guard chunkwise_chunks_run(loop, 0, all) == Int64(byteCount) else {
            throw Failure("\(path): not authentic in C")
        }
        let whole = try Share(file, 0..<byteCount, chunkByteCount)
        let wholeMapped = try Share(mapped, 0..<byteCount, chunkByteCount)
        let name = "\(backend.name) \(cipher == "aes-gcm" ? "AES-GCM" : "ChaCha20") \(size(chunkByteCount))"
        let order = try Race(
            [
                ("C: pread of a chunk, into a buffer", { timed { _ = chunkwise_chunks_run(loop, 0, all) } }),
                ("chunkwise: FileSource", { timed { whole.readAll() } }),
                ("chunkwise: MappedSource", { timed { wholeMapped.readAll() } }),
            ], roundCount: roundCount)
        order.show("\(name): in order", byteCount: byteCount)
        order.goal("\(name): in order, of C's speed", 1, over: 0, atLeast: 0.98)
        // Chunks are copied before they are opened, from a mapped file too: no way is the slower one.
        order.goal("\(name): in order, mmap to pread", 2, over: 1, atLeast: 0.98)
        let places = Places(byteCount: byteCount, readByteCount: Self.readByteCount)
        let readCount = max(16, min(Self.maxReadCount, Self.openedByteCount / chunkByteCount))
        let shares = try (0..<3).map { _ in try Share(file, 0..<0, chunkByteCount) }
        try check(loop, shares[0], places)
        var buffer = [UInt8](repeating: 0, count: Self.readByteCount)
        var allocations: UInt64 = 0
        func halves(_ places: [UInt64]) -> [ArraySlice<UInt64>] {
            [places[..<(places.count / 2)], places[(places.count / 2)...]]
        }
        let random = try Race(
            [
                (
                    "C: the chunk, opened, 4 KiB copied",
                    {
                        let places = places.draw(readCount)
                        return timed {
                            for place in places { _ = chunkwise_chunks_read(loop, place, &buffer, Self.readByteCount) }
                        }
                    }
                ),
                (
                    "chunkwise: FileSource",
                    {
                        let places = places.draw(readCount)
                        let before = chunkwise_allocation_count()
                        defer { allocations += chunkwise_allocation_count() - before }
                        return timed { shares[0].read(places[...]) }
                    }
                ),
                (
                    "chunkwise: two threads",
                    {
                        let halves = halves(places.draw(readCount))
                        return timed {
                            DispatchQueue.concurrentPerform(iterations: 2) { shares[$0 + 1].read(halves[$0]) }
                        }
                    }
                ),
                (
                    "C: two threads",
                    {
                        let halves = halves(places.draw(readCount))
                        return timed {
                            DispatchQueue.concurrentPerform(iterations: 2) { loops[$0].read(halves[$0]) }
                        }
                    }
                ),
            ], roundCount: roundCount)
        random.show("\(name): \(readCount) reads of 4 KiB at random")
        random.goal("\(name): at random, of C's latency", 0, over: 1, atMost: 1.05)
        random.goal("\(name): at random, 2 threads to 1", 2, over: 1, atLeast: 1.9)
        // What the machine has for two threads shows in the loop.
        random.goal("\(name): at random, 2 threads, of C's on 2", 2, over: 3, atLeast: 0.95)
        Race.goal(
            "\(name): allocations in \(readCount * (roundCount + 1)) reads", "\(allocations)", "0", allocations == 0)
        guard ([whole, wholeMapped] + shares).allSatisfy(\.isGood) else { throw Failure("\(path): not authentic") }
    }

    /// Compares what both deliver at some places.
    private func check(_ loop: OpaquePointer, _ share: Share, _ places: Places) throws {
        var theirs = [UInt8](repeating: 0, count: Self.readByteCount)
        for place in places.draw(50) {
            share.read([place])
            guard chunkwise_chunks_read(loop, place, &theirs, theirs.count) == 1,
                share.bytes(theirs.count).elementsEqual(theirs)
            else {
                throw Failure("\(path): other bytes at \(place)")
            }
        }
    }

    /// A loop with buffers of its own; one thread at a time uses it.
    private struct CLoop: @unchecked Sendable {
        let pointer: OpaquePointer

        func read(_ places: ArraySlice<UInt64>) {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunks.readByteCount) { buffer in
                for place in places { _ = chunkwise_chunks_read(pointer, place, buffer.baseAddress, buffer.count) }
            }
        }
    }

    /// The same numbers in each run. Source: D. E. Knuth, "MMIX", a linear congruential sequence.
    private struct Sequence: RandomNumberGenerator {
        private var state: UInt64 = 1

        mutating func next() -> UInt64 {
            var number: UInt64 = 0
            for _ in 0..<2 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                number = number << 32 | state >> 32
            }
            return number
        }
    }

    /// Distinct places, in an order that a pseudo-random sequence gives; it begins again once all were drawn.
    private final class Places {
        private var places: [UInt64]
        private var next = 0

        init(byteCount: UInt64, readByteCount: Int) {
            places = (0..<byteCount / UInt64(readByteCount)).map { $0 * UInt64(readByteCount) }
            var random = Sequence()
            places.shuffle(using: &random)
        }

        func draw(_ count: Int) -> [UInt64] {
            if next + count > places.count { next = 0 }
            defer { next += count }
            return Array(places[next..<min(places.count, next + count)])
        }
    }

    /// A part of an object, with a reader and a buffer of its own; one thread at a time uses it.
    private final class Share: @unchecked Sendable {
        private let reader: any RandomAccessDecryptor
        private let range: Range<UInt64>
        private let buffer: UnsafeMutableRawBufferPointer
        private(set) var isGood = true

        init(_ object: EncryptedObject, _ range: Range<UInt64>, _ chunkByteCount: Int) throws {
            self.reader = try object.makeCursor(windowByteCount: Chunks.windowByteCount)
            self.range = range
            self.buffer = .allocate(byteCount: max(Chunks.windowByteCount, chunkByteCount), alignment: 4096)
        }

        deinit { buffer.deallocate() }

        func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer.SubSequence { buffer[..<count] }

        func readAll() {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = Int(min(UInt64(buffer.count), range.upperBound - offset))
                guard
                    let got = try? reader.read(
                        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])), got > 0
                else {
                    isGood = false
                    return
                }
                offset += UInt64(got)
            }
        }

        func read(_ places: ArraySlice<UInt64>) {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Chunks.readByteCount])
            for place in places where (try? reader.read(at: place, into: part)) != part.count { isGood = false }
        }
    }
}

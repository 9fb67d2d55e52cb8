import ByteSources
import CLoops
import Dispatch
import GcryptBackend
import OpenSSLBackend
import RandomAccess
import SystemPackage

/// Our readers of Cobblestone-128 against the plain loop over the same AEAD, in this process.
struct Chunks {
    let path: String
    let key: [UInt8]
    let roundCount: Int

    private static let windowByteCount = 256 << 10

    /// One cursor, and two that each take a half, for each library.
    func run() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            try run(library, backend)
        }
    }

    private func run(_ library: Int, _ backend: any CipherBackend) throws {
        guard let loop = chunkwise_chunks_open(Int32(library), path, key) else {
            throw Failure("cannot open \(path) in C")
        }
        defer { chunkwise_chunks_close(loop) }
        let object = try EncryptedObject(
            source: FileSource(path: FilePath(path)),
            strategy: Strategy("cobblestone-128"), backend: backend, key: SecretKey(key))
        let byteCount = object.plaintextByteCount
        guard chunkwise_chunks_run(loop) == Int64(byteCount) else { throw Failure("\(path): not authentic in C") }
        // From a chunk's start, as somebody would cut it.
        let middle = byteCount / 2 / 16384 * 16384
        let one = try Share(object, 0..<byteCount)
        let halves = try [Share(object, 0..<middle), Share(object, middle..<byteCount)]
        let race = try Race(
            [
                ("C: pread, in place", { timed { _ = chunkwise_chunks_run(loop) } }),
                ("chunkwise: FileSource", { timed { one.readAll() } }),
                (
                    "chunkwise: two threads",
                    { timed { DispatchQueue.concurrentPerform(iterations: 2) { halves[$0].readAll() } } }
                ),
            ], roundCount: roundCount)
        guard ([one] + halves).allSatisfy(\.isGood) else { throw Failure("\(path): not authentic") }
        race.show("\(backend.name): cobblestone-128, 16 chunks of 16 KiB at a time", byteCount: byteCount)
    }

    /// A part of an object, with a reader and a buffer of its own; one thread at a time uses it.
    private final class Share: @unchecked Sendable {
        private let reader: any RandomAccessDecryptor
        private let range: Range<UInt64>
        private let buffer: UnsafeMutableRawBufferPointer
        private(set) var isGood = true

        init(_ object: EncryptedObject, _ range: Range<UInt64>) throws {
            self.reader = try object.makeCursor(windowByteCount: Chunks.windowByteCount)
            self.range = range
            self.buffer = .allocate(byteCount: Chunks.windowByteCount, alignment: 4096)
        }

        deinit { buffer.deallocate() }

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
    }
}

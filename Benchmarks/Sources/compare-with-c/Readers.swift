import ByteSources
import CAllocationCount
import CLoops
import GcryptBackend
import OpenSSLBackend
import RandomAccess
import SystemPackage

/// Our readers against the plain loop, in this process.
struct Readers {
    let path: String
    let key: [UInt8]
    let iv: [UInt8]
    let roundCount: Int

    private static let windowByteCount = 256 << 10

    private func object(_ source: any ByteSource, _ backend: any CipherBackend) throws -> EncryptedObject {
        try EncryptedObject(
            source: source, strategy: .cbcContinuous(iv: Block(iv), padding: .pkcs7), backend: backend,
            key: SecretKey(key))
    }

    private func loop(_ library: Int) throws -> OpaquePointer {
        guard let loop = chunkwise_loop_open(Int32(library), path, key, iv, Self.windowByteCount) else {
            throw Failure("cannot open \(path) in C")
        }
        return loop
    }

    /// Reads all of an object in windows; the buffer is the caller's and kept.
    private func readAll(
        _ reader: any RandomAccessDecryptor, _ buffer: UnsafeMutableRawBufferPointer
    ) throws {
        var offset: UInt64 = 0
        while offset < reader.plaintextByteCount {
            offset += UInt64(try reader.read(at: offset, into: buffer))
        }
    }

    /// Random reads only, for each library.
    func runRandom() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            try random(library, backend)
        }
    }

    /// Sequential windows, then random reads, for each library.
    func run() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            try sequential(library, backend)
            try random(library, backend)
        }
        try farOffset()
        try articleConfiguration()
    }

    private func sequential(_ library: Int, _ backend: any CipherBackend) throws {
        let loop = try loop(library)
        defer { chunkwise_loop_close(loop) }
        let file = try object(FileSource(path: FilePath(path)), backend)
        let mapped = try object(MappedSource(path: FilePath(path)), backend)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowByteCount, alignment: 4096)
        defer { buffer.deallocate() }
        let fileCursor = try file.makeCursor()
        let mappedCursor = try mapped.makeCursor()
        let race = try Race(
            [
                ("C: pread, in place", { timed { chunkwise_loop_run(loop, -1) } }),
                ("chunkwise: FileSource", { try timed { try readAll(fileCursor, buffer) } }),
                ("chunkwise: MappedSource", { try timed { try readAll(mappedCursor, buffer) } }),
            ], roundCount: roundCount)
        race.show("\(backend.name): sequential, windows of 256 KiB", byteCount: file.plaintextByteCount)
    }

    /// The median over single reads, which take turns as blocks of 64.
    private func random(_ library: Int, _ backend: any CipherBackend) throws {
        let loop = try loop(library)
        defer { chunkwise_loop_close(loop) }
        let object = try object(FileSource(path: FilePath(path)), backend)
        let cursor = try object.makeCursor()
        let trustingCursor = try self.object(TrustingSource(file: FileSource(path: FilePath(path))), backend)
            .makeCursor()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        defer { buffer.deallocate() }
        for isAligned in [true, false] {
            var (ours, theirs, trusting): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
            ours.reserveCapacity(1 << 20)
            theirs.reserveCapacity(1 << 20)
            trusting.reserveCapacity(1 << 20)
            var allocations: UInt64 = 0
            for round in 0..<roundCount * 16 {
                let offsets = (0..<64).map { _ in
                    UInt64.random(in: 0..<object.plaintextByteCount - 4096) / (isAligned ? 16 : 1)
                        * (isAligned ? 16 : 1)
                }
                func oursTurn() throws {
                    let before = chunkwise_allocation_count()
                    for offset in offsets {
                        let start = monotonicNanoseconds()
                        _ = try cursor.read(at: offset, into: buffer)
                        ours.append(monotonicNanoseconds() - start)
                    }
                    allocations += chunkwise_allocation_count() - before
                }
                func trustingTurn() throws {
                    for offset in offsets {
                        let start = monotonicNanoseconds()
                        _ = try trustingCursor.read(at: offset, into: buffer)
                        trusting.append(monotonicNanoseconds() - start)
                    }
                }
                func theirTurn() {
                    for offset in offsets {
                        let start = monotonicNanoseconds()
                        _ = chunkwise_loop_read(loop, offset, 4096)
                        theirs.append(monotonicNanoseconds() - start)
                    }
                }
                // The first one to read finds its pages outside of the caches, so that each is the first as often.
                let turns = [oursTurn, theirTurn, trustingTurn]
                for turn in 0..<3 { try turns[(round + turn) % 3]() }
            }
            let (mine, plain, unchecked) = (Race.median(ours), Race.median(theirs), Race.median(trusting))
            print(
                "\(backend.name): random reads of 4 KiB, \(isAligned ? "whole blocks" : "any offset"), median latency")
            print("  C \(plain) ns, chunkwise \(mine) ns: \(decimals(Double(mine) / Double(plain))) x the loop's")
            print(
                "  without asking for the file's length at each read \(unchecked) ns: "
                    + "\(decimals(Double(unchecked) / Double(plain))) x")
            print("  allocations in \(ours.count) of our reads: \(allocations)")
        }
    }

    /// A generated object of 2 TiB, read at its start and behind 1 TiB.
    private func farOffset() throws {
        let source = GeneratedSource(stream: SplitMix64Stream(seed: 1), byteCount: 2 << 40)
        let object = try EncryptedObject(
            source: source, strategy: .cbcContinuous(iv: Block(iv), padding: .none), backend: Gcrypt(),
            key: SecretKey(key))
        let cursor = try object.makeCursor()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        defer { buffer.deallocate() }
        func reads(at offset: UInt64) throws -> UInt64 {
            // From block 1 on, so that both fetch the block before.
            try timed { for _ in 0..<256 { _ = try cursor.read(at: offset + 16, into: buffer) } }
        }
        let race = try Race(
            [("at 0", { try reads(at: 0) }), ("at 1 TiB", { try reads(at: 1 << 40) })], roundCount: roundCount * 8)
        race.show("generated object: 256 reads of 4 KiB")
    }

    /// Decrypts a window from a new buffer into another, and copies what is wanted of it.
    private func decrypt(
        _ step: ReadStep, of object: EncryptedObject, _ context: any CipherContext,
        into output: UnsafeMutableRawBufferPointer
    ) throws {
        let fetched = UnsafeMutableRawBufferPointer.allocate(byteCount: step.fetch.count, alignment: 16)
        defer { fetched.deallocate() }
        try object.source.fetch(at: step.fetch.lowerBound, into: fetched)
        let ciphertext = UnsafeRawBufferPointer(rebasing: fetched[(fetched.count - step.ciphertext.count)...])
        let iv: Block
        switch step.iv {
        case .value(let value): iv = value
        case .precedingBlock: iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        }
        let plaintext = UnsafeMutableRawPointer.allocate(byteCount: ciphertext.count, alignment: 16)
        defer { plaintext.deallocate() }
        try context.process(ciphertext, into: plaintext, iv: iv)
        output.copyMemory(from: UnsafeRawBufferPointer(start: plaintext + step.skip, count: step.count))
    }

    /// 100 MiB windows, each from a fresh buffer into another, as the article "iOS 上で巨大なファイルを復号する方法" has them.
    private func articleConfiguration() throws {
        let file = try object(FileSource(path: FilePath(path)), try Gcrypt())
        let mapped = try object(MappedSource(path: FilePath(path)), try Gcrypt())
        let large = 100 << 20
        func fresh() throws {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: large, alignment: 4096)
            defer { buffer.deallocate() }
            let context = try Gcrypt().makeContext(mode: .cbc, direction: .decrypt, key: SecretKey(key))
            for step in file.layout.plan(0..<file.plaintextByteCount, windowByteCount: large) {
                try decrypt(step, of: file, context, into: buffer)
            }
        }
        func windows(_ object: EncryptedObject) throws {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowByteCount, alignment: 4096)
            defer { buffer.deallocate() }
            try readAll(try object.makeCursor(), buffer)
        }
        let race = try Race(
            [
                ("fresh 100 MiB windows", { try timed { try fresh() } }),
                ("default: 256 KiB, FileSource", { try timed { try windows(file) } }),
                ("default: 256 KiB, MappedSource", { try timed { try windows(mapped) } }),
            ], roundCount: roundCount)
        race.show(
            "libgcrypt: new buffers of 100 MiB for each window, and the default", byteCount: file.plaintextByteCount)
    }
}

/// A file that is taken not to change, as the loop takes it: a system call less for each read.
private struct TrustingSource: ByteSource {
    let file: FileSource

    var byteCount: UInt64 { file.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try file.read(at: offset, into: buffers)
    }

    func checkUnchanged() {}
}

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

    private static let cbc = "cbc-continuous"

    private func object(
        _ source: any ByteSource, _ backend: any CipherBackend, _ strategy: String = Self.cbc
    ) throws -> EncryptedObject {
        try EncryptedObject(
            source: source, strategy: Strategy(strategy, ["iv": .bytes(iv)]), backend: backend, key: SecretKey(key))
    }

    private func loop(_ library: Int, _ strategy: String = Self.cbc) throws -> OpaquePointer {
        guard
            let loop = chunkwise_loop_open(
                Int32(library), strategy == Self.cbc ? 0 : 1, path, key, iv, Self.windowByteCount)
        else {
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

    /// Random reads, for each library, of the file as ciphertext of either mode.
    func runRandom() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            for strategy in [Self.cbc, "ctr"] { try random(library, backend, strategy) }
        }
    }

    /// Sequential windows, for each library.
    func run() throws {
        for (library, backend) in [try OpenSSL(), try Gcrypt()].enumerated() as EnumeratedSequence<[any CipherBackend]>
        {
            try sequential(library, backend)
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
                ("C: pread, in place", { timed { chunkwise_loop_run(loop, 0, .max, -1) } }),
                ("chunkwise: FileSource", { try timed { try readAll(fileCursor, buffer) } }),
                ("chunkwise: MappedSource", { try timed { try readAll(mappedCursor, buffer) } }),
            ], roundCount: roundCount)
        race.show("\(backend.name): sequential, windows of 256 KiB", byteCount: file.plaintextByteCount)
        // A file has the name of the pieces that it was written in.
        let pieces = FilePath(path).lastComponent?.string ?? ""
        race.goal("\(backend.name) CBC, pieces of \(pieces): in order, of C's speed", 1, over: 0, atLeast: 0.98)
    }

    /// The median over single reads, in turns of 64. Each turn draws offsets of its own, so that no turn finds in the CPU's
    /// caches what another one has read.
    private func random(_ library: Int, _ backend: any CipherBackend, _ strategy: String) throws {
        let loop = try loop(library, strategy)
        defer { chunkwise_loop_close(loop) }
        let object = try object(FileSource(path: FilePath(path)), backend, strategy)
        let cursor = try object.makeCursor()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        let theirBuffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4096)
        defer {
            buffer.deallocate()
            theirBuffer.deallocate()
        }
        let byteCount = object.plaintextByteCount - 4096
        // The generator of the system would ask the kernel for each number.
        var state: UInt64 = 1
        func offset(_ isAligned: Bool) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = (state >> 32) &* 16 % byteCount
            return isAligned ? number : number + state >> 60
        }
        for offset in [0] + (0..<50).map({ _ in offset(false) }) {
            guard try cursor.read(at: offset, into: buffer) == 4096,
                chunkwise_loop_read(loop, offset, theirBuffer.baseAddress, 4096) == 1,
                theirBuffer.elementsEqual(buffer)
            else {
                throw Failure("\(path): other bytes at \(offset) by \(strategy)")
            }
        }
        let title = "\(backend.name) \(strategy == Self.cbc ? "CBC" : "CTR"): at random, "
        for isAligned in [true, false] {
            var (ours, theirs, ratios): ([UInt64], [UInt64], [Double]) = ([], [], [])
            var allocations: UInt64 = 0
            func turn(_ read: (UInt64) throws -> Void) rethrows -> UInt64 {
                let offsets = (0..<64).map { _ in offset(isAligned) }
                var times: [UInt64] = []
                times.reserveCapacity(64)
                let before = chunkwise_allocation_count()
                for offset in offsets {
                    let start = monotonicNanoseconds()
                    try read(offset)
                    times.append(monotonicNanoseconds() - start)
                }
                allocations += chunkwise_allocation_count() - before
                return Race.median(times)
            }
            for round in 0..<roundCount * 16 {
                func oursTurn() throws { ours.append(try turn { _ = try cursor.read(at: $0, into: buffer) }) }
                func theirTurn() {
                    theirs.append(turn { _ = chunkwise_loop_read(loop, $0, theirBuffer.baseAddress, 4096) })
                }
                let turns = round % 2 == 0 ? [oursTurn, theirTurn] : [theirTurn, oursTurn]
                for turn in turns { try turn() }
                ratios.append(Double(ours[round]) / Double(theirs[round]))
            }
            let (low, high) = Race.interval(ratios)
            let name = title + (isAligned ? "whole blocks" : "any offset")
            print("\(name): median latency of 4 KiB")
            print(
                "  C \(Race.median(theirs)) ns, chunkwise \(Race.median(ours)) ns: "
                    + "\(decimals(Race.median(ratios))) x the loop's (\(decimals(low))–\(decimals(high)))")
            print("  allocations in \(128 * ratios.count) reads: \(allocations)")
            let ratio = Race.median(ratios)
            Race.goal(
                "\(name), of C's latency", "\(decimals(ratio)) (\(decimals(low)) to \(decimals(high)))", "≤ 1.05",
                ratio <= 1.05)
        }
    }

    /// A generated object of 2 TiB, read at its start and behind 1 TiB.
    private func farOffset() throws {
        let source = GeneratedSource(stream: SplitMix64Stream(seed: 1), byteCount: 2 << 40)
        let object = try EncryptedObject(
            source: source, strategy: Strategy("cbc-continuous", ["iv": .bytes(iv), "padding": .text("none")]),
            backend: Gcrypt(),
            key: SecretKey(key))
        let cursor = try object.makeCursor()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        let theirBuffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4096)
        defer {
            buffer.deallocate()
            theirBuffer.deallocate()
        }
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
        case .precedingBlock, .ofChunk: iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
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
            let context = try Gcrypt().makeContext(.aesCBC, .decrypt, key: SecretKey(key))
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
                ("256 KiB, FileSource, the default", { try timed { try windows(file) } }),
                ("256 KiB, MappedSource", { try timed { try windows(mapped) } }),
            ], roundCount: roundCount)
        race.show(
            "libgcrypt: a new buffer of 100 MiB for each window, or one of 256 KiB", byteCount: file.plaintextByteCount)
    }
}

import RandomAccess
import TestSupport
import Testing

@Suite("opening, before any byte is decrypted")
struct ProbeTests {
    private static let iv = Block(bigEndianValue: 7)

    @Test("chunk lengths that the format does not know are refused", arguments: [0, 1, 15, 17, (1 << 62) + 16, .max])
    func chunkLengths(_ chunkByteCount: UInt64) {
        let strategy = Strategy.cbcChunked(
            chunkByteCount: chunkByteCount, iv: Self.iv, ivRule: .fixed, padding: .pkcs7)
        #expect {
            try Probe(strategy: strategy, ciphertextByteCount: 16)
        } throws: { ($0 as? DecryptionError)?.protocolName == "invalidRequest" }
    }

    @Test("lengths that no plaintext has are refused", arguments: Padding.allCases, 0...40)
    func lengths(padding: Padding, byteCount: UInt64) throws {
        let strategy = Strategy.cbcContinuous(iv: Self.iv, padding: padding)
        let isPossible = byteCount % 16 == 0 && (byteCount > 0 || padding == .none)
        if isPossible {
            #expect(try Probe(strategy: strategy, ciphertextByteCount: byteCount).ciphertextByteCount == byteCount)
        } else {
            #expect {
                try Probe(strategy: strategy, ciphertextByteCount: byteCount)
            } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        }
    }

    @Test("the last chunk's length is checked against its padding", arguments: 1...16)
    func lastChunks(pad: Int) throws {
        let strategy = Strategy.cbcChunked(chunkByteCount: 32, iv: Self.iv, ivRule: .fixed, padding: .pkcs7)
        let block = try Block([UInt8](repeating: UInt8(pad), count: 16))
        func length(_ ciphertextByteCount: UInt64) throws -> UInt64 {
            try Probe(strategy: strategy, ciphertextByteCount: ciphertextByteCount).layout(lastBlock: block)
                .plaintextByteCount
        }
        #expect(try length(16) == UInt64(16 - pad))
        #expect(try length(32) == UInt64(32 - pad))
        if pad == 16 {
            #expect(try length(48) == 32)
            #expect(throws: DecryptionError.invalidPadding) { try length(64) }
        } else {
            #expect(throws: DecryptionError.invalidPadding) { try length(48) }
            #expect(try length(64) == UInt64(48 - pad))
        }
        #expect(try length(80) == UInt64(64 - pad))
    }
}

@Suite("read plans")
struct ReadPlanTests {
    static let strategies: [Strategy] = {
        let iv = Block(bigEndianValue: .max - 1)
        var all: [Strategy] = [.ctr(iv: iv)]
        for padding in Padding.allCases {
            all.append(.cbcContinuous(iv: iv, padding: padding))
            for rule in IVRule.allCases {
                all.append(.cbcChunked(chunkByteCount: 32, iv: iv, ivRule: rule, padding: padding))
            }
        }
        return all
    }()

    private func layout(_ strategy: Strategy, _ byteCount: Int, _ naive: NaiveLayout) throws -> Layout {
        let probe = try Probe(strategy: strategy, ciphertextByteCount: UInt64(naive.ciphertextByteCount))
        let inLastChunk =
            strategy.chunkByteCount.map { byteCount == 0 ? 0 : (byteCount - 1) % Int($0) + 1 } ?? byteCount
        let pad = UInt8(16 - inLastChunk % 16)
        return try probe.layout(lastBlock: probe.lastBlock == nil ? nil : Block([UInt8](repeating: pad, count: 16)))
    }

    @Test("every range of every small object is covered exactly, with no byte too many", arguments: strategies)
    func exhaustive(strategy: Strategy) throws {
        let lengths =
            strategy.padding == Padding.none ? [0, 16, 32, 48, 80] : [0, 1, 15, 16, 17, 31, 32, 33, 64, 71, 80]
        for length in lengths {
            let naive = NaiveLayout(strategy: strategy, plaintextByteCount: length)
            let layout = try layout(strategy, length, naive)
            #expect(layout.plaintextByteCount == UInt64(length))
            for (window, effective) in [(Int.max, Int.max), (1, 16), (16, 16), (40, 32), (48, 48)] {
                for start in 0...length {
                    for end in start...length {
                        let plan = layout.plan(UInt64(start)..<UInt64(end), windowByteCount: window)
                        let mismatch = naive.mismatch(
                            in: plan, range: start..<end, window: effective, strategy: strategy)
                        if let mismatch {
                            Issue.record("\(length) bytes, window \(window), range \(start)..<\(end): \(mismatch)")
                            return
                        }
                    }
                }
            }
        }
    }

    @Test("reads clip like pread", arguments: [0, 1, 16, 100])
    func clipping(length: UInt64) throws {
        let layout = try Probe(strategy: .ctr(iv: Block(bigEndianValue: 0)), ciphertextByteCount: length)
            .layout(lastBlock: nil)
        #expect(try layout.clip(offset: length, count: 5) == length..<length)
        #expect(try layout.clip(offset: 0, count: .max) == 0..<length)
        for offset in [length + 1, .max] {
            #expect(throws: DecryptionError.rangeOutOfBounds(offset: offset, plaintextByteCount: length)) {
                try layout.clip(offset: offset, count: 0)
            }
        }
    }

    @Test("lengths near 2^64 neither trap nor wrap")
    func limits() throws {
        let iv = Block(bigEndianValue: .max)
        let strategies: [(Strategy, UInt64)] = [
            (.ctr(iv: iv), .max), (.cbcContinuous(iv: iv, padding: .none), .max - 15),
            (.cbcContinuous(iv: iv, padding: .pkcs7), .max - 15),
            (.cbcChunked(chunkByteCount: 16, iv: iv, ivRule: .sequence, padding: .none), .max - 15),
            (.cbcChunked(chunkByteCount: 16, iv: iv, ivRule: .sequence, padding: .pkcs7), .max - 31),
            (.cbcChunked(chunkByteCount: 1 << 62, iv: iv, ivRule: .fixed, padding: .pkcs7), .max - 15),
            (.cbcChunked(chunkByteCount: 1 << 62, iv: iv, ivRule: .fixed, padding: .none), .max - 15),
        ]
        for (strategy, ciphertextByteCount) in strategies {
            let probe = try Probe(strategy: strategy, ciphertextByteCount: ciphertextByteCount)
            // A padding of 16 bytes is the one that every last chunk may have here.
            let isPadded = probe.lastBlock != nil
            let layout = try probe.layout(lastBlock: isPadded ? Block([UInt8](repeating: 16, count: 16)) : nil)
            let length = layout.plaintextByteCount
            #expect(try layout.clip(offset: length - 3, count: .max) == length - 3..<length)
            for window in [1, 1 << 20, Int.max] {
                for start in [0, length - 33, length - 1] {
                    let range = start..<start + min(33, length - start)
                    let steps = Array(layout.plan(range, windowByteCount: window))
                    #expect(steps.reduce(0) { $0 + $1.count } == range.count)
                    #expect(steps.allSatisfy { $0.fetch.upperBound <= ciphertextByteCount })
                }
            }
            if let step = layout.plan(0..<length).first(where: { _ in true }) { #expect(step.count > 0) }
        }
    }
}

/// The place of each plaintext byte, found by writing an object down byte after byte.
struct NaiveLayout {
    struct Place: Equatable {
        var ciphertext: Int
        var chunk: Int
        var chunkCiphertextStart: Int
    }

    var places: [Place] = []
    var ciphertextByteCount = 0

    init(strategy: Strategy, plaintextByteCount: Int) {
        let chunkByteCount = strategy.chunkByteCount.map { Int($0) } ?? .max
        var (chunk, inChunk, start, position) = (0, 0, 0, 0)
        func padding() -> Int { strategy.padding == .pkcs7 ? 16 - inChunk % 16 : 0 }
        for _ in 0..<plaintextByteCount {
            if inChunk == chunkByteCount {
                position += padding()
                (chunk, inChunk, start) = (chunk + 1, 0, position)
            }
            places.append(Place(ciphertext: position, chunk: chunk, chunkCiphertextStart: start))
            position += 1
            inChunk += 1
        }
        ciphertextByteCount = position + padding()
    }

    /// The fault of the plan of a range, or `nil`.
    func mismatch(in plan: ReadPlan, range: Range<Int>, window: Int, strategy: Strategy) -> String? {
        var position = range.lowerBound
        for step in plan {
            guard step.count > 0, position + step.count <= range.upperBound else {
                return "step \(step) at \(position)"
            }
            let stop = position + step.count
            let (first, last) = (places[position], places[stop - 1])
            if first.chunk != last.chunk { return "a step from \(position) to \(stop) crosses chunks" }
            if step.count > window { return "a step of \(step.count) bytes is longer than a window" }
            if stop < range.upperBound, places[stop].chunk == last.chunk {
                let isBlockEnd = (places[stop].ciphertext - last.chunkCiphertextStart) % 16 == 0
                if !isBlockEnd || step.count + 16 <= window { return "a step ends at \(stop) for no reason" }
            }
            let block = (first.ciphertext - first.chunkCiphertextStart) / 16
            let start = first.chunkCiphertextStart + 16 * block
            let end =
                strategy.cipher == .aesCTR
                ? last.ciphertext + 1
                : first.chunkCiphertextStart + ((last.ciphertext - first.chunkCiphertextStart) / 16 + 1) * 16
            if step.ciphertext != UInt64(start)..<UInt64(end) { return "ciphertext \(step.ciphertext) at \(position)" }
            if step.skip != first.ciphertext - start { return "skip \(step.skip) at \(position)" }
            let isChained = strategy.cipher == .aesCBC && block > 0
            if step.fetch != UInt64(isChained ? start - 16 : start)..<UInt64(end) { return "fetch \(step.fetch)" }
            if step.iv != iv(strategy, chunk: first.chunk, block: block) { return "IV \(step.iv) at \(position)" }
            position = stop
        }
        return position == range.upperBound ? nil : "the plan ends at \(position)"
    }

    private func iv(_ strategy: Strategy, chunk: Int, block: Int) -> ReadStep.IVSource {
        switch strategy.known {
        case .ctr(let iv): .value(Block(bigEndianValue: iv.bigEndianValue &+ UInt128(block)))
        case nil, .chunked: preconditionFailure("chunks have a layout of their own")
        case _ where block > 0: .precedingBlock
        case .cbcChunked(_, let iv, .sequence, _): .value(Block(bigEndianValue: iv.bigEndianValue &+ UInt128(chunk)))
        case .cbcContinuous(let iv, _), .cbcChunked(_, let iv, _, _): .value(iv)
        }
    }
}

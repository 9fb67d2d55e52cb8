import RandomAccess
import Testing

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

import RandomAccess

/// Where each plaintext byte is, found by writing an object down byte after byte.
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

    /// What is wrong with the plan of a range, or `nil`.
    func mismatch(in plan: ReadPlan, range: Range<Int>, window: Int, strategy: Strategy) -> String? {
        var position = range.lowerBound
        for step in plan {
            guard step.count > 0, position + step.count <= range.upperBound else {
                return "step \(step) at \(position)"
            }
            let stop = position + step.count
            let (first, last) = (places[position], places[stop - 1])
            if first.chunk != last.chunk { return "a step from \(position) to \(stop) crosses chunks" }
            if position / window != (stop - 1) / window { return "a step from \(position) to \(stop) crosses windows" }
            if stop < range.upperBound, stop % window != 0, places[stop].chunk == last.chunk {
                return "a step ends at \(stop) for no reason"
            }
            let block = (first.ciphertext - first.chunkCiphertextStart) / 16
            let start = first.chunkCiphertextStart + 16 * block
            let end =
                strategy.mode == .ctr
                ? last.ciphertext + 1
                : first.chunkCiphertextStart + ((last.ciphertext - first.chunkCiphertextStart) / 16 + 1) * 16
            if step.ciphertext != UInt64(start)..<UInt64(end) { return "ciphertext \(step.ciphertext) at \(position)" }
            if step.skip != first.ciphertext - start { return "skip \(step.skip) at \(position)" }
            let isChained = strategy.mode == .cbc && block > 0
            if step.fetch != UInt64(isChained ? start - 16 : start)..<UInt64(end) { return "fetch \(step.fetch)" }
            if step.iv != iv(strategy, chunk: first.chunk, block: block) { return "IV \(step.iv) at \(position)" }
            position = stop
        }
        return position == range.upperBound ? nil : "the plan ends at \(position)"
    }

    private func iv(_ strategy: Strategy, chunk: Int, block: Int) -> ReadStep.IVSource {
        switch strategy {
        case .ctr(let iv): .value(Block(bigEndianValue: iv.bigEndianValue &+ UInt128(block)))
        case .chunked: preconditionFailure("chunks have a layout of their own")
        case _ where block > 0: .precedingBlock
        case .cbcChunked(_, let iv, .sequence, _): .value(Block(bigEndianValue: iv.bigEndianValue &+ UInt128(chunk)))
        case .cbcContinuous(let iv, _), .cbcChunked(_, let iv, _, _): .value(iv)
        }
    }
}

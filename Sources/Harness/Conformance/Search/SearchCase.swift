package import RandomAccess
package import Vectors

/// Some objects and reads of them, as a differential search draws them: a value, from which everything follows.
package struct SearchCase: Hashable, Sendable {
    /// One object.
    package struct Object: Hashable, Sendable {
        /// The strategy with its parameters.
        package var strategy: Strategy
        /// The key's bytes: 16, 24 or 32.
        package var key: [UInt8]
        /// The plaintext's length.
        package var plaintextByteCount: UInt64
        /// What its ciphertext is generated from.
        package var seed: UInt64
    }

    /// One read.
    package struct Read: Hashable, Sendable {
        /// The object's place in the list.
        package var object: Int
        /// The plaintext offset.
        package var offset: UInt64
        /// The bytes asked for.
        package var count: Int
        /// Whether the source fails once before the read.
        package var failsFirst: Bool
    }

    /// The reader, its window, and how its sources behave.
    package var setup: ReaderSetup
    /// The objects, all of which are open from the start.
    package var objects: [Object]
    /// The reads, in order.
    package var reads: [Read]

    /// How large the case is: what shrinking makes smaller, most important first.
    var size: [UInt64] {
        let parameters = objects.reduce(UInt64(0)) { $0 + $1.complexity } + (setup.complexity)
        return [
            UInt64(reads.count), UInt64(objects.count), sum(objects.map(\.plaintextByteCount)),
            sum(reads.map { UInt64($0.count) }), sum(reads.map(\.offset)), parameters,
        ]
    }

    private func sum(_ values: [UInt64]) -> UInt64 {
        values.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    }
}

extension SearchCase.Object {
    /// How far the parameters are from the simplest ones.
    fileprivate var complexity: UInt64 {
        var result: UInt64 = key.count == 16 ? 0 : 2
        if seed != 0 { result += 1 }
        if key.contains(where: { $0 != 0 }) { result += 1 }
        switch strategy {
        case .ctr(let iv): result += iv.bigEndianValue == 0 ? 0 : 1
        case .cbcContinuous(let iv, let padding):
            result += 4 + (iv.bigEndianValue == 0 ? 0 : 1) + (padding == .none ? 0 : 2)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            result += 8 + (iv.bigEndianValue == 0 ? 0 : 1) + (padding == .none ? 0 : 2) + (ivRule == .fixed ? 0 : 1)
            result += chunkByteCount > 16 ? 1 : 0
        case .chunked: result += 16
        }
        return result
    }

    /// The object as a group of vectors with reads whose outcome follows from its length.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.unalignedPlaintext` for an object that cannot be.
    package func group(id: String, windowByteCount: Int, reads: [RangeRead] = []) throws(DecryptionError) -> VectorGroup
    {
        let object = try GeneratedObject(
            strategy: strategy, key: SecretKey(key), plaintextByteCount: plaintextByteCount, seed: seed)
        return VectorGroup(
            id: id, source: "differential search, seed \(seed)", flags: [.exhaustive], strategy: strategy,
            key: object.key, ciphertext: object.source,
            plaintext: GroupPlaintext(oracle: object.oracle, ciphertext: object.source, byteCount: plaintextByteCount),
            opening: .opens(plaintextByteCount: plaintextByteCount), windowByteCounts: [windowByteCount], reads: reads)
    }
}

extension ReaderSetup {
    /// How far the setup is from the simplest one.
    fileprivate var complexity: UInt64 {
        var result: UInt64 = supply == .whole ? 0 : 1
        switch access {
        case .cursor(.max): break
        case .cursor: result += 1
        case .freshBuffers(.max): result += 2
        case .freshBuffers: result += 3
        case .wholeChunk: result += 4
        }
        return result
    }
}

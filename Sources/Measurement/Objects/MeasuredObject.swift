import ByteSources
package import JSON
package import RandomAccess
import Results
import SubjectProtocol
import Vectors

/// An object that cells are measured on: how a subject opens it, and what its plaintext must be.
package struct MeasuredObject: Sendable {
    /// How the ciphertext is laid out.
    package let strategy: Strategy
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64

    let key: SecretKey
    let source: JSONValue
    let expected: any ExpectedPlaintext

    /// Describes an object.
    ///
    /// - Parameters:
    ///   - strategy: How the ciphertext is laid out.
    ///   - key: The key; it reaches subjects through a pipe, never by a command line.
    ///   - plaintextByteCount: The plaintext's length.
    ///   - source: The member `source` of an `open` request.
    ///   - expected: The plaintext.
    package init(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, source: JSONValue,
        expected: any ExpectedPlaintext
    ) {
        self.strategy = strategy
        self.key = key
        self.plaintextByteCount = plaintextByteCount
        self.source = source
        self.expected = expected
    }

    /// The key's length in bytes.
    package var keyByteCount: Int { key.byteCount }

    /// The `open` request for this object, as a cell has it.
    ///
    /// Only this program's subjects know what `remote` and `mapped` in a source mean; others ignore them.
    func openRequest(id: UInt64, cell: Cell) -> JSONValue {
        var members = strategy.protocolMembers
        members["op"] = "open"
        members["id"] = .integer(id)
        members["source"] = source
        if case .object(var place) = source, cell.source == ObjectKind.mmap.rawValue {
            place["mapped"] = true
            members["source"] = .object(place)
        }
        if case .object(var place) = source, let latency = cell.remoteLatencyNanoseconds {
            place["remote"] = [
                "latencyNanoseconds": .integer(latency), "bytesPerSecond": JSONValue(cell.remoteBytesPerSecond),
            ]
            members["source"] = .object(place)
        }
        members["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
        return .object(members)
    }
}

extension Cell {
    /// The strategy with its parameters; the IV of a measured object is always the same, with 16 different bytes.
    ///
    /// - Throws: `DecryptionError.unsupported` or `.invalidParameter` for a cell that no plan makes.
    func strategy() throws(DecryptionError) -> Strategy {
        let iv = Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0)
        guard let padding = padding.map(Padding.init(rawValue:)) ?? .pkcs7 else {
            throw .invalidParameter(name: "padding", value: self.padding ?? "", expected: "pkcs7 or none")
        }
        switch strategy {
        case "cbc-continuous": return .cbcContinuous(iv: iv, padding: padding)
        case "ctr": return .ctr(iv: iv)
        case "cbc-chunked":
            guard let chunkByteCount, let rule = ivRule.flatMap(IVRule.init(rawValue:)) else {
                throw .invalidParameter(name: "cell", value: id, expected: "chunk length and IV rule")
            }
            return .cbcChunked(chunkByteCount: chunkByteCount, iv: iv, ivRule: rule, padding: padding)
        default: throw .unsupported("strategy \"\(strategy)\"")
        }
    }

    /// The reads of one iteration.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a cell that no plan makes.
    func workload(seed: UInt64, traces: [String: PlayerTrace]) throws(DecryptionError) -> Workload {
        switch CellWorkload(workload) {
        case .sequential: return .sequential(windowByteCount: windowByteCount)
        case .random(let rangeByteCount):
            let count = UInt64(readCount ?? CellWorkload.defaultReadCount)
            return .random(rangeByteCount: rangeByteCount, seed: seed, readCount: count)
        case .trace(let name):
            let reads = traces[name]?.reads(objectByteCount: objectByteCount, windowByteCount: windowByteCount)
            guard let reads else {
                throw .invalidParameter(name: "workload", value: workload, expected: "a trace within the object")
            }
            return .trace(reads)
        case nil:
            throw .invalidParameter(name: "workload", value: workload, expected: CellWorkload.expectation)
        }
    }
}

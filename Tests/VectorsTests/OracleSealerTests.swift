import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import Support
import Testing

@testable import Vectors

@Suite("objects that the oracle writes")
struct OracleSealerTests {
    /// Lengths around the edges of the first chunks, as far as a format can hold them.
    private static func lengths(_ strategy: Strategy, _ key: SecretKey) throws -> [UInt64] {
        let sizes = try sealer(strategy, key, 0).object.sizes
        let (first, full) = (UInt64(min(sizes.first, 65_536)), UInt64(min(sizes.full, 65_536)))
        let unit = sizes.isPadded ? 1 : UInt64(sizes.unit)
        let lengths = [0, 1, 16, first - 1, first, first + 1, first + full, first + full + unit, first + 2 * full + 17]
        return Set((lengths + [unit]).filter { $0 % unit == 0 }).sorted()
    }

    private static func plaintext(_ count: UInt64) -> [UInt8] {
        (0..<Int(count)).map { UInt8(truncatingIfNeeded: $0 &* 37 >> 3) }
    }

    private static func sealer(
        _ strategy: Strategy, _ key: SecretKey, _ plaintextByteCount: UInt64, alternative: UInt64 = 0
    ) throws -> OracleSealer {
        try OracleSealer(
            strategy, key: key, plaintextByteCount: plaintextByteCount,
            drawn: GeneratedSource(stream: SplitMix64Stream(seed: 7), byteCount: SourceLength.max),
            alternative: alternative)
    }

    /// A backend that has what an object takes; `nil` if this machine lacks such a library.
    private static func backend(_ need: CipherNeed?, _ strategy: Strategy) -> (any CipherBackend)? {
        BackendRegistry.entries.lazy.compactMap { try? $0.make() }.first { backend in
            // An object without chunks tells nothing.
            need?.isMet(by: backend) ?? backend.supports(strategy)
        }
    }

    @Test("our readers open them, and so does the oracle", arguments: Format.known)
    func opened(format: Format) throws {
        for keyed in DescribedVectors.strategies(of: format) {
            let (strategy, key) = (keyed.strategy, keyed.key)
            for length in try Self.lengths(strategy, key) {
                for alternative in UInt64(0)..<2 {
                    let sealer = try Self.sealer(strategy, key, length, alternative: alternative)
                    let source = MemorySource(try sealer.source().bytes())
                    let oracle = Oracle(strategy: strategy, key: key)
                    let what: Comment = "\(strategy.label), \(length) bytes, alternative \(alternative)"
                    #expect(try oracle.plaintextByteCount(of: source) == length, what)
                    // One that is a look at the first chunk has what that has.
                    if sealer.header.bytes.count >= sealer.object.header.count {
                        #expect(try oracle.header(of: source) == sealer.object.header, what)
                    }
                    // It is what comes of encrypting its plaintext.
                    let plaintext = try Self.opened(source, strategy, key)
                    let sealed = MemorySource(try sealer.sealed(plaintext))
                    #expect(try sealer.stored(sealed).bytes() == source.bytes(), what)
                    guard let backend = Self.backend(try sealer.object.need(), strategy) else { continue }
                    let object = try EncryptedObject(source: source, strategy: strategy, backend: backend, key: key)
                    #expect(object.plaintextByteCount == length, what)
                    #expect(try object.makeCursor().read(at: 0, count: Int(length) + 1) == plaintext, what)
                }
            }
        }
    }

    @Test("the oracle opens what our writer makes", arguments: Format.known)
    func written(format: Format) throws {
        for keyed in DescribedVectors.strategies(of: format) where keyed.strategy.hasWholeChunks {
            let (strategy, key) = (keyed.strategy, keyed.key)
            let need = try Self.sealer(strategy, key, 4096).object.need()
            // Nobody says what a trailer is, and our writer holds no whole file.
            let isHeld = !strategy.isStreaming && format.chunk == nil
            guard let backend = Self.backend(need, strategy), format.trailer == nil, !isHeld else { continue }
            for length in try Self.lengths(strategy, key) {
                let plaintext = Self.plaintext(length)
                let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
                var ciphertext: [UInt8] = []
                try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
                try encryptor.finish { ciphertext += $0 }
                let source = MemorySource(ciphertext)
                #expect(try Self.opened(source, strategy, key) == plaintext, "\(strategy.label), \(length) bytes")
                // What it drew is in the object, so that the oracle makes the same bytes of it.
                let sealer = try OracleSealer(
                    strategy, key: key, plaintextByteCount: length, drawn: Drawn(ciphertext))
                #expect(try sealer.sealed(plaintext) == ciphertext, "\(strategy.label), \(length) bytes")
                // The last block of a padded chunk is another one, since it is drawn as plaintext, as all data are with a
                // synthetic IV.
                guard !sealer.object.sizes.isPadded, need?.cipher.hasSyntheticIV != true else { continue }
                #expect(try OracleSource(sealer).bytes() == ciphertext, "\(strategy.label), \(length) bytes")
            }
        }
    }

    @Test("reference objects are made again, to the byte")
    func reference() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../data/interop").standardized.path
        var names: Set<String> = []
        for path in try InteropIndex.folders(in: folder) {
            for object in try InteropIndex(folder: path).objects {
                // A list of pieces, such as a film, is not written by the oracle.
                guard let strategy = object.strategy else { continue }
                let plaintext = try Self.opened(MemorySource(object.ciphertext), strategy, object.key)
                #expect(SHAFunction.sha256.hash(plaintext) == object.plaintextDigest, "\(object.format)/\(object.name)")
                let (drawn, _) = try strategy.withWholeChunks(MemorySource(object.ciphertext))
                let bytes = Drawn(try drawn.bytes())
                func sealer(endsWithNothing: Bool) throws -> OracleSealer {
                    try OracleSealer(
                        strategy, key: object.key, plaintextByteCount: UInt64(plaintext.count),
                        drawn: bytes, endsWithNothing: endsWithNothing)
                }
                // Some writers end with a chunk without data behind full ones.
                let usual = try sealer(endsWithNothing: false)
                let sealer =
                    usual.object.size < object.ciphertext.count && strategy.format.emptyLast == .allowed
                    ? try sealer(endsWithNothing: true) : usual
                // Some write a header where nothing is behind it, which is not needed.
                if sealer.object.size == 0, strategy.format.isEmptyObjectEmpty { continue }
                var made = try sealer.stored(MemorySource(try sealer.sealed(plaintext))).bytes()
                // The oracle leaves zeros where only a check over all chunks knows more.
                let read = try Oracle(strategy: strategy, key: object.key).object(MemorySource(object.ciphertext))
                if let gap = read.table.map({ Int($0.gap.lowerBound)..<Int($0.gap.upperBound) }) {
                    #expect(made[gap].allSatisfy { $0 == 0 }, "\(object.format)/\(object.name)")
                    made.replaceSubrange(gap, with: object.ciphertext[gap])
                }
                #expect(made.count == object.ciphertext.count, "\(object.format)/\(object.name)")
                // A hole is written by leaving it out.
                guard strategy.format.hole == nil || !plaintext.isEmpty && plaintext.contains(where: { $0 != 0 }),
                    !Self.hasHole(object.ciphertext, sealer)
                else { continue }
                names.insert(object.format)
                #expect(made == object.ciphertext, "\(object.format)/\(object.name)")
            }
        }
        #expect(names == Set(Format.names))
    }

    private static func hasHole(_ ciphertext: [UInt8], _ sealer: OracleSealer) -> Bool {
        let sizes = sealer.object.sizes
        return sealer.object.format.hole != nil
            && (0..<sealer.object.chunkCount).contains { index in
                let start = Int(sizes.storedStart(ofChunk: index))
                return ciphertext[start...].prefix(32).allSatisfy { $0 == 0 }
            }
    }

    private static func opened(_ source: MemorySource, _ strategy: Strategy, _ key: SecretKey) throws -> [UInt8] {
        let oracle = Oracle(strategy: strategy, key: key)
        let count = try oracle.plaintextByteCount(of: source)
        return try GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: count).bytes(0..<count)
    }

    /// An object's own bytes, and zeros behind it: a header that is a look at an object without bytes.
    private struct Drawn: ByteSource {
        let bytes: [UInt8]
        let byteCount = SourceLength.max

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            buffers.forEach { position, buffer in
                for index in buffer.indices {
                    let place = offset + UInt64(position + index)
                    buffer[index] = place < UInt64(bytes.count) ? bytes[Int(place)] : 0
                }
            }
            return buffers.byteCount
        }
    }

    @Test("what a description does not say how to write is refused")
    func refused() throws {
        let text = """
            odd:
              inputs: {key: 32}
              header: [{one: {bytes: 1, is: two}}, {two: {bytes: 1, is: one}}]
              cipher: aes-ctr
              chunk: whole
              key: key
              nonce: zeros(16)
            """
        let format = try #require(try Format.read(Array(text.utf8)).first)
        let key = try SecretKey([UInt8](repeating: 1, count: 32))
        #expect(throws: DecryptionError.self) { try Self.sealer(Strategy(format), key, 1) }
    }
}

import ByteSources
package import RandomAccess
import Statistics
import Support
package import Vectors

/// The outcome of one format's reference objects.
package struct InteropRecord: Hashable, Sendable {
    /// A wrong read, or a damage that was not handled as expected.
    package struct Failure: Encodable, Hashable, Sendable {
        package let file: String
        package let backend: String
        /// The requested range, and the bytes or the error that were the result.
        package let reason: String
    }

    /// The format's name.
    package let format: String
    /// The counts: the objects, the reads and damages over all backends, and their outcomes. A check over all chunks
    /// counts as a read.
    package var files = 0
    package var ranges = 0
    package var damages = 0
    package var passed = 0
    package var failed = 0
    /// The number of damages that were not detected, in formats that do not promise to detect them.
    package var notDetectable = 0
    /// The number of objects for which a backend or this program lacks the cipher or the description.
    package var unsupported = 0
    /// The first failures.
    package var failures: [Failure] = []
    /// The ciphers and descriptions that the skipped objects lack, each once.
    package var gaps: [String] = []

    init(format: String) { self.format = format }

    private static let maxFailureCount = 20

    fileprivate mutating func fail(_ object: InteropObject, _ backend: String, _ reason: String) {
        failed += 1
        guard failures.count < Self.maxFailureCount else { return }
        failures.append(Failure(file: object.name, backend: backend, reason: reason))
    }
}

/// Runs reference objects with backends: ranges, the whole, and damages.
package struct InteropVerification {
    private let backends: [any CipherBackend]
    /// The number of random ranges of each object.
    private static let randomCount = 24

    package init(backends: [any CipherBackend]) { self.backends = backends }

    /// Runs all objects of some indexes.
    ///
    /// - Parameters:
    ///   - indexes: The indexes.
    ///   - progress: Called before each object; ends the run by returning `false`.
    /// - Returns: A record for each format, in the order of the indexes.
    package func run(
        _ indexes: [InteropIndex], progress: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
    ) -> [InteropRecord] {
        var records: [InteropRecord] = []
        let objects = indexes.flatMap(\.objects)
        for (done, object) in objects.enumerated() {
            guard progress(done, objects.count) else { return records }
            let index = records.firstIndex { $0.format == object.format } ?? records.endIndex
            if index == records.endIndex { records.append(InteropRecord(format: object.format)) }
            records[index].files += 1
            for reading in object.readings {
                switch reading {
                case .strategy(let strategy): run(object, strategy, &records[index])
                case .pieces(let places): run(object, places, &records[index])
                case .film: run(object, nil, &records[index])
                }
            }
            guard object.readings.isEmpty else { continue }
            records[index].unsupported += backends.count
            if let gap = object.gap, !records[index].gaps.contains(gap) { records[index].gaps.append(gap) }
        }
        return records
    }

    private func run(_ object: InteropObject, _ strategy: Strategy, _ record: inout InteropRecord) {
        let map: ObjectMap
        let damages: [TamperCase]
        // Chunks whose parts stand apart are damaged once they have been put together.
        let wholeStrategy: Strategy
        let hasWholeCheck: Bool
        let holdsWhole: ([UInt8]) throws(DecryptionError) -> Bool?
        do throws(DecryptionError) {
            let (source, whole) = try strategy.withWholeChunks(MemorySource(object.ciphertext))
            wholeStrategy = whole
            let original = try source.bytes()
            let oracle = Oracle(strategy: whole, key: object.key)
            let gap = try strategy.bytesBehindTable(in: MemorySource(object.ciphertext))
            holdsWhole = { bytes throws(DecryptionError) in
                try oracle.holdsWhole(of: MemorySource(bytes), gap: gap)
            }
            let holds = try holdsWhole(original)
            hasWholeCheck = holds != nil
            if let holds {
                record.ranges += 1
                if holds {
                    record.passed += 1
                } else {
                    record.fail(object, "the oracle", "the check over all chunks fails: expected it to hold")
                }
            }
            map = try ObjectMap(of: MemorySource(original), strategy: whole, key: object.key)
            damages = try TamperTarget(
                strategy: whole, key: object.key, original: original, plaintext: []
            ).someCases
        } catch {
            for backend in backends { record.fail(object, backend.name, "open: \(error)") }
            return
        }
        for backend in backends {
            if let cipher = map.cipher,
                !backend.supports(
                    cipher, keyByteCount: map.keyByteCount,
                    nonceByteCount: cipher.isStreaming ? nil : map.nonceByteCount, hmac: map.hmac)
            {
                record.unsupported += 1
                continue
            }
            func reader(_ strategy: Strategy) -> Reader {
                Reader(
                    object: object, backend: backend, chunkByteCount: strategy.chunkByteCount
                ) { (ciphertext) throws(DecryptionError) in
                    try EncryptedObject(
                        source: MemorySource(ciphertext), strategy: strategy, backend: backend, key: object.key)
                }
            }
            guard read(reader(strategy), &record) else { continue }
            for damage in damages {
                record.damages += 1
                do throws(DecryptionError) {
                    _ = try reader(wholeStrategy).whole(damage.content.bytes)
                    if damage.isNoticed {
                        record.fail(object, backend.name, "\(damage.name) was not noticed: expected an error")
                    } else if hasWholeCheck, (try? holdsWhole(damage.content.bytes)) != true {
                        record.passed += 1
                    } else {
                        record.notDetectable += 1
                    }
                } catch .authenticationFailed, .headerRejected, .invalidHeader, .truncatedCiphertext,
                    .invalidPadding, .unsupported
                {
                    record.passed += 1
                } catch {
                    record.fail(object, backend.name, "\(damage.name): \(error): expected an error about the object")
                }
            }
        }
    }

    /// Reads an object that is a list of pieces, or a film if `places` is `nil`. Nothing detects a change of it.
    private func run(_ object: InteropObject, _ places: [PiecePlace]?, _ record: inout InteropRecord) {
        var found = places ?? []
        do throws(DecryptionError) {
            let source = MemorySource(object.ciphertext)
            if places == nil { found = [PiecePlace(0..<source.byteCount, try ProtectedExtents(film: source))] }
        } catch {
            for backend in backends { record.fail(object, backend.name, "open: \(error)") }
            return
        }
        let all = found
        let ciphers = all.reduce(into: Set<Cipher>()) { ciphers, place in
            if let strategy = place.strategy { ciphers.insert(strategy.cipher) }
            if let extents = place.extents { ciphers.formUnion(extents.ciphers) }
        }
        for backend in backends {
            guard ciphers.allSatisfy({ backend.supports($0, keyByteCount: object.key.byteCount) }) else {
                record.unsupported += 1
                continue
            }
            let chunk = all.count > 1 ? all[0].range.upperBound : nil
            let reader = Reader(object: object, backend: backend, chunkByteCount: chunk) {
                (ciphertext) throws(DecryptionError) in
                let pieces = CompositeObject(
                    PlacedPieces(source: MemorySource(ciphertext), places: all, key: object.key), backend: backend)
                try pieces.requireAll()
                return pieces
            }
            _ = read(reader, &record)
        }
    }

    /// Reads the undamaged object.
    ///
    /// - Returns: Whether the object can be read whole, so that damages mean something.
    private func read(_ reader: Reader, _ record: inout InteropRecord) -> Bool {
        let (object, name) = (reader.object, reader.backend.name)
        do throws(DecryptionError) {
            record.ranges += 1
            let plaintext = try reader.whole(object.ciphertext)
            guard SHAFunction.sha256.hash(plaintext) == object.plaintextDigest,
                plaintext.count == object.plaintextByteCount
            else {
                record.fail(object, name, "the whole: \(plaintext.count) other bytes: expected the plaintext")
                return false
            }
            record.passed += 1
            let cursor = try reader.open(object.ciphertext).makeReader(windowByteCount: .max)
            func check(_ offset: Int, _ count: Int, isRight: ([UInt8]) -> Bool) {
                record.ranges += 1
                do throws(DecryptionError) {
                    if isRight(try cursor.read(offset, count)) {
                        record.passed += 1
                    } else {
                        record.fail(object, name, "\(offset)+\(count): other bytes: expected the plaintext's")
                    }
                } catch {
                    record.fail(object, name, "\(offset)+\(count): \(error): expected the plaintext's bytes")
                }
            }
            for range in object.ranges {
                check(range.offset, range.count) { bytes in
                    bytes.count == range.delivered && range.bytes.map { $0 == bytes } ?? true
                        && range.digest.map { $0 == SHAFunction.sha256.hash(bytes) } ?? true
                }
            }
            for range in Self.ranges(of: plaintext.count, chunkByteCount: reader.chunkByteCount) {
                check(range.lowerBound, range.count) {
                    $0.elementsEqual(plaintext[range.clamped(to: plaintext.indices)])
                }
            }
            return true
        } catch {
            record.fail(object, name, "the whole: \(error): expected the plaintext")
            return false
        }
    }

    /// Returns ranges at the edges of the first and the last chunks, and pseudo-random ones; some go past the end.
    private static func ranges(of byteCount: Int, chunkByteCount: UInt64?) -> [Range<Int>] {
        var ranges = [0..<0, byteCount..<byteCount + 1]
        if let chunk = chunkByteCount.flatMap({ Int(exactly: $0) }), chunk < byteCount {
            for edge in Set([chunk, byteCount / chunk * chunk]).sorted() {
                ranges += [edge - 1..<edge + 1, edge..<edge + 1, edge - 1..<edge]
            }
        }
        var random = SplitMix64(seed: UInt64(byteCount))
        for _ in 0..<randomCount {
            let offset = Int.random(in: 0...byteCount, using: &random)
            ranges.append(offset..<offset + Int.random(in: 0...byteCount + 16, using: &random))
        }
        return ranges.filter { $0.lowerBound <= byteCount }
    }

    /// A reader of one object with one backend.
    private struct Reader {
        let object: InteropObject
        let backend: any CipherBackend
        /// The length of the first chunk or piece, if there are several.
        let chunkByteCount: UInt64?
        let open: ([UInt8]) throws(DecryptionError) -> any TransferableObject

        func whole(_ ciphertext: [UInt8]) throws(DecryptionError) -> [UInt8] {
            let object = try open(ciphertext)
            return try object.makeReader(windowByteCount: .max).read(0, Int(object.plaintextByteCount))
        }
    }

    /// Pieces of one source with one key.
    private struct PlacedPieces: PieceList {
        let source: any ByteSource
        let places: [PiecePlace]
        let key: SecretKey

        var count: Int { places.count }
        var sourceCount: Int { 1 }
        func openSource(_ source: Int) -> any ByteSource { self.source }
        func source(of piece: Int) -> Int { 0 }
        func place(of piece: Int, in source: any ByteSource) -> PiecePlace { places[piece] }
        func keys(of piece: Int) -> KeySet? { .one(key) }
        func name(of piece: Int) -> String { "piece \(piece + 1)" }
    }
}

extension RandomAccessDecryptor {
    fileprivate func read(_ offset: Int, _ count: Int) throws(DecryptionError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        let delivered = try read(at: UInt64(offset), into: buffer)
        return Array(buffer.prefix(delivered))
    }
}

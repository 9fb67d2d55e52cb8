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
        /// The name of the backend, or of the program.
        package let backend: String
        /// The requested range, and the bytes or the error that were the result.
        package let reason: String
    }

    /// The format's name.
    package let format: String
    /// The counts: the objects, the reads and damages over all subjects, and their outcomes. A check over all chunks
    /// counts as a read.
    package var files = 0
    package var ranges = 0
    package var damages = 0
    package var passed = 0
    package var failed = 0
    /// The number of damages that were not detected, in formats that do not promise to detect them.
    package var notDetectable = 0
    /// The number of objects for which a subject or this program lacks the cipher or the description.
    package var unsupported = 0
    /// The first failures.
    package var failures: [Failure] = []
    /// The ciphers and descriptions that the skipped objects lack, each once.
    package var gaps: [String] = []

    init(format: String) { self.format = format }

    private static let maxFailureCount = 20

    fileprivate mutating func fail(_ object: InteropObject, _ subject: String, _ reason: String) {
        failed += 1
        guard failures.count < Self.maxFailureCount else { return }
        failures.append(Failure(file: object.name, backend: subject, reason: reason))
    }
}

/// Puts reference objects to subjects: ranges, the whole, and damages.
package struct InteropVerification {
    /// Our readers, which have lists of pieces, too.
    private let backends: [any CipherBackend]
    private let subjects: [any SubjectUnderTest]
    /// The number of random ranges of each object.
    private static let randomCount = 24
    /// Returns `true` to skip the rest.
    private let isInterrupted: () -> Bool

    /// Once `isInterrupted` returns `true`, what is not finished is not counted.
    package init(
        backends: [any CipherBackend] = [], subjects: [any SubjectUnderTest] = [],
        isInterrupted: @escaping () -> Bool = { false }
    ) {
        self.backends = backends
        self.subjects = backends.map { InProcessSubject(backend: $0) } + subjects
        self.isInterrupted = isInterrupted
    }

    /// Runs all objects of some indexes.
    ///
    /// - Parameters:
    ///   - indexes: The indexes.
    ///   - progress: Called before each object.
    /// - Returns: A record for each format, in the order of the indexes.
    package func run(
        _ indexes: [InteropIndex], progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> [InteropRecord] {
        var records: [InteropRecord] = []
        let objects = indexes.flatMap(\.objects)
        for (done, object) in objects.enumerated() {
            guard !isInterrupted() else { return records }
            progress(done, objects.count)
            let index = records.firstIndex { $0.format == object.format } ?? records.endIndex
            if index == records.endIndex { records.append(InteropRecord(format: object.format)) }
            records[index].files += 1
            for reading in object.readings { run(object, reading, &records[index]) }
            guard object.readings.isEmpty else { continue }
            records[index].unsupported += subjects.count
            if let gap = object.gap, !records[index].gaps.contains(gap) { records[index].gaps.append(gap) }
        }
        return records
    }

    private func run(_ object: InteropObject, _ reading: InteropObject.Reading, _ record: inout InteropRecord) {
        var (subjects, damages) = (subjects, Damages?.none)
        switch reading {
        case .film: break
        case .pieces(let places):
            // There is no request for a list of pieces.
            record.unsupported += subjects.count - backends.count
            subjects = backends.map { InProcessSubject(pieces: places, key: object.key, backend: $0) }
        case .strategy(let strategy):
            if !object.isTold {
                record.unsupported += subjects.count - backends.count
                subjects.removeSubrange(backends.count...)
            }
            do throws(DecryptionError) {
                damages = try Damages(of: object, strategy)
            } catch {
                for subject in subjects { record.fail(object, subject.name, "open: \(error)") }
                return
            }
            guard let holds = damages?.holdsWhole else { break }
            record.ranges += 1
            if holds {
                record.passed += 1
            } else {
                record.fail(object, "the oracle", "the check over all chunks fails: expected it to hold")
            }
        }
        for subject in subjects {
            // An interrupt ends programs, too, whose missing answers are no failures.
            let before = record
            run(Reader(object: object, reading: reading, subject: subject), damages, &record)
            guard !isInterrupted() else {
                record = before
                return
            }
        }
    }

    /// Puts an object and its damages to one subject.
    private func run(_ reader: Reader, _ damages: Damages?, _ record: inout InteropRecord) {
        let (object, subject) = (reader.object, reader.subject)
        guard case .fit = subject.supportStatus(for: reader.group(object.ciphertext)) else {
            record.unsupported += 1
            return
        }
        guard read(reader, &record), let damages else { return }
        for (damage, isNoticedByWhole) in damages.cases where subject.isWorthAsking([]) {
            record.damages += 1
            do throws(Refusal) {
                try reader.whole(damage.content.bytes).opened.close()
                if damage.isNoticed {
                    record.fail(object, subject.name, "\(damage.name) was not noticed: expected an error")
                } else if isNoticedByWhole {
                    record.passed += 1
                } else {
                    record.notDetectable += 1
                }
            } catch {
                if error.name.map({ damages.isTelling($0, of: damage) }) ?? false {
                    record.passed += 1
                } else {
                    record.fail(
                        object, subject.name, "\(damage.name): \(error.text): expected an error about the object")
                    subject.recover()
                }
            }
        }
    }

    /// Reads the undamaged object.
    ///
    /// - Returns: Whether the object can be read whole, so that damages mean something.
    private func read(_ reader: Reader, _ record: inout InteropRecord) -> Bool {
        let (object, subject) = (reader.object, reader.subject)
        func fail(_ reason: String) {
            record.fail(object, subject.name, reason)
            subject.recover()
        }
        guard subject.isWorthAsking([]) else {
            record.ranges += 1
            record.fail(object, subject.name, "not asked, after too many missing answers: expected answers")
            return false
        }
        do throws(Refusal) {
            let (opened, plaintext) = try reader.whole(object.ciphertext)
            defer { opened.close() }
            record.ranges += 1
            guard SHAFunction.sha256.hash(plaintext) == object.plaintextDigest,
                plaintext.count == object.plaintextByteCount
            else {
                fail("the whole: \(plaintext.count) other bytes: expected the plaintext")
                return false
            }
            record.passed += 1
            func check(_ offset: Int, _ count: Int, isRight: ([UInt8]) -> Bool) {
                guard subject.takes(offset: UInt64(offset), count: count) else { return }
                record.ranges += 1
                do throws(Refusal) {
                    if isRight(try opened.bytes(offset, count)) {
                        record.passed += 1
                    } else {
                        fail("\(offset)+\(count): other bytes: expected the plaintext's")
                    }
                } catch {
                    fail("\(offset)+\(count): \(error.text): expected the plaintext's bytes")
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
            if error.name == ErrorName.unsupported.rawValue, !subject.promises(reader.group(object.ciphertext)) {
                record.unsupported += 1
            } else {
                record.ranges += 1
                fail("the whole: \(error.text): expected the plaintext")
            }
            return false
        }
    }

    /// Returns ranges at the edges of the first and the last chunks, and pseudo-random ones; some go past the end.
    private static func ranges(of byteCount: Int, chunkByteCount: UInt64?) -> [Range<Int>] {
        var ranges = [0..<0, byteCount..<byteCount + 1]
        if let chunk = chunkByteCount.flatMap({ Int(exactly: $0) }), chunk > 0, chunk < byteCount {
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

    /// The damages of an object, and what is expected of them.
    private struct Damages {
        /// The damages, and whether the check over all chunks notices those that no reader of ranges does.
        let cases: [(damage: TamperCase, isNoticedByWhole: Bool)]
        /// Says whether the check over all chunks holds for the undamaged object; `nil` if there is none.
        let holdsWhole: Bool?
        private let target: TamperTarget

        init(of object: InteropObject, _ strategy: Strategy) throws(DecryptionError) {
            let oracle = Oracle(strategy: strategy, key: object.key)
            let holdsWhole = try oracle.holdsWhole(of: MemorySource(object.ciphertext))
            target = try TamperTarget(
                strategy: strategy, key: object.key, original: object.ciphertext, plaintext: [])
            cases = target.someCases.map { damage in
                (
                    damage,
                    holdsWhole != nil && !damage.isNoticed
                        && (try? oracle.holdsWhole(of: MemorySource(damage.content.bytes))) != true
                )
            }
            self.holdsWhole = holdsWhole
        }

        /// Says whether an error says that the object is not right: one that the format has for damages, or that it
        /// has for this one.
        func isTelling(_ name: String, of damage: TamperCase) -> Bool {
            target.isTelling(name) || damage.openingErrors.contains { $0.rawValue == name }
        }
    }

    /// A subject's reader of one object.
    private struct Reader {
        let object: InteropObject
        let reading: InteropObject.Reading
        let subject: any SubjectUnderTest

        /// The number of bytes that are read past the end of the undamaged object.
        private static let extraByteCount = 1 << 17
        /// The max length of a read of the whole: a slow subject gets no longer ones.
        private static let pieceByteCount = 4 << 20

        /// The length of the first chunk or piece, if there are several.
        var chunkByteCount: UInt64? {
            switch reading {
            case .strategy(let strategy): strategy.chunkByteCount
            case .pieces(let places): places.count > 1 ? places[0].range.upperBound : nil
            case .film: nil
            }
        }

        /// Returns an object of these bytes as a group without reads.
        func group(_ ciphertext: [UInt8]) -> VectorGroup {
            switch reading {
            case .strategy(let strategy):
                VectorGroup(
                    id: object.name, flags: [], strategy: strategy, key: object.key,
                    ciphertext: MemorySource(ciphertext))
            case .film(let film):
                VectorGroup(id: object.name, flags: [], film: film, key: object.key, ciphertext: ciphertext)
            // The subject takes any film for its pieces.
            case .pieces:
                VectorGroup(
                    id: object.name, flags: [], film: FilmObject(samples: nil), key: object.key,
                    ciphertext: ciphertext)
            }
        }

        /// Opens an object of these bytes, and reads it to its end, or a little past that of the undamaged object.
        func whole(_ ciphertext: [UInt8]) throws(Refusal) -> (opened: any ObjectUnderTest, plaintext: [UInt8]) {
            let opened: any ObjectUnderTest
            do throws(DecryptionError) {
                opened = try subject.object(
                    group(ciphertext), setup: ReaderSetup(.cursor(windowByteCount: .max)))
            } catch {
                throw Refusal(text: "the ciphertext cannot be handed over: \(error)")
            }
            let byteCount: UInt64
            switch opened.open() {
            case .opened(let count?): byteCount = count
            case .opened(nil): throw Refusal(text: "the answer to open has no integer \"plaintextByteCount\"")
            case .refused(let reply): throw Refusal(name: reply.name, text: reply.text)
            case .noAnswer(let reason): throw Refusal(text: reason)
            }
            let end = object.plaintextByteCount
            let count = min(max(Int(clamping: byteCount), end), end + Self.extraByteCount)
            do throws(Refusal) {
                var plaintext: [UInt8] = []
                repeat {
                    let asked = min(Self.pieceByteCount, count - plaintext.count)
                    let bytes = try opened.bytes(plaintext.count, asked)
                    plaintext += bytes
                    guard bytes.count == asked else { break }
                } while plaintext.count < count
                return (opened, plaintext)
            } catch {
                opened.close()
                throw error
            }
        }
    }
}

/// The reason that an object does not open, or that a read delivers nothing.
private struct Refusal: Error {
    /// The name of the subject's error; `nil` if there is no proper answer.
    var name: String?
    let text: String
}

extension ObjectUnderTest {
    fileprivate func bytes(_ offset: Int, _ count: Int) throws(Refusal) -> [UInt8] {
        switch read(at: UInt64(offset), count: count, .none) {
        case .delivered(let bytes): return bytes.copy
        case .refused(let reply, _): throw Refusal(name: reply.name, text: reply.text)
        case .noAnswer(let reason): throw Refusal(text: reason)
        }
    }
}

extension InProcessSubject {
    /// A reader over a backend that takes any film for a list of pieces.
    fileprivate init(pieces places: [PiecePlace], key: SecretKey, backend: any CipherBackend) {
        let isSupported = places.allSatisfy { place in
            place.strategy.map { backend.supports($0.cipher, keyByteCount: key.byteCount) } ?? true
        }
        let openFilm: OpenFilm = { (setup, _, source, key) throws(DecryptionError) in
            let list = PlacedPieces(source: try source(), places: places, key: key)
            let pieces = CompositeObject(list, backend: backend)
            try pieces.requireAll()
            return try pieces.makeCursor(windowByteCount: setup.windowByteCount)
        }
        self.init(name: backend.name, openFilm: isSupported ? openFilm : nil) {
            (_, _, _, _) throws(DecryptionError) in throw .unsupported("an object that is not a list of pieces")
        }
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

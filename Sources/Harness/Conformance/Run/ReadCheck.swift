import ByteSources
import RandomAccess
import Support
import Synchronization
import Vectors

/// Puts one reader to one read and says what is wrong.
struct ReadCheck {
    let group: VectorGroup
    let buffer = GuardedBuffer()
    private let guesses = GuessCount()

    /// How often the origin of wrong bytes is still looked for, which takes much longer than a read.
    private final class GuessCount {
        var left = 2
    }

    /// What came of a read that is to deliver `expected` from `offset` on, or `nil` if it did.
    func mismatch(
        in reader: OpenedReader, offset: UInt64, count: Int, expecting expected: ExpectedBytes
    ) -> String? {
        reader.recorder?.reset()
        let room = buffer.prepare(count: count)
        let delivered: Int
        do {
            delivered = try reader.decryptor.read(at: offset, into: room)
        } catch {
            return "\(ErrorName(error).rawValue) (\(error)): expected \(expected.byteCount) bytes"
        }
        guard delivered == expected.byteCount else {
            return "\(delivered) bytes delivered: expected \(expected.byteCount)"
        }
        if let mismatch = expected.mismatch(in: UnsafeRawBufferPointer(rebasing: room[..<delivered])) {
            return explained(mismatch, offset: offset, delivered: UnsafeRawBufferPointer(rebasing: room[..<delivered]))
        }
        if let mismatch = buffer.mismatch(delivered: delivered) { return mismatch }
        guard let rule = reader.rule, let recorder = reader.recorder else { return nil }
        return rule.mismatch(in: recorder.ranges, delivering: offset..<offset + UInt64(delivered))
    }

    /// The complaint with what wrong bytes may come from, such as another block as the IV, if that can be told.
    private func explained(_ mismatch: String, offset: UInt64, delivered: UnsafeRawBufferPointer) -> String {
        guard guesses.left > 0, delivered.count <= ExpectedBytes.largestHeldByteCount else { return mismatch }
        guesses.left -= 1
        let wrong = WrongBytes(group: group, offset: offset, expectedByteCount: delivered.count, listed: nil)
        return (try? wrong.mismatch(in: Array(delivered))) ?? mismatch
    }

    /// What came of a read that is to fail, or `nil` if it did, under the right name and without harm.
    ///
    /// From a reader that may still have them, the bytes `mayDeliver` are as good.
    func mismatch(
        in reader: OpenedReader, offset: UInt64, count: Int, expecting name: ErrorName,
        mayDeliver: ExpectedBytes? = nil
    ) -> String? {
        let room = buffer.prepare(count: count)
        do {
            let delivered = try reader.decryptor.read(at: offset, into: room)
            guard let mayDeliver, delivered == mayDeliver.byteCount else {
                return "\(delivered) bytes delivered: expected the error \(name.rawValue)"
            }
            return mayDeliver.mismatch(in: UnsafeRawBufferPointer(rebasing: room[..<delivered]))
        } catch {
            guard ErrorName(error) == name else {
                return "\(ErrorName(error).rawValue) (\(error)): expected the error \(name.rawValue)"
            }
            if name == .authenticationFailed, let mismatch = released(UnsafeRawBufferPointer(room), from: offset) {
                return mismatch
            }
            // What would have been delivered is unspecified; what lies around it is not the reader's.
            return buffer.mismatch(delivered: count)
        }
    }

    /// What a chunk that is not authentic left in the buffer, or `nil` if that cannot be told: where a read lies within
    /// one chunk, nothing of what that would decrypt to may be there.
    private func released(_ room: UnsafeRawBufferPointer, from offset: UInt64) -> String? {
        let end = min(offset + UInt64(room.count), group.plaintext.byteCount)
        guard let format = group.strategy.chunkFormat, end >= offset + Self.tellingByteCount,
            let places = try? OracleChunkPlaces(format, ciphertextByteCount: group.ciphertext.byteCount),
            places.ciphertext(of: offset..<offset + 1) == places.ciphertext(of: offset..<end),
            let expected = try? ExpectedBytes(of: group.plaintext, offset: offset, count: Int(end - offset)),
            expected.mismatch(in: UnsafeRawBufferPointer(rebasing: room[..<Int(end - offset)])) == nil
        else { return nil }
        return "\(end - offset) bytes of a chunk that is not authentic were left in the buffer: expected none"
    }

    /// So many bytes do not agree by chance.
    private static let tellingByteCount: UInt64 = 16

    /// Whether a reader that has just failed still reads: a few bytes from the start.
    func mismatchAfterFailure(in reader: OpenedReader) throws(DecryptionError) -> String? {
        let count = Int(min(33, group.plaintext.byteCount))
        let expected = try ExpectedBytes(of: group.plaintext, offset: 0, count: count)
        return mismatch(in: reader, offset: 0, count: count, expecting: expected)
            .map { "after a failed read, the read 0+\(count): \($0)" }
    }
}

/// Lets a reader's source go wrong before a read, and says what the reader makes of it.
///
/// The ordinary check that follows proves that the reader has got over it.
struct FaultCheck {
    let group: VectorGroup
    let check: ReadCheck

    /// What is wrong with how a reader fails, or `nil`.
    func mismatch(in reader: OpenedReader, read: RangeRead, expected: ExpectedBytes) -> String? {
        guard !reader.faults.isEmpty, expected.byteCount > 0 else { return nil }
        defer { reader.inject(.none) }
        for (kind, name) in faults(for: read.offset..<read.offset + UInt64(expected.byteCount)) {
            reader.inject(kind)
            let found = check.mismatch(
                in: reader, offset: read.offset, count: read.count, expecting: name,
                mayDeliver: mayKeep(reader) && kind != .changedLength ? expected : nil)
            if let found, group.supply != .recovering { return "\(kind): \(found)" }
        }
        return nil
    }

    /// Whether a reader may deliver what it kept: readers of whole chunks do, and any reader of authenticated ones or
    /// of playlists.
    private func mayKeep(_ reader: OpenedReader) -> Bool {
        reader.setup.keepsPlaintext || group.strategy.chunkFormat != nil || group.playlist != nil
    }

    /// What goes wrong, and the error that is to come of it.
    private func faults(for range: Range<UInt64>) -> [(FaultySource.Fault, ErrorName)] {
        // Of several resources, all go wrong at once.
        guard group.playlist == nil else { return [(.failure, .io), (.end(at: 0), .truncatedCiphertext)] }
        let span = FetchRule(
            strategy: group.strategy, ciphertextByteCount: group.ciphertext.byteCount, windowByteCount: .max
        ).span(of: range)
        let (last, middle) = (span.upperBound - 1, span.lowerBound + UInt64(span.count) / 2)
        let failures: [(FaultySource.Fault, ErrorName)] = [
            (.failureFrom(last), .io), (.failureFrom(middle), .io), (.failure, .io),
        ]
        let ends: [(FaultySource.Fault, ErrorName)] = [last, middle, span.lowerBound].map {
            (.end(at: $0), .truncatedCiphertext)
        }
        switch group.supply {
        case .failing: return failures
        case .endingEarly: return ends
        case .recovering: return failures + ends
        case .changing: return [(.changedLength, .truncatedCiphertext)]
        case .any, .whole, .shortReads: return [failures[2], ends[0]]
        }
    }
}

/// Lets several threads do all the reads of a group at once, on one object.
struct ConcurrentReads {
    let group: VectorGroup
    let subject: ConformanceSubject

    /// A reader that is handed to the one thread that uses it.
    private struct Reader: @unchecked Sendable {
        let decryptor: any RandomAccessDecryptor
    }

    /// What went wrong, by the reads' numbers; nothing for a group that wants one thread.
    func mismatches() -> [Int: String] {
        guard group.threadCount > 1 else { return [:] }
        let readers: [Reader]
        do throws(DecryptionError) {
            readers = try open().map(Reader.init)
        } catch {
            return [0: "\(ErrorName(error).rawValue) (\(error)): expected it to open for \(group.threadCount) threads"]
        }
        let group = self.group
        let reads = Array(group.reads)
        let found = Mutex<[Int: String]>([:])
        ThreadTeam(threadCount: readers.count).run { thread in
            let check = ReadCheck(group: group)
            // Threads start at different places, so that they rarely read the same at the same time.
            for step in reads.indices {
                let index = (step + thread * reads.count / readers.count) % reads.count
                if let mismatch = Self.mismatch(of: reads[index], by: readers[thread].decryptor, check) {
                    found.withLock { $0[index] = "one of \(readers.count) threads: \(mismatch)" }
                }
            }
        }
        return found.withLock { $0 }
    }

    private func open() throws(DecryptionError) -> [any RandomAccessDecryptor] {
        if let openShared = subject.openShared, group.playlist == nil {
            return try openShared(group.threadCount, try subject.located(group.ciphertext), group.strategy, group.key)
        }
        var readers: [any RandomAccessDecryptor] = []
        for _ in 0..<group.threadCount {
            let setup = ReaderSetup(.cursor(windowByteCount: .max))
            readers.append(try subject.open(group, setup: setup))
        }
        return readers
    }

    private static func mismatch(
        of read: RangeRead, by decryptor: any RandomAccessDecryptor, _ check: ReadCheck
    ) -> String? {
        let room = check.buffer.prepare(count: read.count)
        let delivered: Int
        do throws(DecryptionError) {
            delivered = try decryptor.read(at: read.offset, into: room)
        } catch {
            if case .error(let name) = read.expected, ErrorName(error) == name { return nil }
            return "\(ErrorName(error).rawValue) (\(error))"
        }
        do throws(DecryptionError) {
            let expected: ExpectedBytes
            switch read.expected {
            case .bytes(let bytes): expected = ExpectedBytes(bytes)
            case .plaintext(let byteCount):
                expected = try ExpectedBytes(of: check.group.plaintext, offset: read.offset, count: byteCount)
            case .error(let name): return "\(delivered) bytes delivered: expected the error \(name.rawValue)"
            }
            guard delivered == expected.byteCount else {
                return "\(delivered) bytes delivered: expected \(expected.byteCount)"
            }
            return expected.mismatch(in: UnsafeRawBufferPointer(rebasing: room[..<delivered]))
                ?? check.buffer.mismatch(delivered: delivered)
        } catch {
            return "the expected bytes cannot be had: \(error)"
        }
    }
}

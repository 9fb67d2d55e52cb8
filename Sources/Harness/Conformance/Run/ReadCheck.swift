internal import RandomAccess
internal import Support
import Synchronization
internal import Vectors

/// Runs reads of one group against objects and says what is wrong. Readers in this process, programs, and mutants of
/// both share this one check.
///
/// It is one object, since a read would otherwise copy its group.
final class ReadCheck {
    /// The expected outcome of a read.
    enum Expectation {
        case bytes(ExpectedBytes)
        case error(ErrorName)

        /// The number of bytes to deliver.
        var byteCount: Int {
            if case .bytes(let bytes) = self { bytes.byteCount } else { 0 }
        }
    }

    let group: VectorGroup
    /// The number of times that the check still looks for the origin of wrong bytes, which takes much longer than a
    /// read.
    private var guessesLeft: Int

    init(group: VectorGroup, maxGuesses: Int) {
        self.group = group
        guessesLeft = maxGuesses
    }

    /// Returns the expected outcome of a read, computed once for all readers.
    ///
    /// - Throws: `DecryptionError` if the vector's own source fails.
    func expectation(of read: RangeRead) throws(DecryptionError) -> Expectation {
        switch read.expected {
        case .bytes(let bytes): .bytes(ExpectedBytes(bytes))
        case .plaintext(let count): .bytes(try ExpectedBytes(of: group.plaintext, offset: read.offset, count: count))
        case .error(let name): .error(name)
        }
    }

    /// Returns the mismatch of read `number` of the group, or `nil`. If the source is to fail, this includes how the
    /// object fails.
    func mismatch(
        in object: any ObjectUnderTest, read: RangeRead, number: Int, expecting expectation: Expectation
    ) -> String? {
        switch expectation {
        case .error(let name):
            return mismatch(in: object, at: read.offset, count: read.count, expecting: name)
        case .bytes(let bytes):
            return faultMismatch(in: object, read: read, expected: bytes)
                ?? mismatch(
                    in: object, at: read.offset, count: read.count, expecting: bytes,
                    object.supply(forRead: number, byteCount: bytes.byteCount))
        }
    }

    /// Returns what is wrong with a read that should deliver `expected`, or `nil`.
    func mismatch(
        in object: any ObjectUnderTest, at offset: UInt64, count: Int, expecting expected: ExpectedBytes,
        _ fault: SourceFault = .none
    ) -> String? {
        switch object.read(at: offset, count: count, fault) {
        case .noAnswer(let reason): return reason
        case .refused(let refusal, _): return "\(refusal.text): expected \(expected.byteCount) bytes"
        case .delivered(let bytes):
            return mismatch(in: bytes, expected: expected, offset: offset) ?? object.overrun(delivered: bytes.count)
        }
    }

    private func mismatch(in bytes: AnswerBytes, expected: ExpectedBytes, offset: UInt64) -> String? {
        let found =
            bytes.count == expected.byteCount
            ? bytes.withBytes { expected.mismatch(in: $0) }
            : "\(bytes.count) bytes delivered: expected \(expected.byteCount)"
        // Say where wrong bytes may come from, such as another block taken for the IV, if that can be found out.
        guard let found, guessesLeft > 0, bytes.count <= Self.maxExplainedByteCount else { return found }
        guessesLeft -= 1
        let wrong = WrongBytes(
            group: group, offset: offset, expectedByteCount: expected.byteCount, listed: expected.held)
        return ((try? wrong.mismatch(in: bytes.copy)) ?? nil) ?? found
    }

    private static let maxExplainedByteCount = 1 << 22

    /// Returns `nil` if a read fails with the expected error and without harm, otherwise what is wrong.
    ///
    /// A subject that may have kept the bytes `mayDeliver` may also deliver them.
    func mismatch(
        in object: any ObjectUnderTest, at offset: UInt64, count: Int, expecting name: ErrorName,
        _ fault: SourceFault = .none, mayDeliver: ExpectedBytes? = nil
    ) -> String? {
        switch object.read(at: offset, count: count, fault) {
        case .noAnswer(let reason): return reason
        case .delivered(let bytes):
            guard let mayDeliver, object.mayHaveKept(despite: fault) else {
                return "\(bytes.count) bytes delivered: expected the error \(name.rawValue)"
            }
            return mismatch(in: bytes, expected: mayDeliver, offset: offset)
        case .refused(let refusal, let left):
            guard refusal.name == name.rawValue else { return "\(refusal.text): expected the error \(name.rawValue)" }
            if fault != .none, !object.hasFaulted { return "\(refusal.text), though the source did not fail" }
            if name == .authenticationFailed, let found = left.withBytes({ released($0, from: offset) }) {
                return found
            }
            // The content of the range to be read is unspecified; the bytes around it are not the reader's.
            return object.overrun(delivered: count)
        }
    }

    /// Describes the plaintext of an unauthentic chunk that was left in the buffer; `nil` if there is none, or it
    /// cannot be told. If a read lies within one chunk, nothing that the chunk decrypts to may be in the buffer.
    private func released(_ left: UnsafeRawBufferPointer, from offset: UInt64) -> String? {
        let end = min(offset + UInt64(left.count), group.plaintext.byteCount)
        guard group.strategy.isAuthenticated, end >= offset + Self.tellingByteCount,
            let layout = try? OracleLayout(group.strategy, ciphertextByteCount: group.ciphertext.byteCount),
            layout.ciphertext(of: offset..<offset + 1) == layout.ciphertext(of: offset..<end),
            let expected = try? ExpectedBytes(of: group.plaintext, offset: offset, count: Int(end - offset)),
            expected.mismatch(in: UnsafeRawBufferPointer(rebasing: left[..<Int(end - offset)])) == nil
        else { return nil }
        return "\(end - offset) bytes of a chunk that is not authentic were left in the buffer: expected none"
    }

    /// This many bytes do not agree by chance.
    private static let tellingByteCount: UInt64 = 16

    /// Returns what is wrong with an object after a read that failed as it should: it must deliver a few bytes from the
    /// start.
    func mismatchAfterFailure(in object: any ObjectUnderTest) throws(DecryptionError) -> String? {
        let count = Int(min(33, group.plaintext.byteCount))
        let expected = try ExpectedBytes(of: group.plaintext, offset: 0, count: count)
        return mismatch(in: object, at: 0, count: count, expecting: expected)
            .map { "after a failed read, the read 0+\(count): \($0)" }
    }

    /// Injects faults into the source before a read and returns what is wrong with how the object fails, or `nil`.
    ///
    /// The ordinary check that follows proves that the object has recovered.
    func faultMismatch(in object: any ObjectUnderTest, read: RangeRead, expected: ExpectedBytes) -> String? {
        guard object.meetsFaults, expected.byteCount > 0 else { return nil }
        for (fault, name) in faults(for: read.offset..<read.offset + UInt64(expected.byteCount), of: object) {
            let found = mismatch(
                in: object, at: read.offset, count: read.count, expecting: name, fault, mayDeliver: expected)
            if let found, group.supply != .recovering { return "\(fault): \(found)" }
        }
        return nil
    }

    /// Returns the faults to inject, each with the error that it should cause.
    private func faults(for range: Range<UInt64>, of object: any ObjectUnderTest) -> [(SourceFault, ErrorName)] {
        // If there are several resources, all have the fault at once.
        guard FetchRule.tells(of: group) else { return [(.failure, .io), (.end(at: 0), .truncatedCiphertext)] }
        let rule = FetchRule(
            strategy: group.strategy, granularity: .block, ciphertextByteCount: group.ciphertext.byteCount)
        let span = rule.span(of: range)
        let (last, middle) = (span.upperBound - 1, span.lowerBound + UInt64(span.count) / 2)
        var failures: [(SourceFault, ErrorName)] {
            [(.failureFrom(last), .io), (.failureFrom(middle), .io), (.failure, .io)]
        }
        var ends: [(SourceFault, ErrorName)] {
            [last, middle, span.lowerBound].map { (.end(at: $0), .truncatedCiphertext) }
        }
        switch group.supply {
        case .failing: return failures
        case .endingEarly: return ends
        case .recovering: return failures + ends
        case .changing: return [(.changedLength, .truncatedCiphertext)]
        case .any, .whole, .shortReads: return [(.failure, .io), (.end(at: last), .truncatedCiphertext)]
        }
    }
}

/// Runs all reads of a group on several threads at once, on one object.
struct ConcurrentReads {
    let group: VectorGroup
    let subject: any SubjectUnderTest

    /// An object that is passed to the one thread that uses it.
    private struct Member: @unchecked Sendable {
        let object: any ObjectUnderTest
    }

    /// Returns the mismatches by the reads' numbers; empty for a group that wants one thread.
    func mismatches() -> [Int: String] {
        guard group.threadCount > 1 else { return [:] }
        let members: [Member]
        do throws(DecryptionError) {
            members = try subject.openForThreads(group).map(Member.init)
        } catch {
            return [0: "\(ErrorReply(error).text): expected it to open for \(group.threadCount) threads"]
        }
        let group = self.group
        let reads = group.reads
        let found = Mutex<[Int: String]>([:])
        ThreadTeam(threadCount: members.count).run { thread in
            let check = ReadCheck(group: group, maxGuesses: 0)
            // Threads start at different reads, so that they rarely read the same at the same time.
            for step in reads.indices {
                let index = (step + thread * reads.count / members.count) % reads.count
                let mismatch: String?
                do throws(DecryptionError) {
                    mismatch = check.mismatch(
                        in: members[thread].object, read: reads[index], number: index,
                        expecting: try check.expectation(of: reads[index]))
                } catch {
                    mismatch = "the expected bytes cannot be had: \(error)"
                }
                if let mismatch {
                    found.withLock { $0[index] = "one of \(members.count) threads: \(mismatch)" }
                }
            }
        }
        return found.withLock { $0 }
    }
}

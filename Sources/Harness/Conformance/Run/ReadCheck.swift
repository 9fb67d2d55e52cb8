internal import RandomAccess
internal import Vectors

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

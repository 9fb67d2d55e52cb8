internal import RandomAccess
import Results
import Vectors

/// Reads one tampered object, and counts the results.
struct TamperCheck {
    let target: TamperTarget
    let tampering: TamperCase
    let subject: any SubjectUnderTest

    /// The max surplus that is read from a subject that reports a much longer plaintext.
    private static let maxExtra: UInt64 = 1 << 17
    /// This many bytes do not agree by chance.
    private static let tellingByteCount = 16
    /// Our readers: one for the sequential reads, one for the scattered ones.
    private static let accesses: [ReaderSetup.Access] = [
        .cursor(windowByteCount: .max), .freshBuffers(windowByteCount: .max),
    ]

    /// Reads from the start to the end, or to the first error.
    func sequential() -> TamperRecord.Outcome {
        read(number: 0) { plaintextByteCount in
            let end = min(plaintextByteCount, UInt64(target.plaintext.count) + Self.maxExtra)
            return stride(from: 0, to: end, by: target.windowByteCount).map {
                ($0, Int(min(UInt64(target.windowByteCount), end - $0)))
            }
        }
    }

    /// Reads the block at the first changed ciphertext byte, the block after it, and the block at the last changed
    /// byte.
    func touching() -> TamperRecord.Outcome {
        read(number: 1) { plaintextByteCount in
            guard plaintextByteCount > 0, let first = tampering.touched.first, let last = tampering.touched.last
            else { return [] }
            var starts: [UInt64] = []
            for offset in [UInt64(first), UInt64(first) + 16, UInt64(last)] {
                let start = min(offset, plaintextByteCount - 1) / 16 * 16
                if !starts.contains(start) { starts.append(start) }
            }
            return starts.map { ($0, 16) }
        }
    }

    /// Opens the object and reads ranges up to the first error.
    private func read(
        number: Int, _ ranges: (_ plaintextByteCount: UInt64) -> [(offset: UInt64, count: Int)]
    ) -> TamperRecord.Outcome {
        let object: any ObjectUnderTest
        do throws(DecryptionError) {
            let setup = ReaderSetup(Self.accesses[number % Self.accesses.count])
            object = try subject.object(target.group(of: tampering.content), setup: setup)
        } catch {
            return TamperRecord.Outcome(state: .noAnswer, error: "the ciphertext cannot be handed over: \(error)")
        }
        defer { object.close() }
        let plaintextByteCount: UInt64
        switch object.open() {
        case .opened(let byteCount?): plaintextByteCount = byteCount
        case .opened(nil):
            return TamperRecord.Outcome(
                state: .noAnswer, error: "the answer to open has no integer \"plaintextByteCount\"")
        case .refused(let refusal):
            return TamperRecord.Outcome(
                state: target.isTelling(refusal.name) ? .detectedAtOpen : .otherError, error: refusal.name)
        case .noAnswer(let reason): return TamperRecord.Outcome(state: .noAnswer, error: reason)
        }
        var outcome = TamperRecord.Outcome(state: .undetected)
        var deliveredEnd: UInt64 = 0
        reading: for (index, range) in ranges(plaintextByteCount).enumerated() {
            switch object.read(at: range.offset, count: range.count, .none) {
            case .delivered(let answer):
                let bytes = answer.copy
                count(bytes, at: range.offset, in: &outcome)
                deliveredEnd = range.offset + UInt64(bytes.count)
                outcome.readCount += 1
                // A short read is the end to any client.
                if bytes.count < range.count { break reading }
                continue
            case .refused(let refusal, let left):
                outcome.state = target.isTelling(refusal.name) ? .detectedAtRead : .otherError
                outcome.error = refusal.name
                countReleased(left.copy, at: range.offset, in: &outcome)
            case .noAnswer(let reason):
                outcome.state = .noAnswer
                outcome.error = reason
            }
            outcome.read = index + 1
            outcome.offset = range.offset
            return outcome
        }
        if number == 0 {
            outcome.missingByteCount =
                UInt64(target.plaintext.count) - min(UInt64(target.plaintext.count), deliveredEnd)
        }
        return outcome
    }

    /// Compares delivered bytes with the original.
    private func count(_ bytes: [UInt8], at offset: UInt64, in outcome: inout TamperRecord.Outcome) {
        let start = min(Int(clamping: offset), target.plaintext.count)
        let original = target.plaintext[start..<min(target.plaintext.count, start + bytes.count)]
        let wrongByteCount = UInt64(zip(bytes, original).count { $0 != $1 })
        outcome.wrongByteCount += wrongByteCount
        if wrongByteCount > 0 {
            let range = offset..<offset + UInt64(bytes.count)
            for piece in target.changedPieces(of: tampering.content, in: range, isAuthentic: true) {
                let delivered = zip(piece.bytes, bytes.dropFirst(Int(piece.offset - offset)))
                let foreign = zip(delivered, target.plaintext.dropFirst(Int(clamping: piece.offset)))
                outcome.foreignByteCount += UInt64(foreign.count { $0.0 == $0.1 && $0.0 != $1 })
            }
        }
        outcome.extraByteCount += UInt64(bytes.count - original.count)
    }

    /// Counts the bytes of an unauthentic chunk that a refused read left in the buffer. If all of the read's part of
    /// that chunk equals the chunk's decrypted bytes, the subject has not held them back.
    private func countReleased(_ left: [UInt8], at offset: UInt64, in outcome: inout TamperRecord.Outcome) {
        let range = offset..<offset + UInt64(left.count)
        for piece in target.changedPieces(of: tampering.content, in: range, isAuthentic: false)
        where piece.bytes.count >= Self.tellingByteCount {
            let start = Int(piece.offset - offset)
            guard left[start..<start + piece.bytes.count].elementsEqual(piece.bytes) else { continue }
            let original = target.plaintext.dropFirst(Int(clamping: piece.offset)).prefix(piece.bytes.count)
            outcome.releasedByteCount += UInt64(piece.bytes.count)
            outcome.wrongByteCount += UInt64(zip(piece.bytes, original).count { $0 != $1 })
        }
    }
}

/// The required outcome of a tampering, for any subject.
struct TamperVerdict {
    let target: TamperTarget
    let tampering: TamperCase

    /// Returns what is wrong with the outcomes of the two readers, or `nil`.
    ///
    /// If PROTOCOL.md requires an error of `open`, so does this check. If the format can detect the change, a subject
    /// must deliver no wrong byte and nothing beyond the end, and must not finish without an error. If the format
    /// cannot detect it, nothing else is required. A reader of the changed places alone may deliver chunks that are
    /// authentic where they stand now, such as those behind the header of their own object.
    func failure(sequential: TamperRecord.Outcome, touching: TamperRecord.Outcome) -> String? {
        if let mismatch = mismatch(in: sequential) { return mismatch }
        guard !isForeign(touching) else { return nil }
        return mismatch(in: touching).map { "of the places alone: \($0)" }
    }

    private func isForeign(_ outcome: TamperRecord.Outcome) -> Bool {
        outcome.state == .undetected && outcome.extraByteCount == 0 && outcome.wrongByteCount > 0
            && outcome.wrongByteCount == outcome.foreignByteCount
    }

    private func mismatch(in outcome: TamperRecord.Outcome) -> String? {
        let demanded = tampering.openingErrors.map(\.rawValue)
        if outcome.state == .noAnswer { return "no answer: \(outcome.error ?? "none")" }
        let damage = damage(of: outcome)
        guard demanded.isEmpty else {
            if outcome.state == .detectedAtOpen || outcome.state == .otherError && outcome.read == nil {
                let found = outcome.error ?? ""
                return demanded.contains(found)
                    ? nil : "the error \(found): expected the error \(demanded.joined(separator: " or "))"
            }
            return "opened\(damage): expected the error \(demanded.joined(separator: " or "))"
        }
        guard tampering.isNoticed else { return nil }
        guard outcome.isDetected else {
            let end = outcome.error.map { "the error \($0)" } ?? "not noticed"
            return "\(end)\(damage): expected the error authenticationFailed"
        }
        if outcome.releasedByteCount > 0 {
            return "\(outcome.releasedByteCount) bytes of a chunk that is not authentic were left: expected none"
        }
        return damage.isEmpty ? nil : "noticed\(damage) before: expected none"
    }

    private func damage(of outcome: TamperRecord.Outcome) -> String {
        var parts: [String] = []
        func bytes(_ count: UInt64, _ adjective: String) -> String {
            "\(count) \(adjective)byte\(count == 1 ? "" : "s")"
        }
        // If the format takes bytes for authentic, no reader can tell.
        let wrongByteCount = outcome.wrongByteCount - outcome.foreignByteCount
        if wrongByteCount > 0 { parts.append(bytes(wrongByteCount, "wrong ")) }
        if outcome.extraByteCount > 0 { parts.append(bytes(outcome.extraByteCount, "") + " too many") }
        if outcome.missingByteCount > 0 { parts.append(bytes(outcome.missingByteCount, "") + " too few") }
        return parts.isEmpty ? "" : ", " + parts.joined(separator: " and ")
    }
}

internal import RandomAccess
package import Vectors

/// What came of the vectors of `hls-aes128`.
package struct PlaylistVerification: Sendable {
    /// A vector that was failed.
    package struct Failure: Sendable {
        /// The vector's identifier.
        package let id: String
        /// What it stands for.
        package let flags: [PlaylistFlag]
        /// What was wrong.
        package let reason: String
    }

    /// How many vectors were passed.
    package private(set) var passed = 0
    /// The first failure of each group, and how many there were in all.
    package private(set) var failures: [Failure] = []
    /// How many vectors were failed.
    package private(set) var failed = 0

    /// Puts a subject to groups.
    package init(_ groups: [PlaylistGroup], subject: PlaylistSubject) {
        for group in groups { run(group, subject) }
    }

    /// Whether there was anything to pass, and all of it was.
    package var isComplete: Bool { failed == 0 && passed > 0 }

    private mutating func run(_ group: PlaylistGroup, _ subject: PlaylistSubject) {
        var complaint: (id: String, reason: String)?
        func note(_ id: String, _ reason: String?) -> Bool {
            if let reason, complaint == nil { complaint = (id, reason) }
            return reason == nil
        }
        let reader: any RandomAccessDecryptor
        switch opened(group, subject) {
        case .success(let found):
            passed += 1
            guard let found else { return }
            reader = found
        case .failure(let failure):
            // What does not open as it should fails its reads as well.
            failed += 1 + group.reads.count
            failures.append(Failure(id: group.id + " open", flags: group.flags, reason: failure.reason))
            return
        }
        for (offset, count) in group.reads {
            if note("\(group.id) \(offset)+\(count)", Self.complaint(reader, group.plaintext, offset, count)) {
                passed += 1
            } else {
                failed += 1
            }
        }
        if let complaint {
            failures.append(Failure(id: complaint.id, flags: group.flags, reason: complaint.reason))
        }
    }

    private struct Complaint: Error {
        let reason: String
    }

    private func opened(
        _ group: PlaylistGroup, _ subject: PlaylistSubject
    ) -> Result<(any RandomAccessDecryptor)?, Complaint> {
        do throws(DecryptionError) {
            let reader = try subject.open(group.playlist, group.resources, group.keys)
            guard case .opens(let byteCount) = group.opening else {
                return .failure(Complaint(reason: "opened: expected \(group.opening)"))
            }
            guard reader.plaintextByteCount == byteCount else {
                return .failure(
                    Complaint(reason: "the plaintext has \(reader.plaintextByteCount) bytes: expected \(byteCount)"))
            }
            return .success(reader)
        } catch {
            guard case .fails(let name) = group.opening, ErrorName(error) == name else {
                return .failure(Complaint(reason: "\(ErrorName(error).rawValue) (\(error)): expected \(group.opening)"))
            }
            return .success(nil)
        }
    }

    private static func complaint(
        _ reader: any RandomAccessDecryptor, _ plaintext: [UInt8], _ offset: UInt64, _ count: Int
    ) -> String? {
        // Bytes around the delivered ones are not to be touched.
        let (guardByte, margin): (UInt8, Int) = (0xA7, 16)
        var room = [UInt8](repeating: guardByte, count: count + margin)
        let expectsError = offset > UInt64(plaintext.count)
        do throws(DecryptionError) {
            let delivered = try room.withUnsafeMutableBufferPointer { (bytes) throws(DecryptionError) in
                try reader.read(
                    at: offset,
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[..<count]))
            }
            if expectsError { return "delivered \(delivered) bytes: expected the error rangeOutOfBounds" }
            let start = Int(offset)
            let expected = plaintext[start..<min(plaintext.count, start + count)]
            guard delivered == expected.count else { return "\(delivered) bytes: expected \(expected.count)" }
            guard room.prefix(delivered).elementsEqual(expected) else { return "wrong bytes" }
            guard room[delivered...].allSatisfy({ $0 == guardByte }) else { return "bytes behind the end were written" }
            return nil
        } catch {
            return expectsError && error.protocolName == "rangeOutOfBounds" ? nil : "\(error)"
        }
    }
}

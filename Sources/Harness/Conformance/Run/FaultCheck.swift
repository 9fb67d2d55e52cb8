internal import ByteSources
internal import RandomAccess
internal import Vectors

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

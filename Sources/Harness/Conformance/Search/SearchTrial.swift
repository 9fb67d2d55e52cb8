internal import ByteSources
internal import RandomAccess
internal import Vectors

/// Puts one subject to one case.
struct SearchTrial {
    let subject: ConformanceSubject

    /// Whether the subject says that it can do all of it.
    func isSupported(_ searchCase: SearchCase) -> Bool {
        searchCase.objects.allSatisfy { subject.supports($0.strategy, $0.key.count) }
            && searchCase.reads.allSatisfy { $0.count <= subject.largestReadByteCount }
    }

    /// What the subject does otherwise than the oracle, or `nil`; also where the case itself cannot be.
    func mismatch(in searchCase: SearchCase) -> String? {
        // A subject of one reader is given plain sources, and its fetches are judged elsewhere.
        let setup = subject.hasOneReader ? ReaderSetup(.freshBuffers(windowByteCount: .max)) : searchCase.setup
        var opened: [(reader: OpenedReader, check: ReadCheck, group: VectorGroup)] = []
        for (place, object) in searchCase.objects.enumerated() {
            guard let group = try? object.group(id: "object \(place)", windowByteCount: .max) else { return nil }
            do {
                let reader = try OpenedReader(group, setup: setup, subject: subject)
                guard reader.decryptor.plaintextByteCount == object.plaintextByteCount else {
                    return "object \(place): the plaintext has \(reader.decryptor.plaintextByteCount) bytes: "
                        + "expected \(object.plaintextByteCount)"
                }
                opened.append((reader, ReadCheck(group: group), group))
            } catch {
                return "object \(place): \(ErrorName(error).rawValue) (\(error)): expected it to open"
            }
        }
        for (place, read) in searchCase.reads.enumerated() {
            let (reader, check, group) = opened[read.object]
            if let found = mismatch(in: read, reader: reader, check: check, group: group) {
                return "read \(place), \(read.offset)+\(read.count) of object \(read.object): \(found)"
            }
        }
        return nil
    }

    private func mismatch(
        in read: SearchCase.Read, reader: OpenedReader, check: ReadCheck, group: VectorGroup
    ) -> String? {
        let vector = RangeRead(offset: read.offset, count: read.count, of: group.plaintext.byteCount, flags: [])
        switch vector.expected {
        case .error(let name):
            return check.mismatch(in: reader, offset: read.offset, count: read.count, expecting: name)
        case .bytes(let bytes):
            return check.mismatch(
                in: reader, offset: read.offset, count: read.count, expecting: ExpectedBytes(bytes))
        case .plaintext(let byteCount):
            guard let expected = try? ExpectedBytes(of: group.plaintext, offset: read.offset, count: byteCount) else {
                return nil
            }
            if read.failsFirst {
                let faults = FaultCheck(group: group, check: check)
                if let found = faults.mismatch(in: reader, read: vector, expected: expected) { return found }
            }
            return check.mismatch(in: reader, offset: read.offset, count: read.count, expecting: expected)
        }
    }
}

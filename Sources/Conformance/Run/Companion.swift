internal import RandomAccess
internal import Vectors

/// An object that is open beside a group's own, and read in turn with it.
struct Companion {
    private let group: VectorGroup
    private let reads: [RangeRead]
    private let check: ReadCheck
    private let reader: Result<OpenedReader, DecryptionError>

    init(group: VectorGroup, subject: ConformanceSubject) {
        self.group = group
        self.reads = Array(group.reads)
        self.check = ReadCheck(group: group)
        let setup = ReaderSetup(.cursor(windowByteCount: group.windowByteCounts.first ?? .max))
        self.reader = Result { () throws(DecryptionError) in
            try OpenedReader(group, setup: setup, subject: subject)
        }
    }

    /// What is wrong with read `index`, counted round and round, or `nil`.
    mutating func complaint(aboutRead index: Int) throws(DecryptionError) -> String? {
        guard !reads.isEmpty, case .plaintext(let byteCount) = reads[index % reads.count].expected else { return nil }
        let read = reads[index % reads.count]
        switch reader {
        case .failure(let error):
            return "beside it, \(group.id) did not open: \(error)"
        case .success(let reader):
            let expected = try ExpectedBytes(of: group.plaintext, offset: read.offset, count: byteCount)
            return check.complaint(about: reader, offset: read.offset, count: read.count, expecting: expected)
                .map { "beside it, \(group.id(of: read)): \($0)" }
        }
    }
}

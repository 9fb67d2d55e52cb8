internal import ByteSources
internal import RandomAccess
internal import Vectors

/// A group's object, opened for one setup, with the handles on its source.
struct OpenedReader {
    let setup: ReaderSetup
    let decryptor: any RandomAccessDecryptor
    let recorder: RecordingSource?
    let fault: FaultySource?
    let rule: FetchRule?

    init(_ group: VectorGroup, setup: ReaderSetup, subject: ConformanceSubject) throws(DecryptionError) {
        var source = group.ciphertext
        var recorder: RecordingSource?
        var fault: FaultySource?
        switch setup.supply {
        case .whole:
            let wrapped = RecordingSource(source, keepsRanges: true)
            recorder = wrapped
            source = wrapped
        case .shortReads(let largest):
            source = ShortReadingSource(source, largestRead: largest)
        case .faulty:
            let wrapped = FaultySource(source)
            fault = wrapped
            source = wrapped
        }
        self.setup = setup
        self.decryptor = try subject.open(setup, source, group.strategy, group.key)
        self.recorder = recorder
        self.fault = fault
        self.rule = setup.gradedWindowByteCount.map {
            FetchRule(strategy: group.strategy, ciphertextByteCount: group.ciphertext.byteCount, windowByteCount: $0)
        }
    }
}

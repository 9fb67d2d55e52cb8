internal import ByteSources
internal import RandomAccess
internal import Vectors

/// A group's object, opened for one setup, with the handles on its source.
struct OpenedReader {
    let setup: ReaderSetup
    let decryptor: any RandomAccessDecryptor
    let recorder: RecordingSource?
    /// The sources that can be told to go wrong: one, or one for each resource of a playlist.
    let faults: [FaultySource]
    let rule: FetchRule?

    init(_ group: VectorGroup, setup: ReaderSetup, subject: ConformanceSubject) throws(DecryptionError) {
        var recorder: RecordingSource?
        var faults: [FaultySource] = []
        self.setup = setup
        self.decryptor = try subject.open(group, setup: setup) { source in
            switch setup.supply {
            case .whole:
                let wrapped = RecordingSource(source, keepsRanges: true)
                recorder = wrapped
                return wrapped
            case .shortReads(let largest):
                return ShortReadingSource(source, largestRead: largest)
            case .faulty:
                let wrapped = FaultySource(source)
                faults.append(wrapped)
                return wrapped
            }
        }
        self.recorder = recorder
        self.faults = faults
        // Where the parts of a playlist lie, and so what a read of it needs, is not known here.
        self.rule = (group.playlist == nil ? setup.gradedWindowByteCount : nil).map {
            FetchRule(strategy: group.strategy, ciphertextByteCount: group.ciphertext.byteCount, windowByteCount: $0)
        }
    }

    /// Tells the sources what goes wrong from now on.
    func inject(_ fault: FaultySource.Fault) {
        for source in faults { source.inject(fault) }
    }
}

import RandomAccess
package import SubjectProtocol
import Support
package import SystemPackage

/// Memory conformance: whether a reader keeps to the bound that it declares, whatever the object's size and however many
/// files it opened before.
///
/// Each check has a process of its own, whose memory is read from outside. A bound is windows × threads and a constant.
package struct MemoryCheck: Sendable {
    let subject: MemorySubject
    let folder: FilePath
    let timeout: Duration

    /// Objects that are opened in a row.
    static let fileCount = 50
    /// A small object, and one that no memory holds.
    static let objectByteCounts: [UInt64] = [16 << 20, 64 << 30]

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - subject: Whose memory.
    ///   - folder: Where a file goes, which takes no space on the disk; must exist.
    ///   - timeout: How long one answer may take.
    package init(subject: MemorySubject, folder: FilePath, timeout: Duration = .seconds(60)) {
        self.subject = subject
        self.folder = folder
        self.timeout = timeout
    }

    /// Makes all checks.
    ///
    /// - Parameter progress: Is called before each check.
    /// - Returns: What came of them; a subject that fails on the way fails the check.
    /// - Throws: `SubjectError.notStarted`.
    package func run(progress: (String) -> Void = { _ in }) throws(SubjectError) -> MemoryOutcome {
        var outcome = MemoryOutcome(subject: subject.name, checks: [])
        do {
            outcome.subject = try MemorySession(subject, reader: MemoryReader(), timeout: timeout).name
        } catch let error as SubjectError {
            if case .notStarted = error { throw error }
            // Source: POSIX.1-2017, sh: 127 for a command that is not found, 126 for one that cannot be run.
            if case .died(let status, let log) = error, [126, 127].contains(status >> 8) {
                throw .notStarted(command: subject.name, reason: log)
            }
        } catch {}
        func add(_ name: String, _ body: () throws -> MemoryOutcome.Check) {
            progress("\(outcome.subject): \(name)")
            outcome.checks.append(check(name, body))
        }
        if subject.isOwn {
            for reader in MemoryReader.examined {
                let name = "declared bound (\(reader))"
                add(name) { try bound(name, reader) }
            }
            for (byteCount, workload) in Self.playlists {
                let name = "declared bound (playlist of \(ByteSize(byteCount)), \(workload.kind))"
                add(name) { try playlistBound(name, byteCount, workload) }
            }
        } else {
            let reason = "an external subject declares no bound: it is judged on growth"
            outcome.checks.append(.init("declared bound", .notRun, reason: reason))
        }
        add("same for any object") { try objectSize("same for any object") }
        add("files in a row") { try filesInARow("files in a row") }
        add("playlists in a row") {
            try filesInARow(
                "playlists in a row", .playlist(byteCount: Self.rowByteCount, segmentByteCount: 64 << 10))
        }
        return outcome
    }

    /// Playlists, of which a table of segments is kept: a small one from end to end, and ranges of one that no memory
    /// holds.
    private static let playlists: [(byteCount: UInt64, workload: Workload)] = [
        (32 << 20, .sequential(windowByteCount: MemoryReader().windowByteCount)),
        (objectByteCounts[1], .random(rangeByteCount: 256 << 10, seed: 1, readCount: 64)),
    ]

    /// Makes a check; what is thrown is its failure, except that the subject cannot do it.
    private func check(_ name: String, _ body: () throws -> MemoryOutcome.Check) -> MemoryOutcome.Check {
        do {
            return try body()
        } catch {
            var isUnsupported = false
            if let error = error as? SubjectError, case .refused("unsupported", _) = error { isUnsupported = true }
            if let error = error as? DecryptionError, case .unsupported = error { isUnsupported = true }
            return .init(name, isUnsupported ? .notRun : .failed, reason: "\(error)")
        }
    }

    static let unavailable = "the kernel does not tell: expected a writable /proc/PID/clear_refs"
}

extension Workload {
    /// What a check's name says of it.
    fileprivate var kind: String {
        switch self {
        case .sequential: "end to end"
        case .random, .trace: "ranges"
        }
    }
}

extension MemoryCheck {
    /// The peak against the bound that the reader declares itself: windows × threads and a constant.
    func bound(_ name: String, _ reader: MemoryReader) throws -> MemoryOutcome.Check {
        // Two windows for each thread.
        let byteCount = max(1 << 20, 2 * reader.windowByteCount * UInt64(reader.threadCount))
        let (memory, declared) = try watched(
            reader, byteCount, .sequential(windowByteCount: reader.windowByteCount))
        return outcome(name, memory, declared)
    }

    /// The same of a playlist, whose segments are listed as long as it is open.
    func playlistBound(_ name: String, _ byteCount: UInt64, _ workload: Workload) throws -> MemoryOutcome.Check {
        let object = MemorySession.Object.playlist(byteCount: byteCount, segmentByteCount: 16 << 20)
        let (memory, declared) = try watched(MemoryReader(), byteCount, workload, object: object)
        return outcome(name, memory, declared)
    }

    private func outcome(_ name: String, _ memory: MemoryWatch?, _ declared: UInt64?) -> MemoryOutcome.Check {
        guard let memory else { return .init(name, .notRun, reason: Self.unavailable) }
        guard let declared else { return .init(name, .notRun, reason: "the subject declares no bound") }
        return .init(
            name, byteCount: memory.resident.byteCount, limitByteCount: declared,
            reason: "\(Self.text(memory.resident.byteCount)) (\(Self.text(memory.anonymous.byteCount)) anonymous), "
                + "\(Self.text(declared)) declared")
    }

    /// The same reads of a small and of a huge object.
    func objectSize(_ name: String) throws -> MemoryOutcome.Check {
        var rises: [UInt64] = []
        for byteCount in Self.objectByteCounts {
            let workload = Workload.random(rangeByteCount: 256 << 10, seed: 1, readCount: 64)
            guard let memory = try watched(MemoryReader(), byteCount, workload).memory else {
                return .init(name, .notRun, reason: Self.unavailable)
            }
            rises.append(memory.resident.byteCount)
        }
        // What collects garbage now and then never takes quite the same; a table of chunks would still be noticed.
        let tolerance: UInt64 = subject.isOwn ? 1 << 20 : 16 << 20
        return .init(
            name, byteCount: rises[1] - min(rises[1], rises[0]), limitByteCount: tolerance,
            reason: "\(Self.text(rises[0])) for 16 MiB, \(Self.text(rises[1])) for 64 GiB; at most "
                + "\(Self.text(tolerance)) more expected")
    }

    /// Whether memory keeps growing while files are opened, read and closed.
    ///
    /// The min after any of the last 15 files lies above the max after the 6th to 15th by no more than a tolerance:
    /// neither what is paged in or cached at first, nor a collector's ups and downs, are growth. An external subject whose
    /// runtime lets garbage pile up gets more files, as long as it grows: a leak never comes to an end.
    func filesInARow(_ name: String, _ given: MemorySession.Object? = nil) throws -> MemoryOutcome.Check {
        let reader = MemoryReader()
        let session = try MemorySession(subject, reader: reader, timeout: timeout)
        let byteCount = Self.rowByteCount
        let object = try given ?? object(session, byteCount, prefersFile: subject.isOwn)
        // What stays of an external subject's reads in the free lists of its allocator may be a tenth of them.
        let tolerance = subject.isOwn ? 1 << 20 : max(1 << 20, UInt64(Self.growthStretch) * byteCount / 10)
        var growth = UInt64.max
        var opened = 0
        for _ in 0..<(subject.isOwn ? 1 : Self.maxRows) where growth > tolerance {
            var residents: [UInt64] = []
            for _ in 0..<Self.fileCount {
                opened += 1
                let id = UInt64(opened)
                try session.open(id, object)
                _ = try session.read(
                    id, .sequential(windowByteCount: reader.windowByteCount), plaintextByteCount: byteCount)
                try session.close(id)
                let members = ProcessTree.members(of: session.process.processID)
                guard let resident = MemoryWatch.sum(members)?.byteCount else {
                    return .init(name, .notRun, reason: Self.unavailable)
                }
                residents.append(resident)
            }
            growth = Self.growth(residents)
        }
        try session.process.end()
        let verb = growth > tolerance ? "memory keeps growing, " : ""
        return .init(
            name, byteCount: growth, limitByteCount: tolerance,
            reason: "\(verb)\(Self.text(growth)) over \(Self.growthStretch) of \(opened) files of 2 MiB; at most "
                + "\(Self.text(tolerance)) expected")
    }

    /// The plaintext of each file.
    static let rowByteCount: UInt64 = 2 << 20

    /// How often as many files are opened as long as memory grows.
    private static let maxRows = 8

    /// The files between the two stretches that are compared.
    static let growthStretch = 21

    /// How far the min of the last 15 figures lies above the max of the 6th to 15th, in bytes.
    static func growth(_ residents: [UInt64]) -> UInt64 {
        guard residents.count >= fileCount, let early = residents[5..<15].max(), let late = residents.suffix(15).min()
        else { return 0 }
        return late > early ? late - early : 0
    }

    /// Reads an object once in a fresh process, and watches.
    private func watched(
        _ reader: MemoryReader, _ byteCount: UInt64, _ workload: Workload, object given: MemorySession.Object? = nil
    ) throws -> (memory: MemoryWatch?, bound: UInt64?) {
        let session = try MemorySession(subject, reader: reader, timeout: timeout)
        // Code that every read runs is paged in before the baseline is taken.
        let smallByteCount: UInt64 = 1 << 20
        let small =
            given != nil
            ? MemorySession.Object.playlist(byteCount: smallByteCount, segmentByteCount: 64 << 10)
            : try object(session, smallByteCount, prefersFile: false)
        try session.open(1, small)
        let first = Workload.trace([Workload.Read(offset: 0, count: 16)])
        _ = try session.read(1, first, plaintextByteCount: smallByteCount)
        try session.close(1)
        let object = try given ?? object(session, byteCount, prefersFile: false)
        let (bound, memory) = try MemoryWatch.run(session.process.processID) {
            try session.open(2, object)
            return try session.read(2, workload, plaintextByteCount: byteCount)
        }
        try session.close(2)
        try session.process.end()
        return (memory, bound)
    }

    private func object(
        _ session: MemorySession, _ byteCount: UInt64, prefersFile: Bool
    ) throws -> MemorySession.Object {
        if session.takesGenerated, !prefersFile { return .generated(byteCount: byteCount) }
        let path = folder.appending("\(byteCount)\(ObjectStore.fileSuffix)")
        try SparseFile.create(path, byteCount: byteCount)
        return .sparse(path: path, byteCount: byteCount)
    }

    /// A figure in MiB with one digit behind the point, rounded up: a limit is never shown as kept that was not.
    private static func text(_ byteCount: UInt64) -> String {
        let tenths = (byteCount * 10 + (1 << 20) - 1) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}

/// What came of examining one subject's memory.
package struct MemoryOutcome: Hashable, Sendable {
    /// How a check ended.
    package enum Verdict: String, Hashable, Sendable {
        /// The figure is within the limit.
        case passed
        /// It is not, or the subject failed on the way.
        case failed
        /// The check is not for this subject, or the kernel does not tell.
        case notRun
    }

    /// One check.
    package struct Check: Hashable, Sendable {
        /// What is checked.
        package var name: String
        /// How it ended.
        package var verdict: Verdict
        /// What was measured, in bytes; `nil` where nothing was.
        package var byteCount: UInt64?
        /// The max that it may be, in bytes; `nil` where nothing is known.
        package var limitByteCount: UInt64?
        /// What was measured and expected, in words.
        package var reason: String

        /// Judges a figure.
        init(_ name: String, byteCount: UInt64, limitByteCount: UInt64, reason: String) {
            self.name = name
            self.verdict = byteCount <= limitByteCount ? .passed : .failed
            self.byteCount = byteCount
            self.limitByteCount = limitByteCount
            self.reason = reason
        }

        /// A check without a figure.
        init(_ name: String, _ verdict: Verdict, reason: String) {
            self.name = name
            self.verdict = verdict
            self.reason = reason
        }
    }

    /// What the subject calls itself.
    package var subject: String
    /// The checks, in the order in which they were made.
    package var checks: [Check]

    /// How many checks ended so.
    package func count(_ verdict: Verdict) -> Int {
        checks.filter { $0.verdict == verdict }.count
    }
}

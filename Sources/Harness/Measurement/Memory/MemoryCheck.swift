import RandomAccess
package import SubjectProtocol
import Support
package import SystemPackage

/// The memory conformance of a reader: it must keep within its declared bound, for any object size and after any number
/// of opened files.
///
/// Each check runs in a separate process, whose memory is read from outside. A bound is windows × threads and a
/// constant.
package struct MemoryCheck: Sendable {
    let subject: MemorySubject
    let folder: FilePath
    let timeout: Duration

    /// The number of objects that are opened in a row.
    static let fileCount = 50
    /// The lengths of a small object, and of one that does not fit any memory.
    static let objectByteCounts: [UInt64] = [16 << 20, 64 << 30]

    /// - Parameters:
    ///   - subject: The subject.
    ///   - folder: The folder for a file that takes no space on the disk. It must exist.
    ///   - timeout: The timeout for one answer.
    package init(subject: MemorySubject, folder: FilePath, timeout: Duration = .seconds(60)) {
        self.subject = subject
        self.folder = folder
        self.timeout = timeout
    }

    /// Makes all checks.
    ///
    /// - Parameter progress: A function that is called before each check.
    /// - Returns: The outcome. A subject that fails during a check fails the check.
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

    /// The playlists of checks, for which a reader keeps a table of segments: a small one that is read from start to
    /// end, and one that does not fit any memory, read in ranges.
    private static let playlists: [(byteCount: UInt64, workload: Workload)] = [
        (32 << 20, .sequential(windowByteCount: MemoryReader().windowByteCount)),
        (objectByteCounts[1], .random(rangeByteCount: 256 << 10, seed: 1, readCount: 64)),
    ]

    /// Makes a check. An error is its failure, unless the error says that the subject does not support the check.
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
    /// The workload in a check's name.
    fileprivate var kind: String {
        switch self {
        case .sequential: "end to end"
        case .random, .trace: "ranges"
        }
    }
}

extension MemoryCheck {
    /// Checks the peak against the bound that the reader declares: windows × threads and a constant.
    func bound(_ name: String, _ reader: MemoryReader) throws -> MemoryOutcome.Check {
        // Two windows for each thread.
        let byteCount = max(1 << 20, 2 * reader.windowByteCount * UInt64(reader.threadCount))
        let (memory, declared) = try watched(
            reader, byteCount, .sequential(windowByteCount: reader.windowByteCount))
        return outcome(name, memory, declared)
    }

    /// Checks the peak of a playlist, whose list of segments stays in memory while it is open.
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

    /// Compares the memory of the same reads of a small and of a huge object.
    func objectSize(_ name: String) throws -> MemoryOutcome.Check {
        var rises: [UInt64] = []
        for byteCount in Self.objectByteCounts {
            let workload = Workload.random(rangeByteCount: 256 << 10, seed: 1, readCount: 64)
            guard let memory = try watched(MemoryReader(), byteCount, workload).memory else {
                return .init(name, .notRun, reason: Self.unavailable)
            }
            rises.append(memory.resident.byteCount)
        }
        // The memory of a garbage collector varies. A table of chunks would still exceed this tolerance.
        let tolerance: UInt64 = subject.isOwn ? 1 << 20 : 16 << 20
        return .init(
            name, byteCount: rises[1] - min(rises[1], rises[0]), limitByteCount: tolerance,
            reason: "\(Self.text(rises[0])) for 16 MiB, \(Self.text(rises[1])) for 64 GiB; at most "
                + "\(Self.text(tolerance)) more expected")
    }

    /// Checks that memory does not keep growing while files are opened, read and closed.
    ///
    /// The minimum after any of the last 15 files may exceed the maximum after the 6th to 15th file by at most a
    /// tolerance. So neither pages and caches of the first files nor the fluctuations of a garbage collector count as
    /// growth. An external subject that still grows gets more files, because garbage stops piling up at some point and
    /// a leak does not.
    func filesInARow(_ name: String, _ given: MemorySession.Object? = nil) throws -> MemoryOutcome.Check {
        let reader = MemoryReader()
        let session = try MemorySession(subject, reader: reader, timeout: timeout)
        let byteCount = Self.rowByteCount
        let object = try given ?? object(session, byteCount, prefersFile: subject.isOwn)
        // The allocator of an external subject may keep up to a tenth of its reads in free lists.
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

    /// The plaintext length of each file in bytes.
    static let rowByteCount: UInt64 = 2 << 20

    /// The maximum number of rows of files while memory grows.
    private static let maxRows = 8

    /// The number of files between the two compared stretches.
    static let growthStretch = 21

    /// The difference between the minimum of the last 15 figures and the maximum of the 6th to 15th, in bytes.
    static func growth(_ residents: [UInt64]) -> UInt64 {
        guard residents.count >= fileCount, let early = residents[5..<15].max(), let late = residents.suffix(15).min()
        else { return 0 }
        return late > early ? late - early : 0
    }

    /// Reads an object once in a fresh process, and watches its memory.
    private func watched(
        _ reader: MemoryReader, _ byteCount: UInt64, _ workload: Workload, object given: MemorySession.Object? = nil
    ) throws -> (memory: MemoryWatch?, bound: UInt64?) {
        let session = try MemorySession(subject, reader: reader, timeout: timeout)
        // Pages in the code of every read before the baseline.
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

    /// A figure in MiB with one decimal digit. It is rounded up, so that an exceeded limit never looks kept.
    private static func text(_ byteCount: UInt64) -> String {
        let tenths = (byteCount * 10 + (1 << 20) - 1) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}

/// The outcome of the memory checks of one subject.
package struct MemoryOutcome: Hashable, Sendable {
    /// The verdict of a check.
    package enum Verdict: String, Encodable, Hashable, Sendable {
        /// The figure is within the limit.
        case passed
        /// The figure is above the limit, or the subject failed during the check.
        case failed
        /// The check does not apply to this subject, or the kernel does not report the memory.
        case notRun
    }

    /// One check.
    package struct Check: Encodable, Hashable, Sendable {
        /// The name of the check.
        package var name: String
        /// The verdict.
        package var verdict: Verdict
        /// The measured figure in bytes; `nil` if there is none.
        package var byteCount: UInt64?
        /// The limit in bytes; `nil` if it is unknown.
        package var limitByteCount: UInt64?
        /// The measured and the expected figure, in words.
        package var reason: String

        /// A check with the verdict of a figure.
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

    /// The name that the subject reports.
    package var subject: String
    /// The checks in their order.
    package var checks: [Check]

    /// The number of checks with a verdict.
    package func count(_ verdict: Verdict) -> Int {
        checks.filter { $0.verdict == verdict }.count
    }
}

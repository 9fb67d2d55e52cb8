import RandomAccess
package import SubjectProtocol
internal import Support
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

    /// Prepares an exam.
    ///
    /// - Parameters:
    ///   - subject: Whose memory.
    ///   - folder: Where a file goes, which takes no room on the disk; must exist.
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
            let reason = "a foreign subject declares no bound: it is judged on growth"
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

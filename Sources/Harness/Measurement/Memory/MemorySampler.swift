import Glibc
import Support
import Synchronization

/// Looks at the memory of processes again and again while something runs, and keeps the most of each kind.
final class MemorySampler: Sendable {
    private let processIDs: [Int32]
    private let isDone = Atomic<Bool>(false)
    private let highest = Atomic<UInt64>(0)
    private let highestAnonymous = Atomic<UInt64>(0)
    private let highestFile = Atomic<UInt64>(0)

    init(_ processIDs: [Int32]) {
        self.processIDs = processIDs
    }

    /// The most memory that was seen, in bytes.
    var resident: UInt64 { highest.load(ordering: .relaxed) }

    /// The most anonymous memory that was seen, in bytes.
    var anonymous: UInt64 { highestAnonymous.load(ordering: .relaxed) }

    /// The most memory of files that was seen, in bytes.
    var file: UInt64 { highestFile.load(ordering: .relaxed) }

    /// Runs `body` on this thread, and looks from another, a thousand times a second and once at the end.
    func run<Value>(_ body: @escaping () throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        ThreadTeam(threadCount: 2).run { thread in
            if thread == 0 {
                result = Result(catching: body)
                self.isDone.store(true, ordering: .releasing)
            } else {
                while !self.isDone.load(ordering: .acquiring) {
                    self.look()
                    usleep(1000)
                }
            }
        }
        look()
        guard let result else { preconditionFailure("the first thread of a team is the caller's") }
        return try result.get()
    }

    private func look() {
        guard let now = MemoryWatch.sum(processIDs) else { return }
        highest.max(now.byteCount, ordering: .relaxed)
        highestAnonymous.max(now.anonymousByteCount, ordering: .relaxed)
        highestFile.max(now.fileByteCount, ordering: .relaxed)
    }
}

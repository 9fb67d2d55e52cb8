import CLinux
import Gate
import Glibc
import Testing

@Suite("cores that are kept busy")
struct BusyCoresTests {
    /// The CPUs that this process may run on: a container's set may be smaller than the machine's.
    private static var allowed: [Int32] { (0..<chunkwise_cpu_count()).filter(chunkwise_is_allowed) }

    @Test("there is a thread for each CPU but one, and all of them end")
    func count() {
        let busy = BusyCores()
        #expect(busy.threadCount >= Self.allowed.count - 1 && busy.threadCount < Int(chunkwise_cpu_count()))
    }

    @Test("a thread of a process that is kept to one CPU keeps the others busy, and not that one")
    func affinity() throws {
        let own = try #require(Self.allowed.last)
        let others = Self.allowed.count - 1
        let box = ThreadBox()
        var thread = pthread_t()
        let argument = Unmanaged.passUnretained(box).toOpaque()
        try #require(chunkwise_start_on(own, &thread, ThreadBox.count, argument))
        pthread_join(thread, nil)
        // The CPUs that the thread was kept from got threads of their own; those that the process is kept from did not.
        #expect(box.allowed == [own] && box.threadCount >= others)
    }

    @Test("there is no CPU beyond the last one")
    func limits() {
        #expect(!chunkwise_is_allowed(-1) && !chunkwise_is_allowed(.max))
        var thread = pthread_t()
        #expect(!chunkwise_start_on(.max, &thread, { $0 }, nil))
    }
}

/// What a thread on one CPU sees.
private final class ThreadBox {
    var allowed: [Int32] = []
    var threadCount = 0

    static let count: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let box = Unmanaged<ThreadBox>.fromOpaque(argument).takeUnretainedValue()
        box.allowed = (0..<chunkwise_cpu_count()).filter(chunkwise_is_allowed)
        box.threadCount = BusyCores().threadCount
        return nil
    }
}

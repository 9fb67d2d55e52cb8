import CLinux
import Glibc
import Synchronization

/// Threads that do nothing, as fast as they can, until they are let go.
package final class BusyCores {
    private let isEnding = Flag()
    private var threads: [pthread_t] = []

    /// Starts a thread for each CPU but one: a CPU that this process is kept from (`taskset`) gets its own, and those
    /// that it shares get one less than there are. Where the system gives fewer, there are fewer.
    package init() {
        let maximum = chunkwise_cpu_count()
        let others = (0..<maximum).filter { !chunkwise_is_allowed($0) }
        for cpu in others { start(on: cpu) }
        for _ in 0..<max(0, Int(maximum) - others.count - 1) { start(on: -1) }
    }

    private func start(on cpu: Int32) {
        let flag = Unmanaged.passRetained(isEnding)
        var thread = pthread_t()
        if chunkwise_start_on(cpu, &thread, BusyCores.spin, flag.toOpaque()) {
            threads.append(thread)
        } else {
            flag.release()
        }
    }

    deinit {
        isEnding.value.store(true, ordering: .relaxed)
        for thread in threads { pthread_join(thread, nil) }
    }

    /// How many threads there are.
    package var threadCount: Int { threads.count }

    private static let spin: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let flag = Unmanaged<Flag>.fromOpaque(argument).takeRetainedValue()
        while !flag.value.load(ordering: .relaxed) {}
        return nil
    }

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }
}

import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Threads that do nothing, as fast as they can, until they are let go.
final class BusyCores {
    private let isEnding = Flag()
    private var threads: [pthread_t] = []

    /// Starts threads. The corresponding C function is `pthread_create`; where the system gives fewer, there are fewer.
    init(threadCount: Int) {
        for _ in 0..<max(0, threadCount) {
            let flag = Unmanaged.passRetained(isEnding)
            var thread = pthread_t()
            guard pthread_create(&thread, nil, BusyCores.spin, flag.toOpaque()) == 0 else {
                flag.release()
                break
            }
            threads.append(thread)
        }
    }

    deinit {
        isEnding.value.store(true, ordering: .relaxed)
        for thread in threads { pthread_join(thread, nil) }
    }

    /// How many there are.
    var threadCount: Int { threads.count }

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

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Plain threads: cipher contexts belong to one thread, and decryption never waits, so there is nothing to schedule.
enum WorkerThreads {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on `count` threads and waits for all of them; where no thread can be had, on this one.
    ///
    /// The corresponding C functions are `pthread_create` and `pthread_join`.
    static func run(count: Int, _ body: @escaping @Sendable () -> Void) {
        let work = Work(body)
        withUnsafeTemporaryAllocation(of: pthread_t.self, capacity: max(1, count)) { threads in
            var started = 0
            guard let start = threads.baseAddress else { return body() }
            while started < count - 1 {
                let context = Unmanaged.passRetained(work)
                let code = pthread_create(
                    start + started, nil,
                    { context in
                        guard let context else { return nil }
                        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                        return nil
                    }, context.toOpaque())
                guard code == 0 else {
                    context.release()
                    break
                }
                started += 1
            }
            body()
            for index in 0..<started { pthread_join(threads[index], nil) }
        }
    }
}

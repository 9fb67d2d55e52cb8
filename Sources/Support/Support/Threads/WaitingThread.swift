import Glibc

/// Work that waits for a disk, a server or another program, separate from the few threads that all tasks share.
///
/// Each piece of work has its own thread. A system queue would provide about as many threads as there are CPUs, and its
/// other work would wait until one is free again.
package enum WaitingThread {
    /// Runs work on a new thread, or on the caller's if the system provides none. The corresponding C function is
    /// `pthread_create`.
    ///
    /// - Returns: The result of the work.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: work()) }
        }
    }

    /// Starts work without waiting for it; see ``run(_:)``.
    package static func start(_ work: @escaping @Sendable () -> Void) {
        let assignment = Unmanaged.passRetained(Assignment(work: work))
        var attributes = pthread_attr_t()
        var thread = pthread_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        guard pthread_create(&thread, &attributes, serve, assignment.toOpaque()) == 0 else {
            return assignment.takeRetainedValue().work()
        }
    }

    private final class Assignment: Sendable {
        let work: @Sendable () -> Void

        init(work: @escaping @Sendable () -> Void) {
            self.work = work
        }
    }

    private static let serve: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        if let argument { Unmanaged<Assignment>.fromOpaque(argument).takeRetainedValue().work() }
        return nil
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Threads that run the same work side by side, again and again, without being made anew.
///
/// Plain threads: the work is long, blocks in system calls and is timed, none of which suits Swift's cooperative pool.
/// The caller's thread is the first member, so that a team of one costs nothing.
package final class ThreadTeam {
    /// The number of threads, the caller's included.
    package let threadCount: Int

    private let state: UnsafeMutablePointer<SharedState>
    private var threads: [pthread_t] = []

    private struct SharedState {
        var start = pthread_barrier_t()
        var end = pthread_barrier_t()
        var work: ((Int) -> Void)?
    }

    /// What a new thread is told.
    private final class Assignment {
        let state: UnsafeMutablePointer<SharedState>
        let index: Int

        init(state: UnsafeMutablePointer<SharedState>, index: Int) {
            self.state = state
            self.index = index
        }
    }

    /// Starts a team.
    ///
    /// - Parameter threadCount: The number of threads, at least 1. The corresponding C function is `pthread_create`.
    package init(threadCount: Int) {
        precondition(threadCount > 0, "a team of \(threadCount) threads")
        self.threadCount = threadCount
        self.state = .allocate(capacity: 1)
        state.initialize(to: SharedState())
        pthread_barrier_init(&state.pointee.start, nil, UInt32(threadCount))
        pthread_barrier_init(&state.pointee.end, nil, UInt32(threadCount))
        for index in 1..<max(1, threadCount) {
            let assignment = Unmanaged.passRetained(Assignment(state: state, index: index))
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, ThreadTeam.serve, assignment.toOpaque())
            precondition(code == 0, "pthread_create: \(String(cString: strerror(code)))")
            threads.append(thread)
        }
    }

    deinit {
        if threadCount > 1 {
            // No work: the threads end.
            state.pointee.work = nil
            pthread_barrier_wait(&state.pointee.start)
            for thread in threads { pthread_join(thread, nil) }
        }
        pthread_barrier_destroy(&state.pointee.start)
        pthread_barrier_destroy(&state.pointee.end)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `work` once on each thread, with the thread's index, and returns when all are done.
    package func run(_ work: @escaping (Int) -> Void) {
        guard threadCount > 1 else { return work(0) }
        state.pointee.work = work
        pthread_barrier_wait(&state.pointee.start)
        work(0)
        pthread_barrier_wait(&state.pointee.end)
        state.pointee.work = nil
    }

    private static let serve: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let assignment = Unmanaged<Assignment>.fromOpaque(argument).takeRetainedValue()
        let state = assignment.state
        while true {
            pthread_barrier_wait(&state.pointee.start)
            guard let work = state.pointee.work else { return nil }
            work(assignment.index)
            pthread_barrier_wait(&state.pointee.end)
        }
    }
}

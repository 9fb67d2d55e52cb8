import Glibc
import Synchronization

/// Threads that repeatedly run the same work side by side, without being created anew.
///
/// They are plain threads: the work is long, blocks in system calls and is timed, none of which suits Swift's
/// cooperative pool. The caller's thread is the first member, so a team of one costs nothing.
package final class ThreadTeam {
    private let state = State()
    private var threads: [pthread_t] = []

    /// A team of running threads.
    ///
    /// - Parameter threadCount: The number of threads, at least 1. If the system provides fewer, the team is smaller:
    ///   see ``threadCount``. The corresponding C function is `pthread_create`.
    package init(threadCount: Int) {
        precondition(threadCount > 0, "a team of \(threadCount) threads")
        for index in 1..<max(1, threadCount) {
            let assignment = Unmanaged.passRetained(Assignment(state: state, index: index))
            var thread = pthread_t()
            guard pthread_create(&thread, nil, ThreadTeam.serve, assignment.toOpaque()) == 0 else {
                assignment.release()
                break
            }
            threads.append(thread)
        }
    }

    deinit {
        state.end()
        for thread in threads { pthread_join(thread, nil) }
    }

    /// The number of threads, including the caller's.
    package var threadCount: Int { threads.count + 1 }

    /// Runs `work` once on each thread, with the thread's index, and returns when all are done.
    package func run(_ work: @escaping (Int) -> Void) {
        guard !threads.isEmpty else { return work(0) }
        state.start(work, threadCount: threads.count)
        work(0)
        state.waitForAll()
    }

    /// The argument of a new thread.
    private final class Assignment {
        let state: State
        let index: Int

        init(state: State, index: Int) {
            self.state = state
            self.index = index
        }
    }

    private static let serve: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let assignment = Unmanaged<Assignment>.fromOpaque(argument).takeRetainedValue()
        var round: UInt64 = 0
        while let work = assignment.state.waitForWork(after: &round) {
            work(assignment.index)
            assignment.state.finish()
        }
        return nil
    }

    /// The state that the threads share; all members are used under the lock only.
    private final class State {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var work: ((Int) -> Void)?
        private var round: UInt64 = 0
        private var running = 0
        private var isEnding = false

        init() {
            pthread_mutex_init(lock, nil)
            pthread_cond_init(changed, nil)
        }

        deinit {
            pthread_cond_destroy(changed)
            pthread_mutex_destroy(lock)
            changed.deallocate()
            lock.deallocate()
        }

        func start(_ work: @escaping (Int) -> Void, threadCount: Int) {
            locked {
                self.work = work
                round += 1
                running = threadCount
                pthread_cond_broadcast(changed)
            }
        }

        func waitForAll() {
            locked {
                while running > 0 { pthread_cond_wait(changed, lock) }
                work = nil
            }
        }

        func waitForWork(after last: inout UInt64) -> ((Int) -> Void)? {
            locked {
                while round == last, !isEnding { pthread_cond_wait(changed, lock) }
                last = round
                return isEnding ? nil : work
            }
        }

        func finish() {
            locked {
                running -= 1
                pthread_cond_broadcast(changed)
            }
        }

        func end() {
            locked {
                isEnding = true
                pthread_cond_broadcast(changed)
            }
        }

        private func locked<Value>(_ body: () -> Value) -> Value {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return body()
        }
    }
}

/// Work on the elements of a list, on several threads.
package enum Parallel {
    /// The max number of threads; more gain nothing if memory is the bottleneck.
    private static let maxThreads = 8

    /// Returns the results of a function for each element, in the order of the elements.
    ///
    /// Each element goes to the next free thread. For a list of one element, or on one CPU, no thread is started.
    /// - Parameters:
    ///   - elements: The elements.
    ///   - threadCount: The max number of threads, for work that waits; `nil` for one per CPU.
    ///   - transform: The function; it is called from several threads at once.
    /// - Returns: The results.
    package static func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], threadCount: Int? = nil, _ transform: @Sendable @escaping (Element) -> Result
    ) -> [Result] {
        let cpuCount = min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), maxThreads)
        let threadCount = min(threadCount ?? cpuCount, elements.count)
        guard threadCount > 1 else { return elements.map(transform) }
        let results = UnsafeMutablePointer<Result?>.allocate(capacity: elements.count)
        results.initialize(repeating: nil, count: elements.count)
        defer {
            results.deinitialize(count: elements.count)
            results.deallocate()
        }
        let next = Atomic(0)
        ThreadTeam(threadCount: threadCount).run { _ in
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < elements.count else { return }
                results[index] = transform(elements[index])
            }
        }
        return (0..<elements.count).compactMap { results[$0] }
    }
}

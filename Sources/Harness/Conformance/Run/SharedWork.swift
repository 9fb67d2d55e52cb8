import Support
import Synchronization

/// Numbered items of work that several threads share: each takes the next one that is left.
enum SharedWork {
    /// Does all items, and returns their results in order; `nil` for those that were left out.
    ///
    /// `shouldStop` is asked before each item, and `finished` called after each with the number that are done, on any of
    /// the threads.
    static func run<Result: Sendable>(
        itemCount: Int, threadCount: Int, shouldStop: @escaping @Sendable () -> Bool = { false },
        finished: @escaping @Sendable (_ item: Int, _ finishedCount: Int) -> Void = { _, _ in },
        _ work: @escaping @Sendable (_ item: Int) -> Result
    ) -> [Result?] {
        let nextItem = Mutex(0)
        let state = Mutex((results: [Result?](repeating: nil, count: itemCount), finishedCount: 0))
        ThreadTeam(threadCount: min(max(1, threadCount), max(1, itemCount))).run { _ in
            while !shouldStop() {
                let item = nextItem.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard item < itemCount else { return }
                let result = work(item)
                let finishedCount = state.withLock { state in
                    state.results[item] = result
                    state.finishedCount += 1
                    return state.finishedCount
                }
                finished(item, finishedCount)
            }
        }
        return state.withLock { $0.results }
    }
}

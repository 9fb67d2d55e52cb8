import Support
import Synchronization

/// Numbered items of work that several threads share: each thread takes the next item that is left.
enum SharedWork {
    /// Runs all items and returns their results in order; `nil` for items that were left out.
    ///
    /// `shouldStop` is called before each item, and `finished` after each with the number of finished items, on any of
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

import Glibc
import Synchronization

/// Work on the elements of a list, on all CPUs.
package enum Parallel {
    /// Threads beyond these give nothing where memory is what is waited for.
    private static let maxThreads = 8

    /// Returns what a function makes of each element, in the order of the elements.
    ///
    /// Each element is taken by the next thread that is free. A list of one element, or one CPU, starts no thread.
    /// - Parameters:
    ///   - elements: The elements.
    ///   - transform: The function; it is called from several threads at once.
    /// - Returns: What it made.
    package static func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], _ transform: @Sendable @escaping (Element) -> Result
    ) -> [Result] {
        let threadCount = min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), maxThreads, elements.count)
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

import Foundation
import Synchronization

/// What the process's first thread does while others work: nothing else needs it.
enum Waiting {
    /// What another thread leaves.
    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Waits for the end of a task.
    ///
    /// - Returns: What the task returned.
    /// - Throws: What it threw.
    static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let box = Box<Value>()
        let semaphore = DispatchSemaphore(value: 0)
        Task {
            do {
                let value = try await body()
                box.result.withLock { $0 = .success(value) }
            } catch {
                box.result.withLock { $0 = .failure(error) }
            }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = box.result.withLock({ $0 }) else {
            throw KeysFailure(.io, "the task did not end: expected a result")
        }
        return try result.get()
    }
}

#if Network
import Synchronization

/// Limits the concurrent look-ups of each client, so that other clients find a free thread. Further look-ups wait in
/// line.
final class LookupTurns: Sendable {
    private struct Line {
        var runningCount = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let maxRunningCount: Int
    private let lines = Mutex<[String: Line]>([:])

    /// - Parameter maxRunningCount: The max number of look-ups that a client may run at once.
    init(maxRunningCount: Int) {
        self.maxRunningCount = maxRunningCount
    }

    /// Runs a look-up in its client's turn.
    ///
    /// - Returns: The result of the look-up.
    /// - Throws: The error of the look-up.
    func run<Value: Sendable>(for client: String, _ body: () async throws -> Value) async throws -> Value {
        await withCheckedContinuation { enter(client, $0) }
        defer { leave(client) }
        return try await body()
    }

    private func enter(_ client: String, _ turn: CheckedContinuation<Void, Never>) {
        let mayRun = lines.withLock { lines in
            var line = lines[client] ?? Line()
            let mayRun = line.runningCount < maxRunningCount
            if mayRun { line.runningCount += 1 } else { line.waiting.append(turn) }
            lines[client] = line
            return mayRun
        }
        if mayRun { turn.resume() }
    }

    private func leave(_ client: String) {
        let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
            guard var line = lines[client] else { return nil }
            // The next look-up takes over the turn.
            let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst()
            if next == nil { line.runningCount -= 1 }
            lines[client] = line.runningCount > 0 ? line : nil
            return next
        }
        next?.resume()
    }
}
#endif

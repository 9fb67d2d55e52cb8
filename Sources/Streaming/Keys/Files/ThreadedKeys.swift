import Dispatch
import Synchronization

/// Files, folders and commands as an exchange that waits on a thread of its own: a command that hangs keeps no other key,
/// and no time limit, from its turn.
public struct ThreadedKeys: KeyExchange {
    private let keys: ProvidedKeys

    /// Creates an exchange.
    ///
    /// - Parameter keys: Who has the keys, and their terms.
    public init(_ keys: ProvidedKeys) {
        self.keys = keys
    }

    /// Asks for keys; see `KeyExchange.answer(_:)`. If the task is cancelled, no provider is asked any more, and the answer
    /// of the one that was is not waited for.
    public func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        let keys = keys
        let wait = Wait()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard wait.begin(continuation) else { return }
                DispatchQueue.global().async {
                    do throws(KeyFailure) {
                        wait.end(.success(try keys.answers(query) { wait.isOver }))
                    } catch {
                        wait.end(.failure(error))
                    }
                }
            }
        } onCancel: {
            wait.end(.failure(.abandoned))
        }
        return try result.get()
    }
}

/// A task that waits for an answer or its own end, whichever comes first.
private final class Wait: Sendable {
    typealias Answer = Result<[ExchangedKey], KeyFailure>

    private enum State {
        case new
        case waiting(CheckedContinuation<Answer, Never>)
        case over
    }

    private let state = Mutex(State.new)

    /// Whether nobody waits any more.
    var isOver: Bool {
        state.withLock { if case .over = $0 { true } else { false } }
    }

    /// Begins to wait.
    ///
    /// - Returns: Whether there is anything to wait for.
    func begin(_ continuation: CheckedContinuation<Answer, Never>) -> Bool {
        let begins = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !begins { continuation.resume(returning: .failure(.abandoned)) }
        return begins
    }

    /// Ends the wait, if it has not ended yet.
    func end(_ answer: Answer) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: answer)
    }
}

import ByteSources
import Glibc
import RandomAccess
import Synchronization

/// Asks a server only as long as there is some use in it: after a few requests in a row that nobody answers, nobody is
/// asked any more, and likewise if none of the first objects is there.
final class AnswerWatch: Sendable {
    private struct State {
        /// Requests that nobody answered, since the last answer.
        var unansweredCount = 0
        /// Objects that were not there, as long as none was.
        var missingCount = 0
        var hasOpened = false
        var reason: DecryptionError?
    }

    /// After so many requests nobody is asked any more.
    static let maxInVain = 3

    private let countsMissing: Bool
    private let state = Mutex(State())

    /// Starts.
    ///
    /// - Parameter countsMissing: Whether objects that are not there are a reason to give up.
    init(countsMissing: Bool) {
        self.countsMissing = countsMissing
    }

    /// Why nobody is asked any more; `nil` as long as somebody is.
    var givenUp: DecryptionError? { state.withLock { $0.reason } }

    /// Opens an object, unless there is no use in it.
    func open(
        _ body: () throws(DecryptionError) -> NetworkObject
    ) throws(DecryptionError) -> NetworkObject {
        if let givenUp { throw givenUp }
        do throws(DecryptionError) {
            let object = try body()
            state.withLock { state in
                state.unansweredCount = 0
                state.hasOpened = true
            }
            return object
        } catch {
            note(error)
            throw error
        }
    }

    private func note(_ error: DecryptionError) {
        var code: Int32 = 0
        if case .io(_, let number, _) = error { code = number }
        state.withLock { state in
            state.unansweredCount = code == RemoteObject.unansweredCode ? state.unansweredCount + 1 : 0
            if countsMissing, code == ENOENT, !state.hasOpened { state.missingCount += 1 }
            guard max(state.unansweredCount, state.missingCount) >= Self.maxInVain else { return }
            state.reason = state.reason ?? error
        }
    }
}

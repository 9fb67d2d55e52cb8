#if Network
import Dispatch
public import HLS
public import Keys
import RandomAccess
import Synchronization

/// A session's keys for readers that ask for one key at a time and wait for the answer, such as those of playlists.
///
/// The asking thread is blocked while the session does not have the key, so it must not be a thread that runs tasks.
/// Preloaded keys are given out at once, for as long as this provider lives; a `KeyLease` ends a read in time.
public final class WaitingKeys: KeyProvider {
    private let session: KeySession
    private let held = Mutex<[String: SecretKey]>([:])

    /// The provider asks the session for each key that was not preloaded.
    public init(_ session: KeySession) {
        self.session = session
    }

    /// Asks the session for keys, in one exchange where that is possible, and keeps those that arrive.
    ///
    /// - Returns: The failures of missing keys by their URIs. The provider asks for these keys again when a reader
    ///   needs them.
    @discardableResult
    public func preload(_ uris: [String]) async -> [String: KeyFailure] {
        var failures: [String: KeyFailure] = [:]
        for (uri, result) in await session.keys(for: uris) {
            switch result {
            case .success(let key): held.withLock { $0[uri] = key }
            case .failure(let failure): failures[uri] = failure
            }
        }
        return failures
    }

    /// Returns a preloaded key, or asks the session and waits; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        if let key = held.withLock({ $0[uri] }) { return ProvidedKey(key) }
        let answer = Answer()
        let done = DispatchSemaphore(value: 0)
        Task { [session] in
            let result: Result<SecretKey, KeyFailure>
            do throws(KeyFailure) {
                result = .success(try await session.key(for: uri))
            } catch {
                result = .failure(error)
            }
            answer.value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        do throws(KeyFailure) {
            return ProvidedKey(try answer.value.withLock { $0 }.get())
        } catch {
            throw .refused(reason: error.description)
        }
    }

    /// The result that the task passes to the thread.
    private final class Answer: Sendable {
        let value = Mutex<Result<SecretKey, KeyFailure>>(.failure(.abandoned))
    }
}
#endif

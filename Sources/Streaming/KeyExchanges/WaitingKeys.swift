#if Network
import Dispatch
public import HLS
public import Keys
import RandomAccess
import Synchronization

/// A session's keys for readers that ask one at a time and wait for the answer, such as those of playlists.
///
/// The thread that asks is held while the session does not have the key, so that it must be none of those that tasks run
/// on. What was preloaded is given out at once, for as long as this provider lives; a `KeyLease` ends a read in time.
public final class WaitingKeys: KeyProvider {
    private let session: KeySession
    private let held = Mutex<[String: SecretKey]>([:])

    /// Creates a provider.
    public init(_ session: KeySession) {
        self.session = session
    }

    /// Asks the session for keys, in one exchange where that is possible, and keeps those that come.
    ///
    /// - Returns: Why keys did not come, by their URIs; they are asked for again when they are needed.
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

    /// Gives out a key that was preloaded, or asks the session and waits; see `KeyProvider.key(for:)`.
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

    /// What the task leaves for the thread.
    private final class Answer: Sendable {
        let value = Mutex<Result<SecretKey, KeyFailure>>(.failure(.abandoned))
    }
}
#endif

import Dispatch
public import Keys
import RandomAccess
import Synchronization

/// A session's keys for readers that ask one at a time and wait for the answer, such as those of playlists.
///
/// The thread that asks is held, so that it must be none of those that tasks run on.
public struct WaitingKeys: KeyProvider {
    private let session: KeySession

    /// Creates a provider.
    public init(_ session: KeySession) {
        self.session = session
    }

    /// Asks the session and waits; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let box = Box()
        let done = DispatchSemaphore(value: 0)
        Task { [session] in
            let result: Result<SecretKey, KeyFailure>
            do throws(KeyFailure) {
                result = .success(try await session.key(for: uri))
            } catch {
                result = .failure(error)
            }
            box.value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        do throws(KeyFailure) {
            return ProvidedKey(try box.value.withLock { $0 }.get())
        } catch {
            throw .refused(reason: error.description)
        }
    }

    /// What the task leaves for the thread.
    private final class Box: Sendable {
        let value = Mutex<Result<SecretKey, KeyFailure>>(.failure(.abandoned))
    }
}

public import RandomAccess
import Synchronization

/// The requested keys, each version of each once.
///
/// Any number of threads and objects may share it. It also keeps failures, so that it does not ask a provider without a
/// key again for every segment.
public final class KeyRing: Sendable {
    private struct State {
        var answers: [String: (version: String?, result: Result<SecretKey, KeyError>)] = [:]
        var warnings: [KeyWarning] = []
    }

    private let provider: any KeyProvider
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void
    private let state = Mutex(State())

    /// A ring without keys.
    ///
    /// - Parameters:
    ///   - provider: The source of the keys.
    ///   - isStrict: True to turn a warning into an error: `KeyError.openToOthers`.
    ///   - warn: Called with each warning, once.
    public init(
        _ provider: any KeyProvider, isStrict: Bool = false, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) {
        self.provider = provider
        self.isStrict = isStrict
        self.warn = warn
    }

    /// The warnings of the providers so far, each once.
    public var warnings: [KeyWarning] { state.withLock { $0.warnings } }

    /// Returns a key; asks the provider if the ring does not have it yet.
    ///
    /// - Parameter uri: The key's URI as in the playlist.
    /// - Returns: A key of 16 bytes.
    /// - Throws: `PlaylistError.keyUnavailable`, `.keyUnusable` if it has another length.
    public func key(for uri: String) throws(DecryptionError) -> SecretKey {
        // Under the lock, so that threads which need the same key ask once.
        let answer = state.withLock { state in
            // Before the key, so that a key that is replaced meanwhile is requested again next time.
            let version = provider.version(for: uri)
            if let known = state.answers[uri], known.version == version { return known.result }
            let answer = ask(for: uri, &state)
            state.answers[uri] = (version, answer)
            return answer
        }
        switch answer {
        case .success(let key): return key
        case .failure(.notFetched(let error)): throw .inPart("key \(URIReference(uri).redacted)", error)
        case .failure(let error):
            switch error {
            case .wrongLength, .invalidDataURI:
                throw .keyUnusable(uri: URIReference(uri).redacted, reason: error.description)
            default: break
            }
            throw .keyUnavailable(uri: URIReference(uri).redacted, reason: error.description)
        }
    }

    /// Tells the provider which keys a playlist will need.
    func expect(_ uris: [String]) {
        provider.expect(uris)
    }

    /// Returns a key's version; see `KeyProvider.version(for:)`.
    package func version(for uri: String) -> String? { provider.version(for: uri) }

    /// Forgets failures, so that providers are asked again.
    package func forgetFailures() {
        state.withLock { state in
            state.answers = state.answers.filter { (try? $0.value.result.get()) != nil }
        }
    }

    private func ask(for uri: String, _ state: inout State) -> Result<SecretKey, KeyError> {
        do throws(KeyError) {
            let provided = try provider.key(for: uri)
            // Source: RFC 8216, section 5: the key of AES-128 is 16 octets.
            guard provided.key.byteCount == 16 else {
                throw .wrongLength(
                    byteCount: provided.key.byteCount, isMore: false, location: "the key", isHexadecimal: false)
            }
            for warning in provided.warnings where !state.warnings.contains(warning) {
                guard !isStrict else { throw .openToOthers(warning) }
                state.warnings.append(warning)
                warn(warning)
            }
            return .success(provided.key)
        } catch {
            return .failure(error)
        }
    }
}

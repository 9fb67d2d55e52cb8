package import RandomAccess

/// All backends on this machine as one: each cipher comes from the first backend that accepts the key. It is meant for
/// making objects with any cipher.
package struct CombinedBackend: CipherBackend {
    private let backends: [any CipherBackend]

    /// The backends that this machine has now.
    package init() { backends = BackendRegistry.entries.compactMap { try? $0.make() } }

    package var name: String { "all backends" }
    package var version: String { "" }
    package var ciphers: [CipherSupport] { backends.flatMap(\.ciphers) }
    package var cpuFeatures: [String] { [] }
    package var hmacFunctions: [HashFunction] { HashFunction.allCases.filter { owner(of: $0) != nil } }

    /// Returns a context of the first backend that has the cipher with such a key.
    ///
    /// - Throws: `DecryptionError.unsupported` if no backend has it, `.backend`.
    package func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard let backend = backends.first(where: { $0.supports(cipher, keyByteCount: key.byteCount) }) else {
            throw .unsupported("\(cipher.rawValue) with a key of \(key.byteCount) bytes in any backend of this machine")
        }
        return try backend.makeContext(cipher, direction, key: key)
    }

    /// Returns a context of the first backend that has the hash function.
    ///
    /// - Throws: `DecryptionError.unsupported` if no backend has it, `.backend`.
    package func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        guard let backend = owner(of: function) else {
            throw .unsupported("hmac with \(function.rawValue) in any backend of this machine")
        }
        return try backend.makeMAC(function, key: key)
    }

    private func owner(of function: HashFunction) -> (any CipherBackend)? {
        backends.first { $0.hmacFunctions.contains(function) }
    }
}

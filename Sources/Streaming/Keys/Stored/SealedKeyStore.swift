public import RandomAccess

/// Where sealed keys lie: a folder, a database.
public protocol KeyStorage: Sendable {
    /// Stores a sealed key beside older ones of the identifier; when this returns, it is there to stay.
    ///
    /// - Throws: `DecryptionError`.
    func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError)

    /// Overwrites and removes what is stored for an identifier, up to a generation; what is not there is no error.
    ///
    /// - Throws: `DecryptionError`.
    func erase(identifier: String, generation: Int) throws(DecryptionError)

    /// All that is stored for an identifier, in any order.
    ///
    /// - Throws: `DecryptionError`.
    func sealed(identifier: String) throws(DecryptionError) -> [[UInt8]]
}

/// A storage and the sealer of what lies in it.
///
/// Sealing does not keep an old copy of a storage from being put back in its place, with keys that had not been used:
/// that takes a counter outside of it, which only a device has.
public struct SealedKeyStore: Sendable {
    private let storage: any KeyStorage
    private let sealer: any KeySealer

    /// Creates a shelf.
    public init(storage: any KeyStorage, sealer: any KeySealer) {
        self.storage = storage
        self.sealer = sealer
    }

    /// Seals and stores a key.
    func put(_ stored: StoredKey, _ key: SecretKey) throws(DecryptionError) {
        let record = try stored.record(with: key)
        try storage.write(
            try sealer.seal(record.bytes), identifier: stored.identifier, generation: stored.generation)
    }

    /// Erases what was stored before.
    func erase(_ identifier: String, _ generation: Int) throws(DecryptionError) {
        try storage.erase(identifier: identifier, generation: generation)
    }

    /// What is stored for an identifier; each opens or has a reason why not.
    func find(_ identifier: String) throws(DecryptionError) -> [Result<(stored: StoredKey, key: SecretKey), KeyFailure>]
    {
        var found: [Result<(stored: StoredKey, key: SecretKey), KeyFailure>] = []
        for sealed in try storage.sealed(identifier: identifier) { found.append(open(sealed, identifier)) }
        return found
    }

    private func open(
        _ sealed: [UInt8], _ identifier: String
    ) -> Result<(stored: StoredKey, key: SecretKey), KeyFailure> {
        let room = ErasedBytes(capacity: sealed.count)
        guard let count = try? sealer.open(sealed, into: room.room) else { return .failure(.unopenable) }
        room.fill(count)
        guard let (stored, key) = StoredKey.read(room.bytes) else { return .failure(.unopenable) }
        guard stored.identifier == identifier else { return .failure(.otherIdentifier) }
        return .success((stored, key))
    }
}

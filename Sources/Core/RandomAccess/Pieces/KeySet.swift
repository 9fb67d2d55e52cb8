/// The key of a piece, or for a film several with their IDs.
public enum KeySet: Sendable {
    /// The key of everything that is encrypted, in a film or in any other piece.
    case one(SecretKey)
    /// Keys by their IDs, of which a film may use some.
    case byID([Block: SecretKey])

    /// The max number of keys. A stretch of a film has the number of its scheme and key in one byte.
    package static let maxCount = 256

    /// All keys, in the order of their IDs.
    package var all: [SecretKey] {
        switch self {
        case .one(let key): [key]
        case .byID(let keys):
            keys.sorted { $0.key.bigEndianValue < $1.key.bigEndianValue }.map(\.value)
        }
    }

    /// Returns the only key, for something other than a film.
    ///
    /// - Throws: `KeySetError`.
    package func single(for name: String) throws(DecryptionError) -> SecretKey {
        guard case .one(let key) = self else { throw .layer(AnyLayerError(KeySetError.tooMany(name))) }
        return key
    }
}

/// The reasons to refuse keys.
package enum KeySetError: LayerError {
    /// One key without an ID, and a film with several key IDs.
    case noIDs([Block])
    /// The film has a key ID, and there is no key with it.
    case missing(Block)
    /// The film has no key IDs, and the keys have some.
    case unknownIDs
    /// Keys with IDs, for something other than a film.
    case tooMany(String)

    /// The failure, the value, and the expectation.
    package var description: String {
        switch self {
        case .noIDs(let ids):
            "one key, and a film with \(ids.count) key IDs (\(ids.prefix(8).map(\.hexadecimal).joined(separator: ", "))"
                + "\(ids.count > 8 ? ", …" : "")): expected a key file with a line KID:KEY for each"
        case .missing(let id): "no key with the ID \(id.hexadecimal): expected a line for it in the key file"
        case .unknownIDs: "keys with IDs, and a list of samples without: expected a key file with one key"
        case .tooMany(let name): "keys with IDs: expected a key file with one key, for \(name)"
        }
    }

    /// The error's name in the subject protocol.
    package var protocolName: String { "invalidKey" }
}

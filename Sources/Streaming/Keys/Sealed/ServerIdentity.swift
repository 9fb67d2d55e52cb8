#if Network
import Crypto
package import RandomAccess

/// The long-lived X25519 key that a server proves itself by where no certificate does.
package struct ServerIdentity: Sendable {
    let privateKey: Curve25519.KeyAgreement.PrivateKey

    /// Takes a private key.
    ///
    /// - Parameter key: 32 bytes.
    /// - Throws: `DecryptionError.invalidKey` for any other length.
    package init(_ key: SecretKey) throws(DecryptionError) {
        let privateKey = key.withUnsafeBytes { try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        guard let privateKey else { throw .invalidKey(byteCount: key.byteCount) }
        self.privateKey = privateKey
    }

    /// What clients know the server by: 32 bytes.
    package var publicKey: [UInt8] { Array(privateKey.publicKey.rawRepresentation) }
}

extension ServerIdentity: CustomReflectable {
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif

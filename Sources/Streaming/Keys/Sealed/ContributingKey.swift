#if Network
import Crypto

/// Public keys of X25519 that contribute to what two ends share.
///
/// A point of small order makes every shared secret zero, which everybody knows; the library's HPKE takes it.
/// - Source: RFC 9180, section 7.1.4; RFC 7748, section 6.1.
enum ContributingKey {
    /// Reads a public key.
    ///
    /// - Throws: What the library throws for bytes that are no key, ``WireFault`` for a point of small order.
    static func publicKey(_ bytes: some Collection<UInt8>) throws -> Curve25519.KeyAgreement.PublicKey {
        let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: Array(bytes))
        // Private keys are multiples of the cofactor, so that each gives the same answer here.
        let shared = try Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
        guard shared.withUnsafeBytes({ $0.reduce(0, |) }) != 0 else {
            throw WireFault("a public key of small order: expected another one")
        }
        return key
    }
}
#endif

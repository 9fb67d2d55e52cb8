#if Network
public import ByteSources
import Crypto
import FoundationEssentials
package import RandomAccess
import SwiftASN1
import X509

/// The rules by which a TLS connection accepts servers. They are safe unless a switch says otherwise.
///
/// Each check has a switch of its own, so that disabling one check leaves the others. Disabled checks appear in
/// ``warnings``, and therefore in every result.
public struct TLSPolicy: Hashable, Sendable {
    /// The certificates that may end a chain.
    public enum Roots: Hashable, Sendable {
        /// The certificates that the system trusts.
        case system
        /// The certificates in a PEM file, and no others. A server's own certificate in the file is trusted as well.
        case file(String)
    }

    /// The certificates in which trust starts.
    public var roots: Roots
    /// The public keys of which one must be in the chain; empty for any key.
    ///
    /// Pins are checked in addition to everything else. With `anyRoot`, the certificates above the server's own prove
    /// nothing, so the pin must be that of the server's certificate.
    public var pins: Set<PublicKeyPin>
    /// The checks that are disabled.
    public var allowances: Set<TLSAllowance>

    /// The default policy disables no check.
    public init(roots: Roots = .system, pins: Set<PublicKeyPin> = [], allowances: Set<TLSAllowance> = []) {
        self.roots = roots
        self.pins = pins
        self.allowances = allowances
    }

    /// The warnings that every result must show: a line for each disabled check, in a fixed order.
    public var warnings: [String] {
        TLSAllowance.allCases.filter(allowances.contains).map { allowance in
            let isPinned = allowance == .anyRoot && !pins.isEmpty
            return "TLS: \(allowance.warning)" + (isPinned ? ", but only with the pinned key" : "")
        }
    }

    /// Returns the policy with one more check disabled.
    func allowing(_ allowance: TLSAllowance) -> TLSPolicy {
        var policy = self
        policy.allowances.insert(allowance)
        return policy
    }
}

extension TLSPolicy {
    /// Reads the policy of a command line.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an invalid pin.
    package init(_ switches: TLSSwitches) throws(DecryptionError) {
        var pins: Set<PublicKeyPin> = []
        for text in switches.pins {
            guard let pin = PublicKeyPin(text) else {
                throw .invalidParameter(
                    name: "--pin", value: text,
                    expected: "sha256// and 44 characters of base64, or 64 hexadecimal digits")
            }
            pins.insert(pin)
        }
        self.init(
            roots: switches.certificateFile.map { .file($0) } ?? .system, pins: pins, allowances: switches.allowances)
    }
}

extension TLSAllowance {
    /// The consequence for the connection.
    var warning: String {
        switch self {
        case .anyRoot: "any root is allowed (\(option)): others on the way can read and change everything"
        case .expired: "expired certificates are allowed (\(option)): a key stolen long ago is as good as the server's"
        case .anyName: "any name is allowed (\(option)): every server with a certificate can stand in for this one"
        }
    }
}

/// The reason why a policy cannot be applied.
public enum TLSPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file of trusted certificates does not exist, or cannot be read.
    case unreadableRoots(path: String)
    /// A file of trusted certificates holds something else.
    case invalidRoots(path: String, reason: String)
    /// The system has no trusted certificates.
    case noSystemRoots(paths: [String])
    /// The TLS library failed.
    case library(reason: String)

    /// The failure, the value, and the expectation.
    public var description: String {
        switch self {
        case .unreadableRoots(let path): "certificates \(path): expected a file that can be read"
        case .invalidRoots(let path, let reason): "certificates \(path): \(reason): expected PEM, one or more"
        case .noSystemRoots(let paths):
            "the system trusts no certificate: expected some in \(paths.joined(separator: ", ")), or an own file"
        case .library(let reason): "TLS cannot be set up: \(reason): expected it to start"
        }
    }
}

/// The SHA-256 of a public key in the form of certificates (SubjectPublicKeyInfo, DER).
///
/// - Source: RFC 7469, section 2.4; the text form is that of curl's `--pinnedpubkey`.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    private let digest: [UInt8]

    /// Reads a pin; `nil` if the text is not one.
    ///
    /// - Parameter text: `sha256//` and 44 characters of base64, or 64 hexadecimal digits.
    public init?(_ text: String) {
        let prefix = "sha256//"
        if text.hasPrefix(prefix) {
            guard let data = Data(base64Encoded: String(text.dropFirst(prefix.count))), data.count == 32 else {
                return nil
            }
            digest = Array(data)
            return
        }
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0.map(UInt8.init) }
        digest = stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// The pin of a certificate's key; `nil` if the key cannot be written as DER.
    init?(_ certificate: Certificate) {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(certificate.publicKey)) != nil else { return nil }
        digest = Array(SHA256.hash(data: serializer.serializedBytes))
    }

    /// The pin as `sha256//` and base64.
    public var description: String { "sha256//" + Data(digest).base64EncodedString() }
}
#endif

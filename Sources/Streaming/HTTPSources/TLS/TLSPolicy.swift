#if Network
public import ByteSources
import Crypto
import Foundation
package import RandomAccess
import SwiftASN1
import X509

/// Which servers a TLS connection is made with: safe unless a switch says otherwise.
///
/// Every check is a switch of its own, so that giving one up leaves the others. What is given up stands in
/// ``warnings``, and so in every result.
public struct TLSPolicy: Hashable, Sendable {
    /// The certificates that may stand at the end of a chain.
    public enum Roots: Hashable, Sendable {
        /// Those that the system trusts.
        case system
        /// Those in a PEM file, and no others. A server's own certificate is trusted as well, if it stands there.
        case file(String)
    }

    /// Where trust starts.
    public var roots: Roots
    /// The public keys of which one must be in the chain; any, if there are none.
    ///
    /// Pins are checked beside everything else. With `anyRoot` nothing speaks for the certificates above
    /// the server's own, so that the pin must be that one's.
    public var pins: Set<PublicKeyPin>
    /// What is given up.
    public var allowances: Set<TLSAllowance>

    /// Creates a policy; without arguments one that gives nothing up.
    public init(roots: Roots = .system, pins: Set<PublicKeyPin> = [], allowances: Set<TLSAllowance> = []) {
        self.roots = roots
        self.pins = pins
        self.allowances = allowances
    }

    /// What every result must say: a line for each check that is given up, in a fixed order.
    public var warnings: [String] {
        TLSAllowance.allCases.filter(allowances.contains).map { allowance in
            let isPinned = allowance == .anyRoot && !pins.isEmpty
            return "TLS: \(allowance.warning)" + (isPinned ? ", but only with the pinned key" : "")
        }
    }

    /// The policy that gives up one thing more.
    func allowing(_ allowance: TLSAllowance) -> TLSPolicy {
        var policy = self
        policy.allowances.insert(allowance)
        return policy
    }
}

extension TLSPolicy {
    /// The policy that a command line asks for.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a pin that is none.
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
    /// What it means for the connection.
    var warning: String {
        switch self {
        case .anyRoot: "any root is allowed (\(option)): others on the way can read and change everything"
        case .expired: "expired certificates are allowed (\(option)): a key stolen long ago is as good as the server's"
        case .anyName: "any name is allowed (\(option)): every server with a certificate can stand in for this one"
        }
    }
}

/// Why a policy cannot be followed.
public enum TLSPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file of trusted certificates is not there or cannot be read.
    case unreadableRoots(path: String)
    /// A file of trusted certificates has something else in it.
    case invalidRoots(path: String, reason: String)
    /// The system has no trusted certificates.
    case noSystemRoots(paths: [String])
    /// The TLS library failed.
    case library(reason: String)

    /// What failed, the value, what was expected.
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

/// The SHA-256 of a public key as certificates hold it (SubjectPublicKeyInfo, DER).
///
/// - Source: RFC 7469, section 2.4; the text is the one that curl's `--pinnedpubkey` takes.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    private let digest: [UInt8]

    /// Reads a pin; `nil` if the text is none.
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

    /// The pin of a certificate's key, or `nil` if that cannot be written as DER.
    init?(_ certificate: Certificate) {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(certificate.publicKey)) != nil else { return nil }
        digest = Array(SHA256.hash(data: serializer.serializedBytes))
    }

    /// The pin as `sha256//` and base64.
    public var description: String { "sha256//" + Data(digest).base64EncodedString() }
}
#endif

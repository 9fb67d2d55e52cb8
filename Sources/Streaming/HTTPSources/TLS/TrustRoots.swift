#if Network
import Foundation
import SwiftASN1
import X509

/// Reads the certificates where trust starts.
enum TrustRoots {
    /// Where systems have theirs: Debian and its kin, Fedora and its kin, Alpine and SUSE.
    static let systemPaths = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem",
    ]

    /// The certificates that a policy names.
    ///
    /// - Throws: ``TLSPolicyError`` if there is no file, or none of a system's certificates can be read, or one of an
    ///   own file cannot.
    static func load(_ roots: TLSPolicy.Roots) throws(TLSPolicyError) -> [Certificate] {
        switch roots {
        case .file(let path):
            guard let text = text(path) else { throw .unreadableRoots(path: path) }
            return try certificates(text, path: path)
        case .system:
            for path in systemPaths {
                guard let text = text(path) else { continue }
                // A system has some that this library does not know the keys of.
                let documents = (try? PEMDocument.parseMultiple(pemString: text)) ?? []
                let roots = documents.compactMap { try? Certificate(pemDocument: $0) }
                if !roots.isEmpty { return roots }
            }
            throw .noSystemRoots(paths: systemPaths)
        }
    }

    private static func certificates(_ text: String, path: String) throws(TLSPolicyError) -> [Certificate] {
        var certificates: [Certificate] = []
        do {
            for document in try PEMDocument.parseMultiple(pemString: text) {
                certificates.append(try Certificate(pemDocument: document))
            }
        } catch {
            throw .invalidRoots(path: path, reason: "certificate \(certificates.count + 1): \(error)")
        }
        guard !certificates.isEmpty else { throw .invalidRoots(path: path, reason: "no certificate") }
        return certificates
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif

import Crypto
import Foundation
import NIOSSL
import RandomAccess
import SwiftASN1
import X509

/// A certificate for this machine, made for one server and valid for a day.
struct OwnCertificate {
    /// What the server shows, and the key to it.
    let configuration: TLSConfiguration
    /// The certificate as PEM, for those who are to trust it.
    let pem: String

    /// Makes a key and a certificate.
    ///
    /// - Throws: `DecryptionError.io` if the libraries fail.
    init() throws(DecryptionError) {
        do {
            let key = P256.Signing.PrivateKey()
            let name = try DistinguishedName { CommonName("chunkwise loopback") }
            let now = Date()
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
                notValidBefore: now.addingTimeInterval(-3600), notValidAfter: now.addingTimeInterval(86_400),
                issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames([
                        .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    ])
                },
                issuerPrivateKey: .init(key))
            pem = try certificate.serializeAsPEM().pemString
            configuration = .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        } catch {
            throw .io(operation: "make a certificate", code: 0, reason: "\(error)")
        }
    }
}

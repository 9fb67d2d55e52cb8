#if Network
import NIOSSL
package import RandomAccess

/// What a server shows who it is by: a chain of certificates and a private key, both as PEM files.
package struct ServerCertificate: Sendable {
    let context: NIOSSLContext

    /// Reads the files. TLS 1.2 and 1.3 are spoken, as RFC 9325 has it.
    ///
    /// - Parameters:
    ///   - certificates: The file with the server's certificate first and those between it and a root after it.
    ///   - key: The file with the private key, without a password.
    /// - Throws: `DecryptionError.io`, which says which of the files cannot be used; nothing of the key.
    package init(certificates: String, key: String) throws(DecryptionError) {
        let chain: [NIOSSLCertificateSource]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificates).map { .certificate($0) }
        } catch {
            throw .io(operation: "read certificates \(certificates)", code: 0, reason: "expected PEM (\(error))")
        }
        guard !chain.isEmpty else {
            throw .io(operation: "read certificates \(certificates)", code: 0, reason: "none in it: expected PEM")
        }
        guard let privateKey = try? NIOSSLPrivateKey(file: key, format: .pem) else {
            throw .io(
                operation: "read the private key \(key)", code: 0, reason: "expected one in PEM, without a password")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .io(
                operation: "set up TLS with \(certificates)", code: 0,
                reason: "expected a key that belongs to it (\(error))")
        }
    }
}
#endif

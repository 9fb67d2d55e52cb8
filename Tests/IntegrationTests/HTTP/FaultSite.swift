import ByteSources
import Foundation
import Glibc
import OpenSSLBackend
import RandomAccess
import TestSupport

/// A server with an encrypted object, and something before it that spoils the exchange.
final class FaultSite {
    /// The object's format, which notices changed bytes where no TLS does.
    static let strategy = Strategy.chunked(.cobblestone(keyByteCount: 16, context: []))
    /// The key; its bytes are in no other file.
    static let key: [UInt8] = (0..<16).map { UInt8(truncatingIfNeeded: 201 &* ($0 + 7)) }

    /// The server.
    let peer: MatrixPeer
    /// The object's URL, as the client has it.
    let url: String
    /// The object's plaintext.
    let plaintext: [UInt8]

    private let proxy: PeerProcess
    private static let marker = Array("never to be seen again, ".utf8)

    /// Encrypts the object and starts both.
    init(hasTLS: Bool, plaintextByteCount: Int = 65_000) throws {
        peer = try MatrixPeer(nginx: "valid", path: "object", hasTLS: hasTLS)
        plaintext = (0..<plaintextByteCount).map { Self.marker[$0 % Self.marker.count] ^ ($0 % 1000 == 999 ? 1 : 0) }
        var ciphertext: [UInt8] = []
        let encryptor = try ObjectEncryptor(
            strategy: Self.strategy, backend: OpenSSL(), key: SecretKey(Self.key), windowByteCount: 1 << 16)
        func take(_ bytes: UnsafeRawBufferPointer) { ciphertext += bytes }
        try plaintext.withUnsafeBytes { try encryptor.append($0, to: take) }
        try encryptor.finish(to: take)
        try peer.folder.file("served/sealed", ciphertext)
        proxy = try PeerProcess(script: "faults.py", ["\(peer.port)", hasTLS ? "tls" : "plain"])
        url = "\(hasTLS ? "https" : "http")://localhost:\(proxy.port)/sealed"
    }

    /// Tells if a text has some of the key or of the plaintext in it.
    func isSecret(_ text: String) -> Bool { isSecret(Array(text.utf8)) }

    /// Tells if bytes have some of the key or of the plaintext in them, the key also as digits.
    func isSecret(_ bytes: [UInt8]) -> Bool {
        let hex = Self.key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let needles = [Self.key, Array(hex.utf8), Array(hex.uppercased().utf8), Array(Self.marker.prefix(16))]
        return needles.contains { Data(bytes).range(of: Data($0)) != nil }
    }

    /// Says which fault comes next.
    ///
    /// - Returns: What became of the one before.
    @discardableResult
    func announce(_ seed: Int) throws -> String {
        let descriptor = try PeerProcess.connected(to: proxy.port)
        defer { close(descriptor) }
        let line = Array("seed \(seed)\n".utf8)
        guard write(descriptor, line, line.count) == line.count else { throw PeerFailure("the proxy is gone") }
        var answer = [UInt8](repeating: 0, count: 100)
        let count = Glibc.read(descriptor, &answer, answer.count)
        guard count > 0 else { throw PeerFailure("the proxy says nothing") }
        return String(decoding: answer[..<count], as: UTF8.self)
    }
}

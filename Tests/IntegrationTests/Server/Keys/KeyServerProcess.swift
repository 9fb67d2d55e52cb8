import Foundation
import HTTPSources
import KeyExchanges
import TestSupport

@testable import Keys

/// Keys in a folder, and a key server in a process of its own that gives them out.
final class KeyServerProcess {
    /// The keys by their files' names.
    static let keys: [String: [UInt8]] = [
        "a": Samples.bytes(16, seed: 100), "b": Samples.bytes(16, seed: 101), "c d": Samples.bytes(16, seed: 102),
    ]

    let folder: TemporaryFolder
    let server: ServerProcess
    /// The token that it printed.
    let token: String
    /// The public key that it printed, in hexadecimal.
    let publicKey: String
    /// The URL that it answers at.
    let url: String

    /// Starts a server; options may name files of the folder.
    init(
        _ options: [String] = [], folder prepared: TemporaryFolder? = nil, audit: [String] = ["--audit", "audit"],
        shell: String? = nil, environment: [String: String] = [:]
    ) throws {
        folder = try prepared ?? Self.makeFolder()
        server = try ServerProcess(
            folder, options,
            options: [
                "key-server", "--keys", "keys", "--port", "0",
                // No test depends on how long a machine with much to do takes.
                "--answer-seconds", "1000000",
            ] + audit, shell: shell, environment: environment)
        let lines = server.announcement.split(separator: "\n")
        func value(_ name: String) -> String {
            let line = lines.first { $0.hasPrefix(name) }
            return line.map { String($0.dropFirst(name.count)) } ?? ""
        }
        (token, publicKey, url) = (value("token: "), value("server key: "), value("keys on "))
    }

    static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("keys"), withIntermediateDirectories: true)
        for (name, key) in keys {
            let path = try folder.file("keys/\(name)", key)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        return folder
    }

    /// The audit's text.
    var audit: String { String(decoding: folder.bytes("audit") ?? [], as: UTF8.self) }

    /// An exchange with the server that shows its token.
    func exchange(_ change: (inout KeyServerExchange.Options) -> Void = { _ in }) throws -> KeyServerExchange {
        var options = KeyServerExchange.Options()
        options.token = token.isEmpty ? nil : token
        options.deadline = .seconds(600)
        if !publicKey.isEmpty { options.serverKey = bytes(publicKey) }
        change(&options)
        return try KeyServerExchange(url, options: options)
    }

    /// Posts bytes, and returns the answer.
    func post(_ body: [UInt8], token: String? = nil, fields: [String] = []) throws -> RawResponse {
        try Self.post(body, to: server.port, token: token ?? self.token, fields: fields)
    }

    /// Posts bytes to a server on a port of this machine.
    static func post(
        _ body: [UInt8], to port: UInt16, from source: UInt32? = nil, token: String, fields: [String] = []
    ) throws -> RawResponse {
        let connection = try RawConnection(port: port, from: source)
        let head = [
            "POST /v1/keys HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: \(body.count)",
            "Content-Type: \(KeyRequest.mediaType)", "Authorization: Bearer \(token)",
        ]
        try connection.send((head + fields).joined(separator: "\r\n") + "\r\n\r\n")
        try connection.send(body)
        return try connection.response()
    }

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

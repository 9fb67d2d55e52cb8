import Foundation
import TestSupport

/// A key server that was written from the protocol's page alone, and does what its URL's path says.
final class KeyPeer {
    static let python = Programs.installed("python3").flatMap { python in
        (try? CommandRun.run(python, ["-c", "import cryptography"]))?.status == 0 ? python : nil
    }
    static let clients = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Clients")

    private let process: Process
    private let streams: TemporaryFolder
    private let port: String

    /// Starts it and waits until it listens.
    init(_ arguments: [String] = []) throws {
        streams = try TemporaryFolder()
        process = try CommandRun.start(
            Self.python ?? "", [Self.clients.appending(path: "key_server.py").path()] + arguments, streams: streams)
        for _ in 0..<3000 where process.isRunning {
            if String(decoding: streams.bytes("out") ?? [], as: UTF8.self).contains("\n") { break }
            usleep(10_000)
        }
        port = String(decoding: streams.bytes("out") ?? [], as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !port.isEmpty else {
            throw ServerFailure("no server: \(String(decoding: streams.bytes("err") ?? [], as: UTF8.self))")
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// The URL of what it does with a path.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }
}

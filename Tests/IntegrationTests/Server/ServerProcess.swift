import ByteSources
import Foundation
import Glibc
import OpenSSLBackend
import RandomAccess
import TestSupport

/// Encrypted files, and a server in a process of its own that serves them.
final class ServerProcess {
    static let key = [UInt8](0x10..<0x20)
    static let iv = [UInt8](0xA0..<0xB0)

    /// The folder with the files.
    let folder: TemporaryFolder
    /// The port that the server listens on.
    let port: UInt16
    /// The token that clients have to show; empty with `--no-token`.
    let token: String
    /// The URL of the root, with the token if there is one.
    var root: String { "http://127.0.0.1:\(port)/" + (token.isEmpty ? "" : token + "/") }
    /// The line that it printed.
    let announcement: String
    let process: Process

    private let streams: TemporaryFolder

    /// A folder with a key file and nothing else.
    static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("key", key, isSecret: true)
        return folder
    }

    /// Encrypts a file as `openssl enc` would.
    static func encrypt(
        _ plaintext: [UInt8], strategy: Strategy? = nil, to name: String, in folder: TemporaryFolder
    ) throws {
        let encryptor = try ObjectEncryptor(
            strategy: strategy ?? .cbcContinuous(iv: Block(iv), padding: .pkcs7), backend: OpenSSL(),
            key: SecretKey(key), windowByteCount: 1 << 20)
        var ciphertext: [UInt8] = []
        ciphertext.reserveCapacity(plaintext.count + 16)
        try plaintext.withUnsafeBytes { bytes in try encryptor.append(bytes) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        try folder.file(name, ciphertext)
    }

    /// The options that the files of ``encrypt(_:strategy:to:in:)`` need.
    static func options(_ folder: TemporaryFolder) -> [String] {
        ["--key-file", folder.path("key"), "--iv", hexadecimal(iv), "--port", "0"]
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: A folder with a key file, in which the server works.
    ///   - arguments: What it is given besides the options.
    ///   - options: Others than ``options(_:)``.
    ///   - shell: What a shell does before it becomes the server, such as `ulimit -f 1`.
    ///   - environment: Variables that it is given besides those of this process.
    /// - Throws: ``ServerFailure`` if it does not listen after a while.
    init(
        _ folder: TemporaryFolder, _ arguments: [String], options: [String]? = nil, shell: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        self.folder = folder
        self.streams = try TemporaryFolder()
        // On a machine that is busy, what comes slowly is no sign of anything.
        let given = (options ?? Self.options(folder)) + arguments
        let isKeyServer = given.first == "key-server"
        let isSet = given.contains("--idle-seconds") || isKeyServer
        let whole = (isKeyServer ? [] : ["serve"]) + given + (isSet ? [] : ["--idle-seconds", "3600"])
        let wrapped = shell.map { ["-c", $0 + "\nexec \"$0\" \"$@\"", Programs.chunkwise] } ?? []
        self.process = try CommandRun.start(
            shell == nil ? Programs.chunkwise : "/bin/sh", wrapped + whole, in: folder.path,
            environment: environment, streams: streams)
        var text = ""
        for _ in 0..<3000 {
            text = String(decoding: streams.bytes("out") ?? [], as: UTF8.self)
            if text.contains("\n") || !process.isRunning { break }
            usleep(10_000)
        }
        let first = text.split(separator: "\n").first.map(String.init) ?? ""
        let parts = first.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, let port = parts[2].split(separator: ":").last.flatMap({ UInt16($0) }) else {
            let hasEnded = !process.isRunning
            process.terminate()
            throw ServerFailure(
                "no server: \(text) \(String(decoding: streams.bytes("err") ?? [], as: UTF8.self))",
                run: hasEnded ? CommandRun.finished(process, streams: streams) : nil)
        }
        self.announcement = text
        self.port = port
        self.token = String(parts[3])
        folder.settle()
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Its standard error so far.
    var errors: String { String(decoding: streams.bytes("err") ?? [], as: UTF8.self) }

    /// Ends it with a signal, and waits.
    func end(_ number: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, number)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Ends it in good order, or after a minute in any.
    ///
    /// - Returns: How it ended; `nil` if it did not.
    func finish() -> CommandRun? {
        process.terminate()
        for _ in 0..<12_000 where process.isRunning { usleep(5_000) }
        guard !process.isRunning else {
            _ = end(SIGKILL)
            return nil
        }
        return CommandRun.finished(process, streams: streams)
    }

    /// Waits until something is so, for as long as it may take a machine that is busy.
    func waits(until condition: () -> Bool) -> Bool {
        for _ in 0..<12_000 where !condition() { usleep(5_000) }
        return condition()
    }

    /// The number of files that it has open.
    var openFileCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd")) ?? []).count
    }

    /// A line of `/proc/PID/status` in bytes, such as `VmRSS`.
    func memory(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first.flatMap { Int($0) } ?? 0)
            << 10
    }

    /// Opens a connection.
    func connect() throws -> RawConnection { try RawConnection(port: port) }

    /// A whole exchange on a connection of its own.
    func get(_ target: String, _ fields: [String] = [], method: String = "GET") throws -> RawResponse {
        let connection = try connect()
        let all = (["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + fields).joined(
            separator: "\r\n")
        try connection.send(all + "\r\n\r\n")
        return try connection.response(hasBody: method != "HEAD")
    }
}

/// The reason why a test has no server or no answer.
struct ServerFailure: Error, CustomStringConvertible {
    let description: String
    /// The end of a server that does not listen.
    let run: CommandRun?

    init(_ description: String, run: CommandRun? = nil) {
        self.description = description
        self.run = run
    }
}

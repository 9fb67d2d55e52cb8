import Foundation
import Glibc
import TestSupport

/// A server that a test started, and that ends with it.
final class PeerProcess {
    /// The port that it listens on.
    let port: UInt16

    private let process: Process
    private let streams: TemporaryFolder

    /// Starts a script of `Peers` that prints its port.
    convenience init(script: String, _ arguments: [String] = []) throws {
        guard let python = Peers.python else { throw PeerFailure("python3 is not installed") }
        try self.init(python, [Self.path(script)] + arguments, port: nil)
    }

    /// Starts a server and waits until it can be reached.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: What it is given.
    ///   - port: Where it will listen; `nil` if it prints that.
    /// - Throws: ``PeerFailure`` if it does not.
    init(_ program: String, _ arguments: [String], port: UInt16?) throws {
        streams = try TemporaryFolder()
        process = try CommandRun.start(program, arguments, streams: streams)
        var found = port
        for _ in 0..<3000 where process.isRunning {
            let printed = String(decoding: streams.bytes("out") ?? [], as: UTF8.self)
            found = port ?? printed.split(separator: "\n").first.flatMap { UInt16($0) }
            if port == nil ? found != nil : Self.isListening(found ?? 0) { break }
            usleep(10_000)
        }
        guard let found, process.isRunning else {
            if process.isRunning { process.terminate() }
            throw PeerFailure(String(decoding: streams.bytes("err") ?? [], as: UTF8.self))
        }
        self.port = found
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// The path of a script.
    static func path(_ script: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Peers/\(script)")
            .path(percentEncoded: false)
    }

    /// A port of this machine that is free at this moment.
    static func freePort() -> UInt16 {
        withSocket { descriptor, address in
            _ = bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            var found = sockaddr_in()
            var count = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &found) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &count) }
            }
            return UInt16(bigEndian: found.sin_port)
        }
    }

    /// A connection to a port of this machine, which the caller closes.
    static func connected(to port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            throw PeerFailure("no listener on \(port)")
        }
        return descriptor
    }

    private static func isListening(_ port: UInt16) -> Bool {
        withSocket(port) { connect($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    private static func withSocket<Value>(
        _ port: UInt16 = 0, _ body: (Int32, UnsafePointer<sockaddr>) -> Value
    ) -> Value {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0) }
        }
    }
}

/// The reason why a test has no server.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = "no server: \(description)"
    }
}

/// The programs that the tests need from Debian.
enum Peers {
    static let python = Programs.installed("python3")
    static let openssl = Programs.installed("openssl")
    static let nginx =
        Programs.installed("nginx")
        // Not every user has the administrators' folder on the path.
        ?? (FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") ? "/usr/sbin/nginx" : nil)

    /// True if all of them are there.
    static let areThere: Bool = {
        guard let python, openssl != nil, nginx != nil else { return false }
        return (try? CommandRun.run(python, ["-c", "import cryptography"]))?.status == 0
    }()
}

import Foundation
import Glibc
import TestSupport
import Testing

@testable import Keys

/// The attacks that `Benchmarks/attack` runs for minutes, in short: another client is served meanwhile.
@Suite("servers under attack", .serialized)
struct AttackTests {
    /// The behaviour of each of many connections.
    enum Attack: CaseIterable {
        case slowHeaders, slowBodies, nothing, halfClosed, slowReaders, keptBusy, pipelined, garbage, hugeHeaders
        case foreignHosts, resets
    }

    private static let plaintext = Samples.bytes(3_000_009, seed: 21)
    /// Of 40 connections one address has 10, so that the 30 of an attacker leave enough for another one.
    private static let limits = ["--max-connections", "40", "--max-connections-per-address", "10"]
    private static let (attackerCount, roundCount) = (30, 24)

    /// An attacker's connection; it is made anew once it has ended.
    private struct Attacker {
        let number: Int
        var connection: RawConnection?
        var step = 0

        /// Does a little.
        ///
        /// - Returns: An answer that should not have come.
        mutating func advance(_ attack: Attack, _ server: ServerProcess, _ request: [UInt8]) -> String? {
            step += 1
            // The server may have closed it; what it sent meanwhile stays unread.
            guard let connection = connection ?? (try? RawConnection(port: server.port, receiveBufferByteCount: 4096))
            else { return nil }
            let isFirst = self.connection == nil
            self.connection = connection
            let end = request.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? request.count
            var bytes: [UInt8] = []
            switch attack {
            case .slowHeaders: bytes = isFirst ? Array(request[..<end]) + Array("\r\nA: ".utf8) : [0x61]
            case .slowBodies:
                bytes = isFirst ? Array(request[..<end]) + Array("\r\nContent-Length: 5000\r\n\r\n".utf8) : [0x61]
            case .nothing: break
            case .halfClosed: if isFirst { bytes = Array(request.prefix(number * 7)) }
            case .slowReaders: if isFirst { bytes = request }
            case .keptBusy, .pipelined:
                bytes = (0..<(attack == .keptBusy ? 1 : 40)).flatMap { _ in request }
            case .garbage: bytes = Samples.bytes(500, seed: UInt64(number * 1000 + step))
            case .hugeHeaders:
                bytes = Array(request[..<end]) + Array("\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n".utf8)
            case .foreignHosts, .resets: bytes = request
            }
            let isSent = (try? connection.send(bytes)) != nil
            switch attack {
            case .halfClosed: connection.finish()
            case .slowReaders, .keptBusy: if connection.hasMore { connection.receive(atMost: 10) }
            case .foreignHosts:
                defer { self.connection = nil }
                if let response = try? connection.response(), !(400..<500).contains(response.status) {
                    return "status \(response.status)"
                }
                return nil
            case .resets:
                connection.reset()
                self.connection = nil
            default: break
            }
            let isFull = [.pipelined, .garbage, .hugeHeaders].contains(attack)
            if !isSent || isFull && step % 4 == 0 || step % 10 == number % 10 && connection.isEnded {
                self.connection = nil
            }
            return nil
        }
    }

    /// Lets attackers and somebody else take turns, and looks at what the server holds before and after.
    private static func run(
        _ attack: Attack, _ server: ServerProcess, _ request: [UInt8], read: (Int) throws -> String?
    )
        throws
    {
        // What is made once and kept is made before anything is counted.
        for number in 0..<20 { #expect(try read(number) == nil) }
        let (descriptors, memory) = (server.openFileCount, server.memory("VmRSS"))
        var attackers = (0..<attackerCount).map { Attacker(number: $0) }
        for round in 0..<roundCount {
            for index in attackers.indices {
                #expect(attackers[index].advance(attack, server, request) == nil)
            }
            #expect(try read(round) == nil)
        }
        let most = server.memory("VmRSS")
        attackers = []
        #expect(
            server.waits(until: { server.openFileCount <= descriptors }), "\(server.openFileCount) of \(descriptors)")
        #expect(try read(0) == nil)
        #expect(most < memory + 32 << 20, "\(memory) bytes, then \(most)")
        #expect(server.memory("VmRSS") < memory + 32 << 20)
        #expect(server.end() == 0)
    }

    @Test("a range server serves others, every byte right, and keeps nothing", arguments: Attack.allCases)
    func ranges(_ attack: Attack) throws {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Self.plaintext, to: "film.mp4", in: folder)
        let server = try ServerProcess(folder, ["--no-token", "film.mp4"] + Self.limits)
        let host = attack == .foreignHosts ? "attacker.example" : "localhost"
        let part = attack == .slowReaders ? "" : "Range: bytes=0-9\r\n"
        let request = Array("GET /film.mp4 HTTP/1.1\r\nHost: \(host)\r\n\(part)\r\n".utf8)
        var connection: RawConnection?
        var random = SeededGenerator(state: 3)
        try Self.run(attack, server, request) { number in
            // From another address, over one connection for a while.
            let open = number % 7 == 0 ? nil : connection
            let current = try open ?? RawConnection(port: server.port, from: 0x7F00_0002)
            connection = current
            let start = Int.random(in: 0..<Self.plaintext.count, using: &random)
            let range = start..<min(Self.plaintext.count, start + Int.random(in: 1...100_000, using: &random))
            try current.send(
                "GET /film.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                    + "\r\n\r\n")
            let response = try current.response()
            guard response.status == 206, response.body[...] == Self.plaintext[range] else {
                return "\(range): status \(response.status), \(response.body.count) bytes"
            }
            if number == 0 { connection = nil }
            return nil
        }
    }

    @Test("a key server gives others their keys, and keeps nothing", arguments: Attack.allCases)
    func keys(_ attack: Attack) throws {
        let server = try KeyServerProcess(["--no-token", "--rate", "1e6", "--burst", "1000000"] + Self.limits)
        let host = attack == .foreignHosts ? "attacker.example" : "localhost"
        let body = PendingRequest(identifiers: ["a"], route: "local", wantsPersistable: false, at: 1).bytes
        let length = attack == .slowBodies ? "" : "Content-Length: \(body.count)\r\n"
        let head = "POST /v1/keys HTTP/1.1\r\nHost: \(host)\r\n\(length)Content-Type: \(KeyRequest.mediaType)\r\n\r\n"
        try Self.run(attack, server.server, Array(head.utf8) + body) { _ in
            let now = UInt64(Date().timeIntervalSince1970 * 1000)
            let request = PendingRequest(identifiers: ["b"], route: "local", wantsPersistable: false, at: now)
            let response = try KeyServerProcess.post(
                request.bytes, to: server.server.port, from: 0x7F00_0002, token: "")
            guard response.status == 200 else { return "status \(response.status): \(response.text)" }
            let keys = try request.open(response.body, elapsed: .zero, serverKey: nil)
            let key = try keys.first?.key.get().withUnsafeBytes { Array($0) }
            return key == KeyServerProcess.keys["b"] ? nil : "another key"
        }
    }
}

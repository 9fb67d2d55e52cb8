import Dispatch
import Foundation
import Glibc
import RandomAccess
import Synchronization
import TestSupport
import Testing

/// Many clients at once. One server after the other, so that they do not starve each other.
@Suite("serving many", .serialized)
struct LoadTests {
    private static let plaintext = Samples.bytes(8_000_009, seed: 5)

    private static func serve(_ extra: [String] = []) throws -> ServerProcess {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(plaintext, to: "film.mp4", in: folder)
        return try ServerProcess(folder, ["--no-token", "film.mp4"] + extra)
    }

    /// Runs clients on threads of their own, and returns what went wrong.
    static func clients(_ count: Int, _ body: @escaping @Sendable (Int) throws -> String?) -> [String] {
        let mismatches = Mutex<[String]>([])
        let group = DispatchGroup()
        for index in 0..<count {
            let thread = Thread {
                do {
                    if let mismatch = try body(index) { mismatches.withLock { $0.append(mismatch) } }
                } catch {
                    mismatches.withLock { $0.append("client \(index): \(error)") }
                }
                group.leave()
            }
            thread.stackSize = 1 << 20
            group.enter()
            thread.start()
        }
        group.wait()
        return mismatches.withLock { $0 }
    }

    @Test("10,000 random ranges from 32 clients at once are right in every byte")
    func randomRanges() throws {
        let server = try Self.serve()
        let port = server.port
        let mismatches = Self.clients(32) { client in
            let connection = try RawConnection(port: port)
            var state = UInt64(client + 1)
            func draw(_ limit: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int((state >> 33) % UInt64(limit))
            }
            for number in 0..<313 {
                // Most are short, some take many windows.
                let maximum = [64, 5000, 70_000, 70_000, 1_000_000][draw(number % 10 == 0 ? 5 : 4)]
                let offset = draw(Self.plaintext.count)
                let range = offset..<min(Self.plaintext.count, offset + 1 + draw(maximum))
                try connection.send(
                    "GET /film.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\(range.lowerBound)-\(range.upperBound - 1)\r\n\r\n"
                )
                let response = try connection.response()
                let isRight = response.body[...] == Self.plaintext[range]
                if response.status != 206 || !isRight {
                    return "client \(client), range \(range): status \(response.status), "
                        + (Samples.difference(response.body, Array(Self.plaintext[range])) ?? "")
                }
            }
            return nil
        }
        #expect(mismatches == [])
    }

    @Test("1000 clients that go away in the middle leave nothing open")
    func disconnects() throws {
        let server = try Self.serve()
        let port = server.port
        // What is made once and kept, such as threads and their buffers, is there after a first round.
        func round(_ clientCount: Int) -> [String] {
            Self.clients(8) { worker in
                for number in 0..<clientCount / 8 {
                    let connection = try RawConnection(port: port, receiveBufferByteCount: 4096)
                    try connection.send("GET /film.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\(number)-\r\n\r\n")
                    switch (number + worker) % 4 {
                    case 0: connection.reset()
                    case 1:
                        if !connection.receive(atMost: 100) { return "client \(number) got nothing" }
                    case 2:
                        if !connection.receive(atMost: 100) { return "client \(number) got nothing" }
                        connection.reset()
                    default: break
                    }
                }
                return nil
            }
        }
        // Its own connection and the file may still be open.
        #expect(try server.get("/film.mp4", ["Range: bytes=0-9"]).status == 206)
        let openFiles = server.openFileCount
        #expect(round(400) == [])
        #expect(server.waits(until: { server.openFileCount <= openFiles }), "\(server.openFileCount) of \(openFiles)")
        let before = server.memory("VmRSS")
        #expect(round(1000) == [])
        #expect(server.waits(until: { server.openFileCount <= openFiles }), "\(server.openFileCount) of \(openFiles)")
        let after = server.memory("VmRSS")
        // What 1000 windows would take is 250 MiB; what malloc keeps differs a little from time to time.
        #expect(after < before + 8 << 20, "\(before) bytes, then \(after)")
        #expect(try server.get("/film.mp4", ["Range: bytes=7-9"]).body == Array(Self.plaintext[7..<10]))
        #expect(server.errors.isEmpty)
    }

    @Test(
        "100 clients that read slowly are served in less than 64 MiB",
        arguments: [
            nil,
            Strategy.chunked(.tinkAESGCMHKDF(associatedData: [], segmentByteCount: 1 << 20, derivedKeyByteCount: 16)),
        ])
    func memory(strategy: Strategy?) throws {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Self.plaintext, strategy: strategy, to: "film.mp4", in: folder)
        let options = [
            "--key-file", folder.path("key"), "--port", "0", "--strategy", "tink-aes-gcm-hkdf:segment=1MiB",
        ]
        let server = try ServerProcess(
            folder, ["--no-token", "film.mp4"], options: strategy == nil ? nil : options)
        let port = server.port
        let gate = DispatchSemaphore(value: 0)
        let connected = DispatchSemaphore(value: 0)
        let done = Mutex<[String]?>(nil)
        let all = Thread {
            let mismatches = Self.clients(100) { client in
                let connection = try RawConnection(port: port, receiveBufferByteCount: 65536)
                try connection.send("GET /film.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let hasBegun = connection.receive(atMost: 4096)
                connected.signal()
                gate.wait()
                guard hasBegun else { return "client \(client) got nothing" }
                let response = try connection.response()
                return response.body == Self.plaintext ? nil : "client \(client) got something else"
            }
            done.withLock { $0 = mismatches }
            connected.signal()
        }
        all.start()
        for _ in 0..<100 { connected.wait() }
        // All of them have been served something, and wait.
        for _ in 0..<100 { gate.signal() }
        connected.wait()
        #expect(done.withLock { $0 } == [])
        let peak = server.memory("VmHWM")
        // The program's own pages aside, of which debug builds have more than the 30 MiB of a release build.
        let code = server.memory("RssFile")
        #expect(peak > code && peak - code < 34 << 20, "\(peak) bytes, \(code) of them the program's")
    }
}

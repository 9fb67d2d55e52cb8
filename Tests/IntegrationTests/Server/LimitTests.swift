import Foundation
import Glibc
import TestSupport
import Testing

@Suite("limits of a server")
struct LimitTests {
    private static func serve(_ extra: [String]) throws -> ServerProcess {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Samples.bytes(1_000_000), to: "short.mp4", in: folder)
        try ServerProcess.encrypt([UInt8](repeating: 7, count: 30_000_000), to: "long.mp4", in: folder)
        return try ServerProcess(folder, ["--no-token", "short.mp4", "long.mp4"] + extra)
    }

    @Test("connections on which nothing happens are closed")
    func idle() throws {
        let server = try Self.serve(["--idle-seconds", "0.3"])
        for text in ["", "GET /short.mp4 HT", "GET /short.mp4 HTTP/1.1\r\nHost: localhost\r\nA: b"] {
            let connection = try server.connect()
            try connection.send(text)
            #expect(connection.rest().isEmpty)
        }
        let connection = try server.connect()
        try connection.send("HEAD /short.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try connection.response(hasBody: false).status == 200)
        #expect(connection.rest().isEmpty)
        // A body that was announced and does not come.
        let body = try server.connect()
        try body.send("POST /short.mp4 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123")
        #expect(try body.response().status == 405)
        #expect(body.rest().isEmpty)
    }

    @Test("a request that comes byte by byte is closed like one that does not come", arguments: [true, false])
    func drip(isHeader: Bool) throws {
        let server = try Self.serve(["--idle-seconds", "0.5"])
        let connection = try server.connect()
        try connection.send("GET /short.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\n")
        if !isHeader { try connection.send("Content-Length: 60000\r\n\r\n") }
        // Each byte comes long before the connection would be idle.
        var sentCount = 0
        while sentCount < 6000, (try? connection.send("a")) != nil {
            sentCount += 1
            usleep(10_000)
        }
        #expect(sentCount < 6000)
    }

    @Test("connections of one address beyond its limit are closed, and those of the others come")
    func addressLimit() throws {
        let server = try Self.serve(["--max-connections", "8", "--max-connections-per-address", "2"])
        let request = "GET /short.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\n\r\n"
        var first: [RawConnection]? = [try server.connect(), try server.connect()]
        for connection in first ?? [] {
            try connection.send(request)
            #expect(try connection.response().status == 206)
        }
        for _ in 0..<20 {
            let third = try server.connect()
            try? third.send(request)
            #expect(third.rest().isEmpty)
        }
        for connection in first ?? [] {
            try connection.send(request)
            #expect(try connection.response().status == 206)
        }
        first = nil
        #expect(
            server.waits(until: {
                guard let next = try? server.connect(), (try? next.send(request)) != nil else { return false }
                return (try? next.response())?.status == 206
            }))
    }

    @Test("a server whose messages are not read goes on")
    func fullStandardError() throws {
        let folder = try ServerProcess.makeFolder()
        try FileManager.default.createDirectory(atPath: folder.path("films"), withIntermediateDirectories: true)
        try ServerProcess.encrypt(Samples.bytes(1000), to: "films/good", in: folder)
        try folder.file("films/bad", Samples.bytes(1000))
        // A pipe with a reader that never reads.
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        let server = try ServerProcess(folder, ["--no-token", "films"], shell: "exec 2<>pipe")
        let connection = try server.connect()
        // Each is said, and a pipe has space for some hundreds.
        for _ in 0..<2000 {
            try connection.send("GET /bad HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try #require(try connection.response().status == 500)
        }
        #expect(try server.get("/good").status == 200)
    }

    @Test("a client that does not read is cut off")
    func stalled() throws {
        let server = try Self.serve(["--idle-seconds", "0.3"])
        let before = server.openFileCount
        let stalled = try RawConnection(port: server.port, receiveBufferByteCount: 65536)
        try stalled.send("GET /long.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(stalled.receive(atMost: 1000))
        #expect(server.waits(until: { server.openFileCount <= before }))
        let cut = stalled.rest()
        #expect(!cut.isEmpty && cut.count < 30_000_000)
    }

    @Test("a client that reads a little at a time gets everything")
    func slow() throws {
        let server = try Self.serve([])
        let slow = try RawConnection(port: server.port, receiveBufferByteCount: 4096)
        try slow.send("GET /long.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in 0..<1000 { slow.receive(atMost: 1000) }
        let response = try slow.response()
        #expect(response.isComplete && response.body.count == 30_000_000)
    }

    @Test("connections beyond the limit wait for those before them")
    func connectionLimit() throws {
        let server = try Self.serve(["--max-connections", "2"])
        let request = "GET /short.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\n\r\n"
        var first: [RawConnection]? = [try server.connect(), try server.connect()]
        for connection in first ?? [] {
            try connection.send(request)
            #expect(try connection.response().status == 206)
        }
        let third = try server.connect()
        try third.send(request)
        // The server works all the while, and not for the third.
        for _ in 0..<50 {
            for connection in first ?? [] {
                try connection.send(request)
                #expect(try connection.response().status == 206)
            }
            #expect(!third.hasMore)
        }
        first = nil
        #expect(try third.response().status == 206)
    }

    @Test("with few descriptors there are fewer connections, and those beyond them wait", arguments: [false, true])
    func descriptorLimit(isKeyServer: Bool) throws {
        let shell = "ulimit -n 150"
        let server =
            try isKeyServer
            ? KeyServerProcess(["--no-token"], shell: shell).server
            : ServerProcess(try ServerProcess.makeFolder(), ["--no-token", "."], shell: shell)
        #expect(server.errors.contains("warning: 150 open files are allowed"))
        let request = "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"
        var all = try (0..<200).map { _ in try server.connect() }
        for connection in all { try connection.send(request) }
        while !all.isEmpty {
            let connection = all.removeFirst()
            #expect(try connection.response().status == 404)
            #expect(server.openFileCount < 150)
        }
    }

    @Test("headers and bodies have limits")
    func sizes() throws {
        let server = try Self.serve([])
        let long = String(repeating: "a", count: 20_000)
        let many = (0..<200).map { "A\($0): b\r\n" }.joined()
        for text in [
            "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nA: \(long)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\n\(long): a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\n\(many)\r\n",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
        ] {
            let connection = try server.connect()
            try connection.send(text)
            let response = try connection.response()
            #expect((400..<500).contains(response.status) && response["connection"] == "close", "\(text.prefix(60))")
            #expect(connection.rest().isEmpty)
        }
        // A body within the limit is passed over.
        let connection = try server.connect()
        for _ in 0..<3 {
            try connection.send(
                "GET /short.mp4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\nContent-Length: 5000\r\n\r\n"
                    + String(repeating: "GET / HTTP/1.1\r\n\r\n\r\n", count: 250))
            #expect(try connection.response().status == 206)
        }
    }

    @Test("an answer reaches a client that is still sending what is refused")
    func refusedBody() throws {
        let server = try Self.serve([])
        let connection = try server.connect()
        try connection.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n")
        for _ in 0..<20 { try? connection.send([UInt8](repeating: 1, count: 10_000)) }
        #expect(try connection.response().status == 413)
    }

    @Test("a file that changes while it is served ends the answer, and has another tag", arguments: [true, false])
    func changedFile(keepsLength: Bool) throws {
        let server = try Self.serve([])
        let connection = try RawConnection(port: server.port, receiveBufferByteCount: 65536)
        let tag = try #require(try server.get("/long.mp4", method: "HEAD")["etag"])
        try connection.send("GET /long.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(connection.receive(atMost: 1000))
        let path = server.folder.path("long.mp4")
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        if keepsLength {
            // The whole file but its end, so that nothing of what is left would decrypt to what it was.
            try file.write(contentsOf: Data(repeating: 1, count: 29_000_000))
        } else {
            try file.truncate(atOffset: 9_999_999)
        }
        try file.close()
        let response = try connection.response()
        #expect(!response.isComplete)
        #expect(response.body.allSatisfy { $0 == 7 })
        #expect(server.errors.contains("long.mp4: "))
        let after = try server.get("/long.mp4", ["If-Range: \(tag)", "Range: bytes=0-9"])
        #expect(keepsLength ? after.status == 200 && after["etag"] != tag : after.status == 500)
    }
}

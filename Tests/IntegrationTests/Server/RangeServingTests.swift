import Foundation
import RandomAccess
import TestSupport
import Testing

@Suite("serving ranges")
struct RangeServingTests {
    private static let plaintext = Samples.bytes(3_000_017)

    private func serve(_ arguments: [String] = ["--no-token"], strategy: Strategy? = nil) throws -> ServerProcess {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Self.plaintext, strategy: strategy, to: "film.mp4.enc", in: folder)
        return try ServerProcess(folder, arguments + ["film.mp4.enc"])
    }

    @Test("ranges, whole files and heads are what RFC 9110 says, on one connection")
    func exchanges() throws {
        let server = try serve()
        let connection = try server.connect()
        let count = Self.plaintext.count
        let cases: [(String, Int, Range<Int>)] = [
            ("", 200, 0..<count), ("Range: bytes=0-0\r\n", 206, 0..<1), ("Range: bytes=15-16\r\n", 206, 15..<17),
            ("Range: bytes=262140-262150\r\n", 206, 262140..<262151),
            ("Range: bytes=-500\r\n", 206, count - 500..<count),
            ("Range: bytes=2999999-\r\n", 206, 2_999_999..<count), ("Range: bytes=0-\r\n", 206, 0..<count),
            ("Range: bytes=0-1,5-6\r\n", 200, 0..<count), ("Range: bytes=3000017-\r\n", 416, 0..<0),
        ]
        for (field, status, range) in cases {
            try connection.send("GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n")
            let response = try connection.response()
            #expect(response.status == status)
            #expect(response["accept-ranges"] == "bytes" && response["etag"]?.isEmpty == false)
            #expect(response["cache-control"] == "no-store" && response["date"]?.hasSuffix(" GMT") == true)
            if status == 416 {
                #expect(response["content-range"] == "bytes */\(count)")
                continue
            }
            #expect(response["content-type"] == "video/mp4")
            #expect(Samples.difference(response.body, Array(Self.plaintext[range])) == nil)
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
            #expect(response["content-range"] == (status == 206 ? place : nil))
        }
        try connection.send("HEAD /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let head = try connection.response(hasBody: false)
        #expect(head.status == 200 && head["content-length"] == "\(count)")
        let tag = try #require(head["etag"])
        try connection.send("GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n")
        #expect(try connection.response().status == 304)
        try connection.send(
            "GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\nIf-Range: \(tag)\r\nRange: bytes=1-2\r\n\r\n")
        #expect(try connection.response().body == Array(Self.plaintext[1..<3]))
        try connection.send(
            "GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\nIf-Range: \"x\"\r\nRange: bytes=1-2\r\n\r\n")
        #expect(try connection.response().body.count == count)
    }

    @Test(
        "every strategy is served",
        arguments: [
            (["--strategy", "cbc-chunked:chunk=64KiB"], 0), (["--strategy", "ctr"], 1),
        ])
    func strategies(options: [String], index: Int) throws {
        let iv = try Block(ServerProcess.iv)
        let strategy: Strategy =
            index == 0
            ? .cbcChunked(chunkByteCount: 65536, iv: iv, ivRule: .sequence, padding: .pkcs7) : .ctr(iv: iv)
        let server = try serve(["--no-token"] + options, strategy: strategy)
        for range in [0..<3_000_017, 65_530..<65_545, 1_000_000..<2_000_001] {
            let response = try server.get(
                "/film.mp4.enc", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
            #expect(Samples.difference(response.body, Array(Self.plaintext[range])) == nil)
        }
    }

    @Test("only who shows the token is served")
    func token() throws {
        let server = try serve([])
        let target = "/film.mp4.enc"
        let token = server.token
        #expect(token.count == 32 && server.announcement.contains("\n\(server.root)film.mp4\n"))
        let wrong = [
            String(token.dropLast()) + (token.hasSuffix("0") ? "1" : "0"), token + "0", String(token.dropLast()),
        ]
        let refusals = wrong.map { "/" + $0 + target } + [target + "?token=" + token, target, "/", "/nothing"]
        for refused in refusals + ["//\(token)\(target)", "/a/../\(token)\(target)", "/%\(token)"] {
            let response = try server.get(refused, ["Range: bytes=0-9"])
            #expect(response.status == 401 && response["www-authenticate"] != nil)
            #expect(response["etag"] == nil && response["content-range"] == nil)
        }
        for name in [target, "/film.mp4"] {
            let answer = try server.get("/\(token)\(name)", ["Range: bytes=0-9"])
            #expect(answer.status == 206 && answer.body == Array(Self.plaintext[..<10]), "\(name)")
        }
        #expect(try server.get(target, ["Authorization: Bearer \(token)"]).status == 200)
        let page = try server.get("/\(token)/").text
        #expect(page.contains("<a href=\"film.mp4\">film.mp4</a>") && !page.contains(token))
        #expect(try server.get("/", ["Authorization: Bearer \(token)"]).text == page)
        let bare = try server.get("/\(token)")
        #expect(bare.status == 308 && bare["location"] == "/\(token)/")
        #expect(!server.errors.contains(token))
    }

    @Test(
        "other methods are refused with those that are allowed",
        arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"])
    func methods(method: String) throws {
        let server = try serve()
        let response = try server.get("/film.mp4.enc", ["Range: bytes=0-9"], method: method)
        #expect(response.status == 405 && response["allow"] == "GET, HEAD")
    }

    @Test("requests that follow each other at once are answered in their order")
    func pipelined() throws {
        let server = try serve()
        let connection = try server.connect()
        let requests = (0..<50).map {
            "GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\($0)-\($0 + 9)\r\n\r\n"
        }
        try connection.send(requests.joined())
        for index in 0..<50 {
            #expect(try connection.response().body == Array(Self.plaintext[index..<index + 10]))
        }
    }

    @Test("connections stay or go as the client asks")
    func persistence() throws {
        let server = try serve()
        for (lines, stays) in [
            ("HTTP/1.0\r\n", false), ("HTTP/1.0\r\nConnection: keep-alive\r\n", true),
            ("HTTP/1.1\r\nHost: localhost\r\n", true),
            ("HTTP/1.1\r\nHost: localhost\r\nConnection: CLOSE\r\n", false),
            ("HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n", false),
        ] {
            let connection = try server.connect()
            try connection.send("GET /film.mp4.enc \(lines)Range: bytes=5-6\r\n\r\n")
            let response = try connection.response()
            #expect(response.status == 206 && response.body == Array(Self.plaintext[5..<7]))
            #expect((response["connection"] == "close") == !stays)
            if !stays { #expect(connection.rest().isEmpty) }
        }
        // A client that has said all it wants to say still gets its answer.
        let connection = try server.connect()
        try connection.send("GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.finish()
        #expect(try connection.response().body.count == Self.plaintext.count)
        #expect(connection.rest().isEmpty)
    }

    @Test("a signal ends the server when its answers are finished", arguments: [SIGTERM, SIGINT])
    func shutdown(signal: Int32) throws {
        let server = try serve()
        let (busy, idle) = (try server.connect(), try server.connect())
        try busy.send("GET /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try idle.send("HEAD /film.mp4.enc HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try idle.response(hasBody: false).status == 200)
        while !busy.receive(atMost: 1) {}
        kill(server.process.processIdentifier, signal)
        #expect(idle.rest().isEmpty)
        #expect(try busy.response().body == Self.plaintext)
        server.process.waitUntilExit()
        #expect(server.process.terminationReason == .exit && server.process.terminationStatus == 0)
        #expect(throws: ServerFailure.self) { try server.connect() }
    }
}

import TestSupport
import Testing

/// Requests that no client should send: each gets an answer of status 4xx or a closed connection.
@Suite("malformed requests")
struct MalformedRequestTests {
    private static let plaintext = Samples.bytes(50_000, seed: 9)

    private static func serve() throws -> ServerProcess {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(plaintext, to: "f", in: folder)
        return try ServerProcess(folder, ["--no-token", "f", "--idle-seconds", "2"])
    }

    /// The fault of the answers to a request, or `nil` if all refuse and the connection ends.
    private static func mismatch(_ request: [UInt8], _ server: ServerProcess) throws -> String? {
        let connection = try server.connect()
        do { try connection.send(request) } catch {}
        connection.finish()
        var answers: [Int] = []
        while let response = try? connection.response() {
            answers.append(response.status)
            if !(400..<500).contains(response.status) { return "status \(response.status)" }
            if response.body.count > 64 { return "\(response.body.count) bytes of status \(response.status)" }
        }
        return answers.count > 1 ? "\(answers.count) answers" : nil
    }

    private static let listed: [String] = {
        let host = "Host: localhost\r\n"
        let lines = [
            "", "\0", "\r\n\r\n", "GET", "GET /f", "GET /f\r\n\r\n", "GET /f HTTP\r\n\r\n", "GET /f HTTP/1.1",
            "GET\t/f\tHTTP/1.1\r\n\(host)\r\n", "/f HTTP/1.1\r\n\(host)\r\n",
            "GET /f HTTP/1.1\r\n", "GET /f HTTP/1.1\r\n\r\n", "GET /f HTTP/0.9\r\n\(host)\r\n",
            "GET /f HTTP/2.0\r\n\(host)\r\n", "GET /f HTTP/11.1\r\n\(host)\r\n", "GET /f HTTP/1.1.1\r\n\(host)\r\n",
            "GET /f HTTP/-1.1\r\n\(host)\r\n", "GET /f http/1.1\r\n\(host)\r\n", "GET /f HTTPS/1.1\r\n\(host)\r\n",
            "GET /f HTTP/1.1x\r\n\(host)\r\n", "GET /f /f HTTP/1.1\r\n\(host)\r\n", "get /f HTTP/1.1\r\n\(host)\r\n",
            "NOSUCH /f HTTP/1.1\r\n\(host)\r\n", "G\0T /f HTTP/1.1\r\n\(host)\r\n", "GET /f\0 HTTP/1.1\r\n\(host)\r\n",
            "GET f HTTP/1.1\r\n\(host)\r\n", "GET * HTTP/1.1\r\n\(host)\r\n", "GET /%zz HTTP/1.1\r\n\(host)\r\n",
            "GET /f%00 HTTP/1.1\r\n\(host)\r\n", "GET /% HTTP/1.1\r\n\(host)\r\n", "GET /f# HTTP/1.1\r\n\(host)\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "CONNECT x:80 HTTP/1.1\r\n\(host)\r\n",
            "OPTIONS * HTTP/1.1\r\n\(host)\r\n", "GET http://other/f HTTP/1.1\r\n\(host)\r\n",
            "GET http://localhost:1/f HTTP/1.1\r\n\(host)\r\n", "GET ftp://localhost/f HTTP/1.1\r\n\(host)\r\n",
            "GET http:///f HTTP/1.1\r\n\(host)\r\n", "GET http:/f HTTP/1.1\r\n\(host)\r\n",
            "GET http:f HTTP/1.1\r\n\(host)\r\n", "GET http://localhost?/f HTTP/1.1\r\n\(host)\r\n",
            "GET http://x@localhost/f HTTP/1.1\r\n\(host)\r\n", "GET http://localhost/f HTTP/1.0\r\n\r\n",
            "\u{16}\u{3}\u{1}\0\u{5}hello", "SSH-2.0-x\r\n", "{\"op\":\"read\"}\n",
        ]
        let fields = [
            "Host: a b/\r\n", "Host: localhost\r\nHost: y\r\n", "Host: localhost\r\nHost: localhost\r\n", "Host\r\n",
            "Host : x\r\n",
            " Host: localhost\r\n",
            ": x\r\n\(host)",
            "Host: localhost\r\n\0: y\r\n", "\(host)A\0: b\r\n", "\(host)A: b\0c\r\n", "\(host)A: b\rc\r\n",
            "\(host)A b: c\r\n",
            "\(host)A: b\r\n c\r\n", "\(host)A(: b\r\n", "\(host)Content-Length: -1\r\n",
            "\(host)Content-Length: x\r\n",
            "\(host)Content-Length: 1x\r\n", "\(host)Content-Length: 1, 2\r\n", "\(host)Content-Length: +1\r\n",
            "\(host)Content-Length: 1\r\nContent-Length: 2\r\n", "\(host)Content-Length: 999999999999999999999\r\n",
            "\(host)Content-Length: 0x10\r\n", "\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
            "\(host)Transfer-Encoding: gzip\r\n", "\(host)Transfer-Encoding: chunked, gzip\r\n",
            "\(host)Transfer-Encoding: xchunked\r\n", "\(host)Transfer-Encoding: chunked\r\n",
            "\(host)Range: bytes=9-3\r\n", "\(host)Range: bytes=a-b\r\n", "\(host)Range: bytes=-\r\n",
            "\(host)Range: 0-9\r\n",
            "\(host)Range: bytes=\r\n", "\(host)Range:\r\n", "\(host)Range: bytes=--5\r\n",
            "\(host)Range: bytes=1-2-3\r\n",
            "\(host)Range: bytes=0-1\r\nRange: bytes=3-4\r\n", "\(host)Range: bytes=50000-\r\n",
            "\(host)Range: bytes=18446744073709551616-\r\n", "\(host)Range: bytes=-0\r\n", "\(host)Range: bytes=0\r\n",
            "\(host)Range: bytes=0-9;q=1\r\n", "\(host)Range: bytes = 0-9\u{1}\r\n", "\(host)If-None-Match: x\r\n",
            "\(host)If-Match: x\r\n", "\(host)If-Match: \"x\r\n", "\(host)Expect: 200-ok\r\nContent-Length: 1\r\n",
            "\(host)A: \(String(repeating: "x", count: 17_000))\r\n",
        ]
        return lines + fields.map { "GET /f HTTP/1.1\r\n\($0)\r\n" }
    }()

    @Test("what is listed is refused")
    func list() throws {
        let server = try Self.serve()
        for request in Self.listed {
            #expect(try Self.mismatch(Array(request.utf8), server) == nil, "\(request.debugDescription.prefix(100))")
        }
        #expect(try server.get("/f").body == Self.plaintext)
    }

    /// Fields by which two servers could find different ends of a request: what stands behind is a body to the one and
    /// another request to the other. `Benchmarks/attack smuggling` sends them through proxies.
    private static let ambiguous = [
        "Content-Length: 0\r\nContent-Length: 36", "Content-Length: 36\r\nContent-Length: 0",
        "Content-Length: 36\r\nContent-Length: 36", "Content-Length: 36, 36", "Content-Length: 0, 36",
        "Content-Length: +36", "Content-Length: -0", "Content-Length: 0x24", "Content-Length: 36a",
        "Content-Length: 3 6",
        "Content-Length:", "Content-Length: \u{B}36", "Content-Length: \u{0}36",
        "Content-Length: 18446744073709551616",
        "Content-Length : 36", "Content-Length\t: 36", "Content-Length\u{A0}: 36", "Content-Length:\r\n 36",
        "A: b\r\n Content-Length: 36", "A: b\rContent-Length: 36", "A: b\nContent-Length: 36", "Content-Length: 36\n",
        "Content-Length 36", "A: b\nContent-Length: 36\n\n", "Content-Length: 36\r\nExpect: 100-continue",
        "Content-Length: 36\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 36",
        "Transfer-Encoding: chunked", "Transfer-Encoding: CHUNKED", "Transfer-Encoding: \u{B}chunked",
        "Transfer-Encoding: \u{0}chunked", "Transfer-Encoding: chunked\u{0}", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: , chunked", "Transfer-Encoding: chunked;a=b",
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity, chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding : chunked", "Transfer-Encoding:\r\n chunked", "A: b\r\n\tTransfer-Encoding: chunked",
        "A: b\rTransfer-Encoding: chunked", "A: b\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nConnection: Transfer-Encoding",
    ]

    @Test("of a request whose end is not clear, nothing is answered but the refusal", arguments: ["", "0\r\n\r\n"])
    func ambiguousEnds(body: String) throws {
        let server = try Self.serve()
        let hidden = "GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for fields in Self.ambiguous {
            let request = "GET /f HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n\r\n\(body)\(hidden)"
            #expect(try Self.mismatch(Array(request.utf8), server) == nil, "\(fields.debugDescription)")
        }
        // In absolute form with the same host, a target is a path.
        #expect(try server.get("http://LOCALHOST/f").body == Self.plaintext)
        #expect(try server.get("http://LOCALHOST").status == 200)
    }

    /// Damages a request so that no server may take it.
    private static func damaged(_ number: Int) -> [UInt8] {
        var state = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        func draw(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(max(1, limit)))
        }
        func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(draw(256)) } }
        let request = Array("GET /f HTTP/1.1\r\nHost: localhost\r\nRange: bytes=10-19\r\nAccept: */*\r\n\r\n".utf8)
        switch number % 8 {
        case 0: return noise(1 + draw(400))
        case 1:
            return Array("GET /f HTTP/1.1\r\nHost: localhost\r\n".utf8) + [UInt8(draw(32)) & 7] + noise(50) + [
                13, 10, 13, 10,
            ]
        case 2: return Array(request[..<draw(request.count - 1)])
        case 3:
            var bytes = request
            // In the method or the version no byte may be another one.
            bytes[[0, 1, 2, 7, 8, 9, 10][draw(7)]] ^= UInt8(1 + draw(31)) | 0x80
            return bytes
        case 4:
            var bytes = Array("GET /f HTTP/1.1\r\nHost: localhost\r\nRange: bytes=".utf8)
            bytes +=
                (0..<1 + draw(20)).map { _ in Array("0123456789-,= abx;".utf8)[draw(18)] } + Array("!\r\n\r\n".utf8)
            return bytes
        case 5:
            let name = ["Content-Length", "Transfer-Encoding", "Host"][draw(3)]
            return Array("GET /f HTTP/1.1\r\nHost: localhost\r\n\(name): z".utf8) + noise(20).map { $0 | 0x21 & 0x7F }
                + Array("\r\n\r\n".utf8)
        case 6:
            let ups = String(repeating: ["../", "%2e%2e/", "..%2f", "..\\", "./", "//"][draw(6)], count: 1 + draw(9))
            return Array("GET /\(ups)etc/passwd\(["", "%00", "\\"][draw(3)]) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        default:
            return Array("GET /f HTTP/1.1\r\n".utf8) + noise(30) + Array(": b\r\nHost: localhost\r\n\r\n".utf8)
        }
    }

    @Test("1000 requests with something wrong are refused, and nothing of the file is in the answers")
    func fuzz() throws {
        let server = try Self.serve()
        for number in 0..<1000 {
            let request = Self.damaged(number)
            #expect(
                try Self.mismatch(request, server) == nil,
                "number \(number): \(String(decoding: request.prefix(100), as: UTF8.self).debugDescription)")
        }
        #expect(server.process.isRunning)
        #expect(try server.get("/f").body == Self.plaintext)
    }

    @Test("whatever is sent, every part that comes back is the one that its Content-Range names")
    func mutated() throws {
        let server = try Self.serve()
        let request = Array(
            "GET /f HTTP/1.1\r\nHost: localhost\r\nIf-Range: \"0\"\r\nRange: bytes=100-199\r\nConnection: close\r\n\r\n"
                .utf8)
        var state: UInt64 = 11
        func draw(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        var statuses: [Int: Int] = [:]
        for _ in 0..<1000 {
            var bytes = request
            for _ in 0..<1 + draw(3) {
                let place = draw(bytes.count)
                switch draw(3) {
                case 0: bytes[place] = UInt8(draw(256))
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[draw(bytes.count)], at: place)
                }
            }
            let connection = try server.connect()
            do { try connection.send(bytes) } catch {}
            connection.finish()
            while let response = try? connection.response() {
                statuses[response.status, default: 0] += 1
                switch response.status {
                case 200:
                    #expect(response.body == Self.plaintext || response["content-type"]?.hasPrefix("text/html") == true)
                case 206:
                    let parts = (response["content-range"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
                    try #require(parts.count == 3 && parts[0] <= parts[1] && parts[2] == Self.plaintext.count)
                    #expect(response.body == Array(Self.plaintext[parts[0]...parts[1]]))
                default: #expect((400..<500).contains(response.status) && response.body.count < 64)
                }
            }
        }
        #expect(statuses[200, default: 0] > 0 && statuses[400, default: 0] > 0)
        #expect(server.process.isRunning)
    }
}

import Foundation
import HTTPSources
import KeyExchanges
import Support
import TestSupport
import Testing

@testable import Keys

/// The key server in a process of its own, with our client and one that others could have written.
@Suite("key server", .serialized)
struct KeyServerTests {
    static let openssl = Programs.installed("openssl")

    private static func query(_ identifiers: [String], wantsPersistable: Bool = false) -> KeyQuery {
        KeyQuery(exchange: 1, identifiers: identifiers, route: .local, wantsPersistable: wantsPersistable)
    }

    private static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970 * 1000) }

    private static func request(_ identifiers: [String] = ["a"], at time: UInt64? = nil) -> [UInt8] {
        PendingRequest(identifiers: identifiers, route: "local", wantsPersistable: false, at: time ?? now()).bytes
    }

    private static func names(_ keys: [ExchangedKey]) -> [String] {
        keys.map { key in
            do throws(KeyFailure) { _ = try key.key.get() } catch { return error.name }
            return "key"
        }
    }

    /// A folder with an identity and a certificate that stands for itself.
    static func certifiedFolder() throws -> TemporaryFolder {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("identity", [UInt8](1...32))
        let run = try CommandRun.run(
            try #require(openssl),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                "tls.key", "-out", "tls.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ], in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        return folder
    }

    static let tls = ["--tls-certificate", "tls.pem", "--tls-key", "tls.key"]

    @Test(
        "a foreign client opens what is its own",
        .enabled(if: KeyPeer.python != nil && openssl != nil), arguments: [[], ["--identity", "identity"]],
        [false, true])
    func externalClient(_ options: [String], _ isSecure: Bool) throws {
        let server = try KeyServerProcess(options + (isSecure ? Self.tls : []), folder: Self.certifiedFolder())
        let script = KeyPeer.clients.appending(path: "key_client.py").path()
        let run = try CommandRun.run(
            try #require(KeyPeer.python),
            [
                script, server.url, server.token, server.publicKey, isSecure ? server.folder.path("tls.pem") : "",
                "mykey://film/a", "mykey://film/c%20d", "nothing", "b",
            ])
        let hexadecimal = KeyServerProcess.keys.mapValues { ServerProcess.hexadecimal($0) }
        let expected = [hexadecimal["a"] ?? "", hexadecimal["c d"] ?? "", "2", hexadecimal["b"] ?? ""]
        #expect(run.text.split(separator: "\n").map(String.init) == expected, "\(run.errorLines.suffix(3))")
    }

    @Test("our client opens them too, over TLS with the server's certificate only", .enabled(if: openssl != nil))
    func ownClient() async throws {
        let server = try KeyServerProcess(Self.tls, folder: Self.certifiedFolder())
        let path = server.folder.path("tls.pem")
        let exchange = try server.exchange { $0.policy = TLSPolicy(roots: .file(path)) }
        let keys = try await exchange.answer(Self.query(["x/a", "x/none", "x/b"]))
        #expect(Self.names(keys) == ["key", "missing", "key"])
        #expect(try keys[2].key.get().withUnsafeBytes { Array($0) } == KeyServerProcess.keys["b"])
        let stranger = try server.exchange()
        do throws(KeyFailure) {
            _ = try await stranger.answer(Self.query(["x/a"]))
            Issue.record("an unknown certificate was taken")
        } catch {
            #expect(error.name == "refused" && "\(error)".contains("selfSigned"), "\(error)")
        }
    }

    @Test("who may have what is what the file of clients says")
    func clients() async throws {
        let folder = try KeyServerProcess.makeFolder()
        let (one, two) = ("1111111111111111", "2222222222222222")
        try folder.file("clients", Array("# who\nall \(one)\nfilms \(two) mykey://film/ mykey://b\n".utf8))
        // What a client may have that may not have all lies where its whole identifier says.
        for (name, place) in [("a", "keys/mykey/film/a"), ("b", "keys/mykey/b"), ("b", "keys/mykey/other/a")] {
            try FileManager.default.createDirectory(
                atPath: folder.path((place as NSString).deletingLastPathComponent), withIntermediateDirectories: true)
            try folder.file(place, KeyServerProcess.keys[name] ?? [], isSecret: true)
        }
        let server = try KeyServerProcess(["--clients", "clients"], folder: folder)
        let uris = ["mykey://film/a", "mykey://other/a", "mykey://b", "mykey://film/b"]
        let all = try await server.exchange { $0.token = one }.answer(Self.query(uris))
        #expect(Self.names(all) == ["key", "key", "key", "key"])
        let some = try await server.exchange { $0.token = two }.answer(Self.query(uris))
        #expect(Self.names(some) == ["key", "refused", "key", "missing"])
        for token in [nil, "3333333333333333", one + two, String(one.dropLast())] as [String?] {
            await #expect(throws: KeyFailure.self) {
                try await server.exchange { $0.token = token }.answer(Self.query(uris))
            }
        }
        // No line is empty; eight are of identifiers.
        let lines = server.audit.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 13 && lines.count { $0.contains("\"unauthorized\"") } == 4)
        #expect(server.audit.contains("\"client\":\"films\"") && server.audit.contains("\"result\":\"refused\""))
    }

    @Test("keys that can be stored have their terms, where there are any")
    func persistable() async throws {
        let terms = ["--storage", "3600", "--playback", "60", "--validity", "30"]
        let server = try KeyServerProcess(terms)
        let keys = try await server.exchange().answer(Self.query(["a"], wantsPersistable: true))
        #expect(keys[0].terms == .persistable(storage: .seconds(3600), playback: .seconds(60)))
        let online = try await server.exchange().answer(Self.query(["a"]))
        #expect(online[0].terms == .online(validity: .seconds(30)))
        let other = try KeyServerProcess()
        let none = try await other.exchange().answer(Self.query(["a"], wantsPersistable: true))
        #expect(Self.names(none) == ["refused"])
    }

    @Test("too many keys are refused for a time that is said")
    func limits() async throws {
        let server = try KeyServerProcess(["--rate", "0.01", "--burst", "3"])
        let exchange = try server.exchange()
        #expect(Self.names(try await exchange.answer(Self.query(["a", "b"]))) == ["key", "key"])
        do throws(KeyFailure) {
            _ = try await exchange.answer(Self.query(["a", "b"]))
            Issue.record("more keys than are allowed")
        } catch {
            guard case .busy(let pause?) = error else { throw error }
            #expect(pause > .zero && pause <= .seconds(100), "\(pause)")
        }
        #expect(server.audit.split(separator: "\n").map { $0.contains("\"limited\"") } == [false, false, true, true])
    }

    @Test("a request counts once, and in its time only")
    func repeated() throws {
        let server = try KeyServerProcess()
        let request = Self.request()
        #expect(try server.post(request).status == 200)
        #expect(try server.post(request).status == 409)
        for time in [0, Self.now() - 400_000, Self.now() + 400_000, UInt64.max] {
            let answer = try server.post(Self.request(at: time))
            #expect(answer.status == 400 && answer.text.contains("time"), "\(time)")
        }
        // It may have been answered before this server was started.
        let early = try server.post(Self.request(at: Self.now() - 200_000))
        #expect(early.status == 503 && (190...210).contains(early["retry-after"].flatMap { Int($0) } ?? 0))
        let results = server.audit.split(separator: "\n").compactMap {
            JSONValue.parse(Array($0.utf8))?["result"]?.string
        }
        #expect(results == ["key", "replayed", "untimely", "untimely", "untimely", "untimely", "untimely"])
        let numbers = server.audit.split(separator: "\n").map {
            JSONValue.parse(Array($0.utf8))?["request"]?.string
        }
        #expect(numbers[0] != nil && numbers[0] == numbers[1])
    }

    @Test("a server that is started again answers no request again")
    func replayAfterRestart() throws {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("clients", "all 1111111111111111\n", isSecret: true)
        let request = Self.request()
        let first = try KeyServerProcess(["--clients", "clients"], folder: folder)
        #expect(try first.post(request, token: "1111111111111111").status == 503)
        let fresh = Self.request()
        #expect(try first.post(fresh, token: "1111111111111111").status == 200)
        #expect(first.server.end() == 0)
        let second = try KeyServerProcess(["--clients", "clients"], folder: folder)
        #expect(try second.post(fresh, token: "1111111111111111").status == 503)
        #expect(try second.post(Self.request(), token: "1111111111111111").status == 200)
    }

    @Test("requests that are none, and tokens that no client has, are limited as well")
    func cheapRequests() throws {
        let server = try KeyServerProcess(["--rate", "0.001", "--burst", "5"])
        let bearer = "Authorization: Bearer \(server.token)"
        var statuses: [Int] = []
        for number in 0..<12 {
            let wrong = ["Content-Length: 0", "Transfer-Encoding: chunked", "Content-Length: 999999999"][number % 3]
            statuses.append(try server.server.get("/v1/keys", [bearer, wrong], method: "POST").status)
        }
        #expect(statuses == [415, 411, 413, 415, 411] + Array(repeating: 429, count: 7))
        // One of the limited ones has a line, or two where a second passed.
        #expect(server.audit.split(separator: "\n").count { $0.contains("\"malformed\"") } == 5)
        let other = try KeyServerProcess(["--rate", "0.001", "--burst", "5"])
        for _ in 0..<5 { #expect(try other.post(Self.request(), token: "no-secret").status == 401) }
        #expect(try other.post(Self.request(), token: "no-secret").status == 429)
        // Nobody who has one is kept out by that.
        #expect(try other.post(Self.request()).status == 200)
        #expect(try other.post(Self.request(), token: "no-secret").status == 429)
    }

    @Test("a client that is refused is not waited for")
    func refusedSlowly() throws {
        let server = try KeyServerProcess()
        let connection = try server.server.connect()
        try connection.send(
            "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(KeyRequest.mediaType)\r\n"
                + "Content-Length: 100\r\nAuthorization: Bearer no-secret\r\n\r\nslow")
        let answer = try connection.response()
        #expect(answer.status == 401 && answer["connection"] == "close")
        #expect(connection.rest().isEmpty)
    }

    @Test("pages of other sites get no keys of a server without tokens")
    func browsers() throws {
        let server = try KeyServerProcess(["--no-token"])
        func status(_ host: String, _ fields: [String] = []) throws -> Int {
            let connection = try server.server.connect()
            let body = Self.request()
            let head = [
                "POST /v1/keys HTTP/1.1", "Host: \(host)", "Connection: close", "Content-Length: \(body.count)",
                "Content-Type: \(KeyRequest.mediaType)",
            ]
            try connection.send((head + fields).joined(separator: "\r\n") + "\r\n\r\n")
            try connection.send(body)
            return try connection.response().status
        }
        #expect(try status("localhost") == 200 && status("127.0.0.1:\(server.server.port)") == 200)
        #expect(try status("evil.example") == 403)
        #expect(try status("localhost", ["Origin: http://evil.example"]) == 403)
        #expect(try status("localhost", ["Sec-Fetch-Site: cross-site"]) == 403)
    }

    @Test("an identifier is no option of a key command")
    func optionInjection() async throws {
        let folder = try KeyServerProcess.makeFolder()
        let server = try ServerProcess(
            folder, [],
            options: [
                "key-server", "--port", "0", "--no-token", "--audit", "audit", "--key-command",
                "touch ran; printf 0123456789abcdef #",
            ])
        let exchange = try KeyServerExchange("http://127.0.0.1:\(server.port)/v1/keys")
        let refused = try await exchange.answer(Self.query(["-o/tmp/x", "--config=x", "-"]))
        #expect(Self.names(refused) == ["refused", "refused", "refused"])
        #expect(folder.bytes("ran") == nil)
        #expect(Self.names(try await exchange.answer(Self.query(["a-b", "mykey://-o"]))) == ["key", "key"])
        #expect(folder.bytes("ran") != nil)
    }

    @Test("what is no request is answered with 4xx, and the server goes on")
    func malformed() throws {
        let beforeStart = Self.now()
        let server = try KeyServerProcess(["--rate", "1000000", "--burst", "1000000"])
        let afterStart = Self.now()
        let good = Self.request(["a", "b"])
        for seed in 0..<300 as Range<UInt64> {
            let noise = Samples.bytes(4, seed: seed + 1)
            var bytes = seed % 3 == 0 ? Array(good.prefix(Int(noise[0]) % good.count)) : Self.request(["a", "b"])
            if seed % 3 == 1 { bytes[Int(noise[1]) % bytes.count] ^= noise[2] | 1 }
            if seed % 3 == 2 { bytes += Samples.bytes(Int(noise[3]) + 1, seed: seed) }
            // A bit of a number, a route or a name may change, and it is still a request. One with a time before the
            // server's first is told to come later; within five minutes, another time is near enough.
            var expected = [400]
            if seed % 3 == 1, let asked = try? KeyRequest(bytes).askedAt {
                let distance = asked > afterStart ? asked - afterStart : beforeStart > asked ? beforeStart - asked : 0
                switch distance {
                case 360_000...: break
                case 240_000...: expected = [200, 400, 503]
                default: expected = asked < beforeStart ? [503] : asked < afterStart ? [200, 503] : [200]
                }
            }
            let status = try server.post(bytes).status
            #expect(expected.contains(status), "seed \(seed): status \(status), not \(expected)")
        }
        #expect(try server.post(Self.request()).status == 200)
        let others: [(Int, String)] = [
            (405, "GET /v1/keys"), (405, "HEAD /v1/keys"), (404, "POST /"), (404, "POST /v1/keys/a"),
            (404, "GET /keys/a"), (411, "POST /v1/keys"),
        ]
        for (status, line) in others {
            let words = line.split(separator: " ").map(String.init)
            let found = try server.server.get(
                words[1], ["Authorization: Bearer \(server.token)"], method: words[0])
            #expect(found.status == status, "\(line): \(found.status)")
        }
        let before = server.audit.split(separator: "\n").count
        #expect(try server.post(Self.request(), token: "no-secret").status == 401)
        let refused = server.audit.split(separator: "\n").dropFirst(before).compactMap {
            JSONValue.parse(Array($0.utf8))
        }
        #expect(refused.count == 1 && refused.first?["result"]?.string == "unauthorized")
        #expect(refused.first?["identifier"] == .null && !server.audit.contains("no-secret"))
        let long = [UInt8](repeating: 0, count: KeyRequest.maxByteCount + 1)
        #expect(try server.post(long).status == 413)
        let bearer = "Authorization: Bearer \(server.token)"
        let typed = try server.server.get("/v1/keys", [bearer, "Content-Length: 0"], method: "POST")
        #expect(typed.status == 415)
        let chunked = try server.server.get("/v1/keys", [bearer, "Transfer-Encoding: chunked"], method: "POST")
        #expect(chunked.status == 411)
        #expect(server.server.process.isRunning)
    }

    @Test("no key, no token and no query is in anything that is written")
    func noSecrets() async throws {
        let server = try KeyServerProcess()
        let exchange = try server.exchange()
        let uris = ["mykey://user:hunter2@film/a?hunter2", "b", "none?hunter2", "../keys/a", "c%20d", "a%00b"]
        let keys = try await exchange.answer(Self.query(uris))
        #expect(Self.names(keys) == ["key", "key", "missing", "key", "key", "missing"])
        _ = try server.post([1, 2, 3])
        #expect(server.server.end() == 0)
        let written = [server.audit, server.server.errors].joined()
        #expect(written.contains("mykey://film/a?") && !written.contains("hunter2") && !written.contains(server.token))
        let bytes = Array(written.utf8)
        for (name, key) in KeyServerProcess.keys {
            let texts = [ServerProcess.hexadecimal(key), Data(key).base64EncodedString()]
            for text in texts { #expect(!written.lowercased().contains(text.lowercased()), "key \(name)") }
            #expect(Data(bytes).range(of: Data(key)) == nil, "key \(name)")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: server.folder.path("audit"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("no core dump has the server's memory")
    func coreDumps() throws {
        let server = try KeyServerProcess()
        let folder = "/proc/\(server.server.process.processIdentifier)/"
        let filter = try String(contentsOfFile: folder + "coredump_filter", encoding: .utf8)
        #expect(filter.trimmingCharacters(in: .newlines).allSatisfy { $0 == "0" }, "\(filter)")
        let limits = try String(contentsOfFile: folder + "limits", encoding: .utf8).split(separator: "\n")
        let line = limits.first { $0.hasPrefix("Max core file size") }
        #expect(line?.split(separator: " ").dropFirst(4).first == "1", "\(line ?? "")")
    }

    @Test("key files that others can read are worth a warning, or nothing with --strict", arguments: [false, true])
    func openFiles(_ isStrict: Bool) async throws {
        let folder = try KeyServerProcess.makeFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("keys/a"))
        let server = try KeyServerProcess(isStrict ? ["--strict"] : [], folder: folder)
        let keys = try await server.exchange().answer(Self.query(["a", "b"]))
        #expect(Self.names(keys) == [isStrict ? "refused" : "key", "key"])
        #expect(server.server.errors.contains("can be read by others"))
    }

    @Test("keys fetch prints the bytes of keys, in order, and nothing else")
    func fetchKey() throws {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("identity", [UInt8](1...32))
        let server = try KeyServerProcess(["--identity", "identity"], folder: folder)
        try folder.file("token", Array((server.token + "\n").utf8))
        func fetch(_ uris: [String], _ options: [String] = []) throws -> CommandRun {
            try CommandRun.run(
                Programs.chunkwise,
                ["keys", "fetch", "--seconds", "600", "--server", server.url, "--server-key", server.publicKey]
                    + options
                    + uris,
                in: folder.path)
        }
        let token = ["--token-file", "token"]
        let run = try fetch(["mykey://film/b", "a"], token)
        #expect(
            run.status == 0 && run.output == (KeyServerProcess.keys["b"] ?? []) + (KeyServerProcess.keys["a"] ?? []))
        let missing = try fetch(["a", "none"], token)
        #expect(missing.output.isEmpty, "a part of the keys")
        #expect(missing.status == 66 && missing.errorLines.last?.contains("no such key") == true)
        let refused = try fetch(["a"])
        #expect(refused.status == 66 && refused.output.isEmpty)
        #expect(refused.errorLines.last?.contains("401") == true, "\(refused.errorLines)")
    }

    @Test(
        "options that do not go together are refused",
        arguments: [
            ["--bind", "0.0.0.0"], ["--bind", "::"], ["--bind", "0"], ["--max-connections-per-address", "0"],
            ["--tls-key", "x"], ["--storage", "1"], ["--rate", "0"], ["--burst", "0"],
            ["--no-token", "--clients", "x"], ["--validity", "-1"], ["--delay", "-1"], ["--port", "70000"],
            ["--key-command", "true"],
        ])
    func badOptions(_ options: [String]) throws {
        let folder = try KeyServerProcess.makeFolder()
        let run = try CommandRun.run(
            Programs.chunkwise, ["key-server", "--keys", "keys"] + options, in: folder.path)
        #expect(run.status == 64 && run.errorLines.last?.contains("expected") == true, "\(run.errorLines)")
    }

    @Test(
        "files with the server's own secrets that others can read are refused with --strict",
        arguments: [["--identity", "identity"], ["--clients", "clients"]])
    func openSecrets(_ options: [String]) throws {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("identity", [UInt8](1...32))
        try folder.file("clients", "films 1111111111111111\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path(options[1]))
        let run = try CommandRun.run(
            Programs.chunkwise, ["key-server", "--keys", "keys", "--port", "0", "--strict"] + options,
            in: folder.path)
        #expect(run.status == 65, "\(run.errorLines)")
        #expect(run.errorLines.last?.contains("is open to others (permissions 644): expected 600") == true)
    }

    @Test(
        "files that are none are refused",
        arguments: [
            ["--identity", "short"], ["--clients", "short"], ["--tls-certificate", "short", "--tls-key", "short"],
        ])
    func badFiles(_ options: [String]) throws {
        let folder = try KeyServerProcess.makeFolder()
        try folder.file("short", Array("secret".utf8), isSecret: true)
        let run = try CommandRun.run(
            Programs.chunkwise, ["key-server", "--keys", "keys", "--port", "0"] + options,
            in: folder.path)
        #expect(run.status == 65 && run.errorLines.count == 1, "\(run.status) \(run.errorLines)")
        #expect(run.errorLines[0].contains("short") && run.errorLines[0].contains("expected"), "\(run.errorLines)")
        #expect(!run.errorLines[0].contains("secret"), "\(run.errorLines)")
        let missing = try CommandRun.run(
            Programs.chunkwise,
            ["key-server", "--keys", "keys", "--port", "0"] + options.map { $0 == "short" ? "none" : $0 },
            in: folder.path)
        #expect(missing.status == 66 && missing.errorLines.count == 1, "\(missing.status) \(missing.errorLines)")
    }
}

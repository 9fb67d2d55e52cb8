import ByteSources
import HTTPSources
import RandomAccess
import Support
import TestSupport
import Testing

@Suite(
    "the certificate matrix",
    .enabled(if: Peers.areThere, "nginx, openssl, or python3 with cryptography is not installed"), .serialized)
struct CertificateMatrixTests {
    private static func options(_ peer: MatrixPeer, _ allowances: Set<TLSAllowance>) -> HTTPSource.Options {
        var options = HTTPSource.Options()
        options.policy = TLSPolicy(roots: .file(peer.rootPath), allowances: allowances)
        options.idleTimeout = .seconds(2)
        options.deadline = .seconds(20)
        return options
    }

    /// Opens and reads all.
    private static func read(_ peer: MatrixPeer, _ allowances: Set<TLSAllowance>) throws {
        let source = try HTTPSource(peer.url, options: options(peer, allowances))
        #expect(source.warnings == TLSPolicy(allowances: allowances).warnings)
        let bytes = try source.bytes(0..<MatrixPeer.object.count)
        #expect(Samples.difference(bytes, MatrixPeer.object) == nil)
    }

    @Test(
        "a source finds what is wrong, and one switch lets pass what it names and nothing else",
        arguments: MatrixCase.allCases)
    func source(_ matrixCase: MatrixCase) throws {
        let peer = try MatrixPeer(matrixCase)
        #expect(failureName { try Self.read(peer, []) } == matrixCase.failure)
        for allowance in TLSAllowance.allCases {
            let passes = matrixCase.failure == nil || matrixCase.allowance == allowance
            let found = failureName { try Self.read(peer, [allowance]) }
            #expect(found == (passes ? nil : matrixCase.failure), "\(allowance)")
        }
    }

    @Test("tls-check finds the same, and names the switch", arguments: MatrixCase.allCases)
    func command(_ matrixCase: MatrixCase) throws {
        let peer = try MatrixPeer(matrixCase)
        let arguments = [
            "tls-check", "localhost:\(peer.port)", "--ca-file", peer.rootPath, "--seconds", "2", "--format", "json",
        ]
        let run = try CommandRun.run(Programs.chunkwise, arguments)
        #expect(run.status == (matrixCase.handshakeFailure == nil ? 0 : 1), "\(run.errorLines)")
        let found = try #require(JSONValue.parse(run.output), "\(run.text.prefix(300))")
        #expect(found["failure"]?.string == matrixCase.handshakeFailure)
        let options = found["singleOptions"]?.array?.compactMap(\.string)
        #expect(options == (matrixCase.allowance.map { [$0.option] } ?? []))
        if matrixCase == .plainHTTP { #expect(found["reason"]?.string?.contains("plain HTTP") == true) }
        if matrixCase == .oldVersion { #expect(found["reason"]?.string?.contains("TLS 1.0") == true) }
        for allowance in TLSAllowance.allCases {
            let passes = matrixCase.handshakeFailure == nil || matrixCase.allowance == allowance
            let again = try CommandRun.run(
                Programs.chunkwise, Array(arguments.dropLast(2)) + [allowance.option])
            #expect(again.status == (passes ? 0 : 1), "\(allowance)")
            #expect(again.errorLines.contains { $0.contains("warning") && $0.contains(allowance.option) })
        }
    }

    @Test("a server that waits for the end of a line is told from a silent one")
    func plainLines() throws {
        let port = PeerProcess.freePort()
        let arguments = ["-m", "http.server", "\(port)", "--bind", "127.0.0.1"]
        let peer = try PeerProcess(Peers.python ?? "", arguments, port: port)
        var options = HTTPSource.Options()
        options.policy.allowances = [.anyRoot]
        options.idleTimeout = .seconds(1)
        #expect(failureName { _ = try HTTPSource("https://localhost:\(peer.port)/", options: options) } == "notTLS")
    }

    @Test("two faults are both named, and no single switch is enough")
    func twoFaults() throws {
        let peer = try MatrixPeer(nginx: "expiredElsewhere", path: "object", hasTLS: true)
        for allowance in TLSAllowance.allCases {
            #expect(failureName { try Self.read(peer, [allowance]) } != nil, "\(allowance)")
        }
        #expect(failureName { try Self.read(peer, [.expired, .anyName]) } == nil)
        do {
            try Self.read(peer, [])
        } catch {
            #expect("\(error)".contains("expired:") && "\(error)".contains("wrongName:"), "\(error)")
        }
    }

    @Test("nothing allows a signature of someone who may not sign, but any root does", arguments: ["brokenChain"])
    func brokenChain(_ certificate: String) throws {
        let peer = try MatrixPeer(nginx: certificate, path: "object", hasTLS: true)
        #expect(failureName { try Self.read(peer, []) } == "brokenChain")
        #expect(failureName { try Self.read(peer, [.expired, .anyName]) } == "brokenChain")
        #expect(failureName { try Self.read(peer, [.anyRoot]) } == nil)
    }

    @Test(
        "authorities that sign for others than servers, or may sign nothing, are refused by name",
        arguments: [("mailAuthority", "Mail authority"), ("noSigner", "No signer")])
    func authorityUsage(certificate: String, subject: String) throws {
        let peer = try MatrixPeer(nginx: certificate, path: "object", hasTLS: true)
        #expect(failureName { try Self.read(peer, []) } == "wrongUsage")
        #expect(failureName { try Self.read(peer, [.expired, .anyName]) } == "wrongUsage")
        let error = #expect(throws: DecryptionError.self) { try Self.read(peer, []) }
        #expect(error.map { "\($0)".contains("\"CN=\(subject)\"") } == true)
    }

    @Test(
        "what others can imitate or find is refused by name, in the server's certificate and above it",
        arguments: [
            ("weakSignature", "weakSignature", "SHA-1", false), ("weakKey", "weakKey", "1024 bits", false),
            ("weakSignatureOfRSA", "weakSignature", "SHA-1 and RSA", true),
            ("weakSignatureAbove", "weakSignature", "Old intermediate", true),
            ("weakKeyAbove", "weakKey", "Short intermediate", true),
        ])
    func weak(certificate: String, failure: String, subject: String, isAllowedByAnyRoot: Bool) throws {
        let peer = try MatrixPeer(openssl: certificate, ["-cipher", "DEFAULT:@SECLEVEL=0"])
        let root = certificate.contains("OfRSA") || certificate == "weakSignatureAbove" ? "oldRoot.pem" : "root.pem"
        func check(_ options: [String], status: Int32 = 1) throws -> JSONValue {
            let run = try CommandRun.run(
                Programs.chunkwise,
                ["tls-check", "localhost:\(peer.port)", "--ca-file", peer.folder.path(root), "--format", "json"]
                    + options)
            #expect(run.status == status, "\(run.errorLines)")
            return try #require(JSONValue.parse(run.output), "\(run.text.prefix(300))")
        }
        let found = try check([])
        #expect(found["failure"]?.string == failure)
        #expect(found["reason"]?.string?.contains("\"CN=\(subject)\"") == true, "\(found["reason"]?.string ?? "")")
        #expect(try check(["--allow-expired", "--allow-any-name"])["failure"]?.string == failure)
        let text = try CommandRun.run(
            Programs.chunkwise,
            ["tls-check", "localhost:\(peer.port)", "--ca-file", peer.folder.path(root)])
        #expect(text.status == 1)
        #expect(text.text.contains("not secure: \(failure)") && text.text.contains(subject), "\(text.text)")
        // No signature counts then, and a certificate that cannot be read stays one.
        let any = try check(["--allow-any-root"], status: isAllowedByAnyRoot ? 0 : 1)
        #expect(any["failure"]?.string == (isAllowedByAnyRoot ? nil : failure))
    }

    @Test("nothing at all allows a certificate that is not for servers")
    func wrongUsage() throws {
        let peer = try MatrixPeer(nginx: "wrongUsage", path: "object", hasTLS: true)
        #expect(failureName { try Self.read(peer, []) } == "wrongUsage")
        #expect(failureName { try Self.read(peer, Set(TLSAllowance.allCases)) } == "wrongUsage")
    }

    @Test("a self-signed certificate that is trusted itself needs no switch")
    func ownCertificate() throws {
        let peer = try MatrixPeer(.selfSigned)
        var options = Self.options(peer, [])
        options.policy.roots = .file(peer.folder.path("selfSigned.pem"))
        let source = try HTTPSource(peer.url, options: options)
        #expect(source.warnings.isEmpty)
        #expect(source.byteCount == UInt64(MatrixPeer.object.count))
    }

    @Test("a pin must be in the chain; with any root it must be the server's own")
    func pins() throws {
        let peer = try MatrixPeer(.valid)
        func opens(_ certificate: String, _ allowances: Set<TLSAllowance>) throws -> String? {
            var options = Self.options(peer, allowances)
            options.policy.pins = [try #require(PublicKeyPin(peer.pin(certificate)))]
            return failureName { _ = try HTTPSource(peer.url, options: options) }
        }
        for certificate in ["valid", "intermediate", "root"] { #expect(try opens(certificate, []) == nil) }
        #expect(try opens("expired", []) == "wrongKey")
        #expect(try opens("valid", [.anyRoot]) == nil)
        #expect(try opens("intermediate", [.anyRoot]) != nil)
    }

    @Test("a file of certificates that is none is an error of its own")
    func badRoots() throws {
        let peer = try MatrixPeer(rude: "close")
        for (path, part) in [("/nonexistent/roots.pem", "can be read"), (peer.folder.path("valid.key"), "PEM")] {
            var options = Self.options(peer, [])
            options.policy.roots = .file(path)
            do {
                _ = try HTTPSource(peer.url, options: options)
                Issue.record("\(path) is taken")
            } catch {
                #expect("\(error)".contains(path) && "\(error)".contains(part), "\(error)")
            }
        }
    }
}

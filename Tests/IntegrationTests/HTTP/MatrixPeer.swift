import ByteSources
import Foundation
import HTTPSources
import TestSupport
import Testing

/// The cases of the certificate matrix.
enum MatrixCase: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case valid, selfSigned, unknownRoot, expired, notYetValid, wrongName, incompleteChain
    case oldVersion, plainHTTP, silent, closedInHandshake, closedInBody

    var testDescription: String { rawValue }

    /// The name of the failure that must be found; `nil` for none.
    var failure: String? {
        switch self {
        case .valid: nil
        case .plainHTTP: "notTLS"
        case .silent: "noAnswer"
        default: rawValue
        }
    }

    /// The failure of the handshake alone.
    var handshakeFailure: String? { self == .closedInBody ? nil : failure }

    /// The allowance that is needed, and is enough.
    var allowance: TLSAllowance? {
        switch self {
        case .selfSigned, .unknownRoot, .incompleteChain: .anyRoot
        case .expired: .expired
        case .wrongName: .anyName
        default: nil
        }
    }
}

/// Certificates, and a server for one case of the matrix.
final class MatrixPeer {
    /// The server's object.
    static let object = Samples.bytes(300_000)

    /// The server's port; its name is `localhost`.
    let port: UInt16
    /// The folder of the certificates.
    let folder: TemporaryFolder

    private var processes: [PeerProcess] = []

    /// The authority that is to be trusted.
    var rootPath: String { folder.path("root.pem") }

    /// The object's URL.
    let url: String

    /// Starts the server of a case.
    convenience init(_ matrixCase: MatrixCase) throws {
        switch matrixCase {
        case .oldVersion: try self.init(openssl: "valid", ["-tls1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        case .silent: try self.init(rude: "silent")
        case .closedInHandshake: try self.init(rude: "close")
        case .closedInBody: try self.init(nginx: "valid", path: "short", hasTLS: true)
        case .plainHTTP: try self.init(nginx: "valid", path: "object", hasTLS: false)
        default: try self.init(nginx: matrixCase.rawValue, path: "object", hasTLS: true)
        }
    }

    /// nginx, which serves a file, and passes the path `/short` on to a server that closes within a body.
    init(nginx certificate: String, path: String, hasTLS: Bool) throws {
        folder = try Self.certificates()
        port = PeerProcess.freePort()
        url = "https://localhost:\(port)/\(path)"
        let behind = try PeerProcess(script: "answers.py")
        processes.append(behind)
        try FileManager.default.createDirectory(atPath: folder.path("served"), withIntermediateDirectories: true)
        try folder.file("served/object", Self.object)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path($0));" }.joined(separator: " ")
        let certificates =
            hasTLS
            ? "ssl_certificate \(folder.path(certificate)).pem; ssl_certificate_key \(folder.path(certificate)).key;"
            : ""
        let configuration = """
            daemon off; master_process off; pid \(folder.path("nginx.pid")); error_log stderr crit;
            events { worker_connections 64; }
            http {
                access_log off; \(temporary)
                server {
                    listen 127.0.0.1:\(port)\(hasTLS ? " ssl" : ""); \(certificates)
                    root \(folder.path("served"));
                    location /short { proxy_pass http://127.0.0.1:\(behind.port); proxy_buffering off; }
                }
            }
            """
        let path = try folder.file("nginx.conf", configuration)
        processes.append(try PeerProcess(Peers.nginx ?? "", ["-p", folder.path, "-c", path], port: port))
    }

    /// `openssl s_server`.
    init(openssl certificate: String, _ arguments: [String]) throws {
        folder = try Self.certificates()
        port = PeerProcess.freePort()
        url = "https://localhost:\(port)/object"
        let pem = folder.path(certificate) + ".pem"
        processes = [
            try PeerProcess(
                Peers.openssl ?? "",
                [
                    "s_server", "-accept", "127.0.0.1:\(port)", "-cert", pem, "-cert_chain", pem, "-key",
                    folder.path(certificate) + ".key", "-www",
                ] + arguments, port: port)
        ]
    }

    /// A server that does not answer as it should.
    init(rude kind: String) throws {
        folder = try Self.certificates()
        let process = try PeerProcess(script: "rude.py", [kind])
        processes = [process]
        port = process.port
        url = "https://localhost:\(port)/object"
    }

    /// A public key's SHA-256, as Python computed it.
    func pin(_ certificate: String) -> String {
        String(decoding: folder.bytes(certificate + ".pin") ?? [], as: UTF8.self)
    }

    private static func certificates() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try CommandRun.run(
            Peers.python ?? "", ["-W", "ignore", PeerProcess.path("certificates.py"), folder.path])
        guard run.status == 0 else { throw PeerFailure(run.errorLines.joined(separator: "\n")) }
        return folder
    }
}

import ArgumentParser
import ByteSources
import CommandOptions
import HTTPSources

/// `chunkwise-tls-check`, which `chunkwise tls-check` starts.
struct TLSCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chunkwise tls-check",
        abstract: "Says whether a secure connection can be made to a server, and if not, why.",
        discussion: helpText(
            """
            Makes a handshake and sends nothing over it. Shows the certificates that the server sends, what each check
            finds on its own, and which single option would let the connection be made. Of a server that does not speak
            TLS it shows what it speaks instead.

            Instead of --allow-any-root, give the server's certificate or that of its authority by --ca-file: the
            connection is as safe as with a certificate of a known authority.

            EXAMPLES
              chunkwise tls-check example.org:443
              chunkwise tls-check 192.0.2.1:8443 --ca-file own-root.pem
              chunkwise tls-check '[2001:db8::1]:443' --format json

            EXIT CODES
              0 secure; 1 not secure; 64 usage; 65 bad certificate file; 66 missing file; 74 no connection
            """))

    /// How the result is printed.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text
        case json
    }

    @Argument(help: ArgumentHelp("The server: a name or an address, and a port.", valueName: "host:port"))
    var server: String

    @OptionGroup var tls: TLSOptions

    @Option(help: ArgumentHelp("Seconds that connecting, and the handshake, may take.", valueName: "s"))
    var seconds = 10.0

    @Option(help: ArgumentHelp("How to print the result: text or json.", valueName: "format"))
    var format: Format = .text

    func run() async throws {
        let (host, port) = try hostAndPort()
        guard seconds >= 0.1, seconds <= 3600 else {
            throw CommandFailure(.usage, "--seconds \(seconds): expected 0.1 to 3600")
        }
        let check = TLSCheck(
            host: host, port: port, policy: try attempt { try TLSPolicy(tls.switches) }, idleTimeout: .seconds(seconds))
        let finding: TLSCheck.Finding
        do throws(TLSCheck.Obstacle) {
            finding = try await check.run()
        } catch {
            throw CommandFailure(Self.code(error), "\(server): \(error)")
        }
        let output = TLSCheckOutput(server: server, finding: finding)
        print(format == .json ? output.json.text : output.text)
        for warning in finding.warnings { Terminal.writeError("chunkwise tls-check: warning: \(warning)") }
        if let failure = finding.failure { throw CommandFailure(.no, "\(server): \(failure)") }
    }

    private func hostAndPort() throws -> (String, UInt16) {
        guard let colon = server.lastIndex(of: ":"), let port = UInt16(server[colon...].dropFirst()), port > 0,
            !server[colon...].contains("+")
        else {
            throw CommandFailure(
                .usage, "server \(URLText.shown(server)): expected HOST:PORT, with a port from 1 to 65535")
        }
        var host = server[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        let isName = host.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"/@[]?#".utf8.contains($0) }
        guard !host.isEmpty, host.utf8.count <= 253, isName, isBracketed == host.contains(":") else {
            throw CommandFailure(
                .usage, "server \(URLText.shown(server)): expected a name, an address, or an IPv6 address in []")
        }
        return (String(host), port)
    }

    private static func code(_ obstacle: TLSCheck.Obstacle) -> CommandFailure.Code {
        switch obstacle {
        case .unreachable, .policy(.library): .io
        case .policy(.unreadableRoots), .policy(.noSystemRoots): .missingInput
        case .policy(.invalidRoots): .badData
        }
    }
}

#if Network
import ArgumentParser
import ByteSources
import HTTPSources
import Results
import Support

/// `chunkwise tls-check`
struct TLSCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls-check",
        abstract: "Checks that a secure connection to a server is possible, or explains why it is not.",
        discussion: helpText(
            """
            tls-check makes a handshake and sends no data. It shows the certificates of the server, the result of each
            separate check, and any single option that would allow the connection. For a server without TLS, it shows
            the protocol that the server speaks instead.

            Instead of --allow-any-root, give the certificate of the server or of its authority with --ca-file. The
            connection is then as secure as with a certificate of a known authority.

            EXAMPLES
              chunkwise tls-check example.org:443
              chunkwise tls-check 192.0.2.1:8443 --ca-file own-root.pem
              chunkwise tls-check '[2001:db8::1]:443' --format json

            EXIT CODES
              0 secure; 1 not secure; 64 usage; 65 bad certificate file; 66 missing file; 74 no connection
            """))

    @Argument(help: .taking("host:port", "The server: a name or an address, and a port."))
    var server: String

    @OptionGroup var tls: TLSOptions

    @Option(
        help: .taking(
            "time",
            "The timeout for connecting, and for the handshake: seconds, or a time such as 500ms. (default: 10s)"
        ), transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    @OptionGroup var printing: FormatOptions

    func run() async throws {
        let (host, port) = try hostAndPort()
        let check = TLSCheck(
            host: host, port: port, policy: try attempt { try TLSPolicy(tls.switches) }, idleTimeout: seconds)
        let finding: TLSCheck.Finding
        do throws(TLSCheck.CheckError) {
            finding = try await check.run()
        } catch {
            throw CommandFailure(Self.code(error), "\(server): \(error)")
        }
        let output = TLSCheckOutput(server: server, finding: finding)
        printing.show(output.text, json: output.json)
        for warning in finding.warnings { Terminal.warn("\(warning)") }
        if let failure = finding.failure { throw CommandFailure(.no, "\(server): \(failure)") }
    }

    private func hostAndPort() throws -> (String, UInt16) {
        guard let colon = server.lastIndex(of: ":"), let port = UInt16(server[colon...].dropFirst()), port > 0,
            !server[colon...].contains("+")
        else {
            throw CommandFailure(
                .usage, "server \(URLText.redacted(server)): expected HOST:PORT, with a port from 1 to 65535")
        }
        var host = server[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        let isName = host.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"/@[]?#".utf8.contains($0) }
        try require(
            !host.isEmpty && host.utf8.count <= 253 && isName && isBracketed == host.contains(":"),
            "server \(URLText.redacted(server)): expected a name, an address, or an IPv6 address in []")
        return (String(host), port)
    }

    private static func code(_ error: TLSCheck.CheckError) -> CommandFailure.Code {
        switch error {
        case .unreachable, .policy(.library): .io
        case .policy(.unreadableRoots), .policy(.noSystemRoots): .missingInput
        case .policy(.invalidRoots): .badData
        }
    }
}

/// The output of a finding. Text from a certificate is escaped, because a stranger wrote it.
struct TLSCheckOutput {
    let server: String
    let finding: TLSCheck.Finding

    /// The finding for people.
    var text: String {
        var lines = [
            finding.failure.map { "\(server): not secure: \($0.name)" } ?? "\(server): secure, \(finding.version ?? "")"
        ]
        guard let report = finding.report else { return lines.joined(separator: "\n") }
        if report.chain.isEmpty {
            // The library cannot read the certificate, so that the rest of the chain is useless.
            lines += ["", "\(finding.failure.map { "\($0)" } ?? "")", "nothing else of the certificates was checked"]
        } else {
            lines += ["", "certificates, the server's own first:"]
            for (index, certificate) in report.chain.enumerated() { lines += Self.lines(index + 1, certificate) }
            lines += ["", "checks, each on its own:"]
            let rows = report.checks.map { ["  \($0.name.rawValue)"] + Self.cells($0.verdict) }
            lines += TextTable(rows).text.split(separator: "\n").map(String.init)
        }
        if finding.failure != nil { lines += ["", advice(report)] }
        return lines.map(PlainText.line).joined(separator: "\n")
    }

    /// The finding for programs.
    var json: JSONValue {
        let report = finding.report
        return JSONValue(members: [
            "server": server, "secure": finding.failure == nil, "failure": finding.failure?.name,
            "reason": finding.failure.map { "\($0)" }, "version": finding.version, "warnings": finding.warnings,
            "certificates": report?.chain ?? [], "checks": (report?.checks ?? []).map(Self.json),
            "singleOptions": (report?.helpful ?? []).map(\.option),
        ])
    }

    private func advice(_ report: CertificateReport) -> String {
        guard let first = report.helpful.first else {
            if report.faults.contains(where: { $0.name == "wrongKey" }) {
                return "no option gives a pin up: expected another --pin, or none"
            }
            return report.faults.count > 1
                ? "no single option would let it pass: \(report.faults.count) checks fail"
                : "no option would let it pass: the server must be changed"
        }
        return "\(first.option) alone would let it pass; the other checks stay"
    }

    private static func lines(_ number: Int, _ certificate: CertificateSummary) -> [String] {
        let names = certificate.names.isEmpty ? [] : ["     for \(certificate.names.joined(separator: ", "))"]
        return ["  \(number)  \(certificate.subject)", "     signed by \(certificate.issuer)"] + names + [
            "     valid from \(certificate.notBefore) until \(certificate.notAfter)",
            "     key \(certificate.key), \(certificate.pin)",
        ]
    }

    private static func cells(_ verdict: CertificateCheck.Verdict) -> [String] {
        switch verdict {
        case .passed: ["passed"]
        case .failed(let fault): ["failed", "\(fault)"]
        case .allowed(let fault, let allowance): ["allowed", "\(fault) (\(allowance.option))"]
        case .notAsked: ["not asked"]
        }
    }

    private static func json(_ check: CertificateCheck) -> JSONValue {
        let (verdict, fault, option): (String, CertificateFault?, String?) =
            switch check.verdict {
            case .passed: ("passed", nil, nil)
            case .failed(let fault): ("failed", fault, nil)
            case .allowed(let fault, let allowance): ("allowed", fault, allowance.option)
            case .notAsked: ("notAsked", nil, nil)
            }
        return JSONValue(members: [
            "name": check.name.rawValue, "verdict": verdict, "fault": fault?.name, "reason": fault.map { "\($0)" },
            "option": option,
        ])
    }
}
#endif

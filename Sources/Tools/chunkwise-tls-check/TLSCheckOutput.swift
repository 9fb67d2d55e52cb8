import HTTPSources
import Results
import Support

/// How a finding is shown. What a stranger wrote into a certificate reaches no terminal as it is.
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
            // The library reads no such certificate; what is signed above it is of no use then.
            lines += ["", "\(finding.failure.map { "\($0)" } ?? "")", "nothing else of the certificates was checked"]
        } else {
            lines += ["", "certificates, the server's own first:"]
            for (place, certificate) in report.chain.enumerated() { lines += Self.lines(place + 1, certificate) }
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
        return .object([
            "server": .string(server), "secure": .bool(finding.failure == nil),
            "failure": JSONValue(finding.failure?.name), "reason": JSONValue(finding.failure.map { "\($0)" }),
            "version": JSONValue(finding.version), "warnings": JSONValue(strings: finding.warnings),
            "certificates": .array((report?.chain ?? []).map(Self.json)),
            "checks": .array((report?.checks ?? []).map(Self.json)),
            "singleOptions": JSONValue(strings: (report?.helpful ?? []).map(\.option)),
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

    private static func json(_ certificate: CertificateSummary) -> JSONValue {
        .object([
            "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
            "names": JSONValue(strings: certificate.names), "notBefore": .string(certificate.notBefore),
            "notAfter": .string(certificate.notAfter), "key": .string(certificate.key),
            "pin": .string(certificate.pin),
        ])
    }

    private static func json(_ check: CertificateCheck) -> JSONValue {
        let (verdict, fault, option): (String, CertificateFault?, String?) =
            switch check.verdict {
            case .passed: ("passed", nil, nil)
            case .failed(let fault): ("failed", fault, nil)
            case .allowed(let fault, let allowance): ("allowed", fault, allowance.option)
            case .notAsked: ("notAsked", nil, nil)
            }
        return .object([
            "name": .string(check.name.rawValue), "verdict": .string(verdict), "fault": JSONValue(fault?.name),
            "reason": JSONValue(fault.map { "\($0)" }), "option": JSONValue(option),
        ])
    }
}

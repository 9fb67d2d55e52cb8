import Results
import Testing
import Vectors

@testable import Conformance

@Suite("example subjects")
struct AdapterTests {
    private func expectPass(_ command: String) throws {
        let groups =
            VectorSet.exhaustive(blockCounts: 2...2) + VectorSet.impossibleLengths()
            + VectorSet.counterCarries() + VectorSet.sequenceCarries() + VectorSet.largeOffsets()
        let tier = VectorTier(of: groups, largestCount: 250)
        let outcome = try ExternalVerification(command: command, timeout: .seconds(300)).run(groups, tier: tier)
        let first = outcome.record.failures.first
        #expect(outcome.record.failed == 0, "\(first?.id ?? ""): \(first?.reason ?? "")")
        #expect(outcome.record.passed > 500)
    }

    private func path(_ name: String) -> String { "'\(SubjectPrograms.package)/Examples/subjects/\(name)'" }

    @Test("Python's cryptography", .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"))
    func python() throws { try expectPass("python3 \(path("python_cryptography.py"))") }

    @Test("Node's crypto", .enabled(if: SubjectPrograms.hasNode, "no node"))
    func node() throws { try expectPass("node \(path("node_crypto.mjs"))") }

    @Test("Java's JCE", .enabled(if: SubjectPrograms.hasJava, "no java"))
    func java() throws { try expectPass("java \(path("JavaJce.java"))") }

    @Test(
        "the openssl command",
        .enabled(if: SubjectPrograms.hasOpenSSL && SubjectPrograms.hasPython, "no openssl or no python3"))
    func openssl() throws { try expectPass("python3 \(path("openssl_command.py"))") }

    @Test(
        "the articles' code fails in its bugs, and says which",
        .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"),
        arguments: [
            (
                "article000.py",
                [
                    "they end where chunk", "the IV used for block 0 of chunk 1 was the object's IV",
                    "expected the error rangeOutOfBounds",
                ]
            ),
            ("article004.py", ["the plaintext has 32 bytes", "the surplus is zeros"]),
        ])
    func articles(name: String, reasons: [String]) throws {
        let groups = VectorSet.exhaustive(blockCounts: 2...6) + VectorSet.badPaddings()
        let record = try ExternalVerification(
            command: "python3 \(path(name))", timeout: .seconds(100), listedFailureCount: 500
        ).run(groups, tier: VectorTier(of: groups, largestCount: 1500)).record
        #expect(record.passed > 100)
        for reason in reasons {
            #expect(record.failures.contains { $0.reason.contains(reason) }, "no failure says \"\(reason)\"")
        }
    }
}

import Support
import SystemPackage
import TestSupport
import Testing

@Suite("verify tamper")
struct TamperCommandTests {
    private func row(_ arguments: [String], status: Int32) throws -> JSONValue {
        let run = try Chunkwise.run(["verify", "tamper", "--format", "json"] + arguments)
        #expect(run.status == status, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        return try #require(json["subjects"]?.array?.first?["rows"]?.array?.first)
    }

    private func count(_ row: JSONValue, _ kind: String, _ member: String) -> UInt64? {
        row["kinds"]?.array?.first { $0["kind"]?.string == kind }?[member]?.integer
    }

    private func mutant(_ name: String) -> [String] {
        [
            "--only", "tink-aes-gcm-hkdf", "--subject",
            "'\(Programs.chunkwise)' subject --backend openssl --mutant \(name)",
        ]
    }

    @Test("a reader without a fault passes, over the protocol too")
    func right() throws {
        let own = ["--only", "tink-aes-gcm-hkdf", "--backend", "openssl"]
        let foreign = [
            "--only", "tink-aes-gcm-hkdf", "--subject",
            "'\(Programs.chunkwise)' subject --backend openssl",
        ]
        let rows = try [row(own, status: 0), row(foreign, status: 0)]
        #expect(rows[0]["kinds"] == rows[1]["kinds"])
        #expect(count(rows[0], "flip", "detected") == count(rows[0], "flip", "cases"))
    }

    @Test("tags that are ignored let changes pass")
    func tags() throws {
        let row = try row(mutant("chunk-tag-ignored"), status: 1)
        #expect(count(row, "flip", "detected") ?? 0 < count(row, "flip", "cases") ?? 0)
        #expect(count(row, "flip", "wrongByteCount") ?? 0 > 0 && count(row, "flip", "failed") ?? 0 > 0)
    }

    @Test("a last chunk that is not checked lets cuts pass")
    func end() throws {
        let row = try row(mutant("chunk-end-ignored"), status: 1)
        #expect(count(row, "truncate", "failed") ?? 0 > 0)
    }

    @Test("a chunk that is delivered before it is checked shows its wrong bytes, though all is noticed")
    func early() throws {
        let row = try row(mutant("chunk-checked-at-its-end"), status: 1)
        #expect(count(row, "flip", "detected") == count(row, "flip", "cases"))
        #expect(count(row, "flip", "wrongByteCount") ?? 0 > 0 && count(row, "swap", "wrongByteCount") ?? 0 > 1000)
    }

    @Test("a cut at a chunk's edge that passes shows what is missing")
    func edge() throws {
        let row = try row(mutant("chunk-edge-ends"), status: 1)
        #expect(count(row, "truncate", "missingByteCount") ?? 0 > 4000)
        #expect(count(row, "truncate", "wrongByteCount") == 0 && count(row, "flip", "failed") == 0)
    }

    @Test("what is no strategy or no subject is said so")
    func usage() throws {
        Chunkwise.expectFailure(try Chunkwise.run(["verify", "tamper", "--only", "cbc"]), 64, "--only cbc")
        Chunkwise.expectFailure(
            try Chunkwise.run(["verify", "tamper", "--only", "ctr", "--subject", "exit 127"]), 66, "did not start")
        // A subject that supports nothing of what is asked has shown nothing.
        let article = "python3 '\(Project.path("Examples/subjects/huge_files_on_ios.py"))'"
        let run = try Chunkwise.run(["verify", "tamper", "--only", "ctr", "--subject", article])
        #expect(run.status == 2)
    }

    private var subject: String { "'\(Programs.chunkwise)' subject" }
}

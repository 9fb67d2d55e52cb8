import Report
import Results
import Testing

@Suite struct VerdictTests {
    @Test("the verdict of the small fixture")
    func small() {
        #expect(
            Verdict(Fixture.small).lines == [
                "Correct: 2 subjects passed 2,404 of 2,404 vector reads (4 unsupported).",
                "Fastest sequential cbc-continuous: libgcrypt, 1 MiB windows, 1,010 MiB/s; 64 KiB is the smallest window that ties.",
                "Article 000's 16 MB chunks (libgcrypt, random:4KiB): 3,906× fetched, median read 4.10 ms; "
                    + "by block 1.01×, 9.00 µs.",
                "Article 004's fresh 100 MiB windows (libgcrypt): 454 MiB/s, +101 MiB memory; 64 KiB windows: "
                    + "1,000 MiB/s, < 256 KiB.",
                "Best against libgcrypt's: openssl 0.495×; 2 cells of 9 without figures; 1–2 rounds, "
                    + "typical interval ±0.5 %.",
            ])
    }

    @Test("at most five lines of about 110 characters, without line breaks")
    func shape() {
        for results in [Fixture.small, RealisticFixture.results] {
            let lines = Verdict(results).lines
            #expect(lines.count == 5)
            for line in lines { #expect(line.count <= 125 && !line.contains("\n"), "\(line.count): \(line)") }
        }
    }

    @Test("running no vectors is not a pass", arguments: [[], [("openssl", 0, 0)]])
    func zeroVectors(records: [(String, Int, Int)]) {
        var results = Fixture.small
        results.conformance = records.map(record)
        #expect(Verdict(results).lines[0].hasPrefix("Not verified"))
    }

    @Test("a backend without vectors, or with an empty set, is named")
    func untested() {
        var results = Fixture.small
        results.conformance = [record("openssl", 10, 0)]
        #expect(
            Verdict(results).lines[0]
                == "Correct as far as tested: 1 subject passed 10 of 10 vector reads (no vectors for libgcrypt).")
        results.conformance.append(record("libgcrypt", 0, 0))
        #expect(Verdict(results).lines[0].contains("no vectors for libgcrypt"))
    }

    @Test("a backend that fails a vector is called wrong and is never the fastest")
    func wrong() {
        var results = Fixture.small
        results.conformance[1].failed = 3
        let lines = Verdict(results).lines
        #expect(lines[0].hasPrefix("Wrong: libgcrypt failed 3 of 1207 reads."))
        #expect(lines[1].hasPrefix("Fastest sequential cbc-continuous: openssl"))
        #expect(!lines.contains { $0.contains("libgcrypt,") })
    }

    @Test("two backends whose intervals overlap tie")
    func ties() {
        var results = Fixture.small
        results.cells = [
            Fixture.sequential("openssl", window: 4096, milliseconds: 1.001, growth: 0),
            Fixture.sequential("libgcrypt", window: 4096, milliseconds: 1, growth: 0),
        ]
        let lines = Verdict(results).lines
        #expect(lines[1].hasSuffix("; openssl ties."), "\(lines[1])")
        #expect(lines[2].hasPrefix("Best against libgcrypt's: openssl ties;"), "\(lines[2])")
    }

    @Test("a claim about one strategy does not speak for another, which has a table of its own")
    func otherStrategies() throws {
        var results = Fixture.small
        var faster = Fixture.sequential("openssl", window: 4096, milliseconds: 0.1, growth: 0)
        faster.cell.strategy = "ctr"
        results.cells.append(faster)
        #expect(Verdict(results).lines[1].hasPrefix("Fastest sequential cbc-continuous: libgcrypt"))
        let report = try #require(renderReport(results).first { $0.name == "report.md" })
        #expect(
            String(decoding: report.bytes, as: UTF8.self).contains(
                "AES-128 ctr (pkcs7), 1 MiB in file, 1 thread | openssl"))
    }

    @Test("an incomplete run says so")
    func incomplete() {
        var results = Fixture.small
        results.isComplete = false
        #expect(Verdict(results).lines.last?.hasPrefix("INCOMPLETE RUN") == true)
    }

    private func record(_ subject: String, _ passed: Int, _ failed: Int) -> ConformanceRecord {
        ConformanceRecord(
            subject: subject, passed: passed, failed: failed, unsupported: 0, notRun: 0, failures: [])
    }
}

import Report
import Results
import Testing

@Suite("security properties beside the speed")
struct SecurityTests {
    /// A report's Markdown with one cell of a strategy.
    private func report(_ change: (inout Cell) -> Void) throws -> String {
        var results = RecommendationFixture.results
        var result = RecommendationFixture.cell("a", 4, isWhole: false)
        change(&result.cell)
        result.check?.cell = result.cell
        results.cells = [result]
        let file = try #require(renderReport(results).first { $0.name == "report.md" })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    private static func row(_ title: String, in report: String) -> String {
        report.split(separator: "\n").first { $0.hasPrefix("| \(title)<br>") }.map(String.init) ?? ""
    }

    @Test(
        "no mode without authentication is said to notice flipped bits, a new order, foreign or repeated parts",
        arguments: ["cbc-continuous", "cbc-chunked", "ctr", "hls-aes128"])
    func unauthenticated(strategy: String) throws {
        let report = try report { $0.strategy = strategy }
        for title in ["Notices a new order", "Notices flipped bits", "Notices foreign parts", "Notices repeated parts"]
        {
            #expect(Self.row(title, in: report).contains("**never"), "\(title): \(Self.row(title, in: report))")
        }
        #expect(report.contains("does not protect it from change"))
    }

    @Test("padding is what notices a cut, and without it nothing does", arguments: ["pkcs7", "none"])
    func padding(padding: String) throws {
        let cut = Self.row("Notices a cut end", in: try report { $0.padding = padding })
        #expect(
            cut.contains("all but 1 in 255") == (padding == "pkcs7") && cut.contains("never") == (padding == "none"))
    }

    @Test("one IV for all chunks shows equal chunks", arguments: ["fixed", "sequence"])
    func ivRules(rule: String) throws {
        let report = try report {
            $0.strategy = "cbc-chunked"
            $0.ivRule = rule
            $0.chunkByteCount = 1 << 20
        }
        #expect(
            Self.row("Hides equal content", in: report).contains(rule == "fixed" ? "**no**" : "not from who chooses"))
        #expect(report.contains("cbc-chunked, IV \(rule)"))
    }

    @Test(
        "an authenticated format notices everything but an old file",
        arguments: ["cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf"])
    func authenticated(strategy: String) throws {
        let report = try report { $0.strategy = strategy }
        for property in ["a cut end", "an added end", "a new order", "flipped bits", "foreign parts", "repeated parts"]
        {
            #expect(Self.row("Notices \(property)", in: report).contains("always"))
        }
        #expect(!report.contains("protect it from change") && report.contains("older one"))
    }

    @Test("an unknown format is said to be unknown")
    func unknown() throws {
        #expect(try report { $0.strategy = "mystery" }.contains("Nothing is known here of mystery."))
    }
}

import Foundation
import Report
import Results
import Support
import Testing

@Suite("a gate's result where CI looks")
struct GateFormatTests {
    private static let folder = GoldenFolder("GoldenGate")

    @Test("every format is the same as ever, byte for byte", arguments: GateFixture.all.indices)
    func golden(index: Int) throws {
        let (name, result) = GateFixture.all[index]
        try Self.folder.expect(Array(result.junit(allowsInconclusive: false).utf8), in: "\(name).xml")
        try Self.folder.expect(Array(result.githubAnnotations.utf8), in: "\(name).github.txt")
        try Self.folder.expect(Array(result.markdown.utf8), in: "\(name).md")
        #expect(try Self.folder.names.count == 3 * GateFixture.all.count)
    }

    @Test("annotations are lines that a runner reads as they were meant", arguments: GateFixture.all.indices)
    func annotations(index: Int) {
        let text = GateFixture.all[index].1.githubAnnotations
        #expect(!text.unicodeScalars.contains("\r"))
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let match = line.wholeMatch(of: /::(error|warning|notice) title=([^:,]*)::(.*)/)
            #expect(match != nil, "\(line)")
            // Every percent sign is one that was escaped, or escapes something.
            let rest = (match?.3 ?? "").replacing(/%(25|0D|0A)/, with: "")
            #expect(!rest.contains("%"), "\(line)")
        }
    }

    @Test("a runner gets back the text that went in")
    func escaping() {
        let text = GateFixture.slower.githubAnnotations
        #expect(text.contains("title=wrong%3A trace%3Aa|b%2C <c>%3A 100%25::"))
        #expect(text.contains("\"50 %25 done\"%0D%0A::error::not mine"))
    }

    @Test("who is blamed: the slower, the wrong and the grown; nobody on an unfit host")
    func levels() {
        func lines(_ result: GateResult, _ level: String) -> Int {
            result.githubAnnotations.split(separator: "\n").count { $0.hasPrefix("::\(level) ") }
        }
        #expect(lines(GateFixture.slower, "error") == 3 && lines(GateFixture.slower, "warning") == 2)
        #expect(lines(GateFixture.unfit, "error") == 0 && lines(GateFixture.unfit, "warning") == 1)
        #expect(lines(GateFixture.same, "error") == 0 && lines(GateFixture.same, "warning") == 0)
        #expect(lines(GateFixture.nothing, "warning") == 1)
        for (name, result) in GateFixture.all { #expect(lines(result, "notice") == 1, "\(name)") }
    }

    @Test("of a hundred slower cells ten are annotations, the last of which counts the rest; all are in the document")
    func many() {
        let cells = (0..<300).map { GateFixture.cell("cell \($0)", $0 < 100 ? .slower : .same, 0.05, 0.04, 0.06) }
        let result = GateFixture.result(.slower, cells)
        let lines = result.githubAnnotations.split(separator: "\n")
        #expect(lines.count == 11 && lines[9].contains("and 91 more"))
        #expect(result.markdown.utf8.count < 65_536)
        #expect(result.markdown.contains("| cell 99 |") && result.markdown.contains("200 more cells not shown"))
    }

    @Test("Markdown names the verdict, each cell, its figures, and the command that repeats it")
    func markdown() {
        let text = GateFixture.slower.markdown
        for part in [
            "Gate: **wrong, and more memory**", "+3.10 %", "+2.40 % to +3.90 %",
            "chunkwise gate --baseline 'old/chunkwise subject'",
            "| control |", "├", "hls-aes128", "--seed 7",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        // What a subject says is text, and stays in its place.
        #expect(!text.contains("<gone>") && !text.contains("\n::error"))
    }

    @Test("a forest plot's rows lie within its axis, in the order of the table")
    func forest() throws {
        let rows = GateFixture.slower.forestPlot.split(separator: "\n")
        #expect(rows.count == 1 + 4 + 1)
        #expect(rows.allSatisfy { $0.count <= 9 + 49 })
        let slower = try #require(rows[1].firstIndex(of: "├")), tolerance = try #require(rows[1].lastIndex(of: ":"))
        #expect(slower > tolerance, "the interval lies beyond the tolerance: \(rows[1])")
        #expect(rows[4].contains("<"), "an interval beyond the axis says so: \(rows[4])")
    }
}

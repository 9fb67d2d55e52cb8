import Foundation
import Support
import TestSupport
import Testing

@Suite("chunkwise plan")
struct PlanCommandTests {
    private static let few = [
        "plan", "--reads", "64KiB", "--chunks", "64KiB,1MiB", "--windows", "256KiB", "--accesses", "block",
        "--object-size",
        "4GB",
    ]

    @Test("it prints what to take, and writes a page with pictures")
    func page() throws {
        let folder = try TemporaryFolder()
        let run = try CommandRun.run(
            Programs.chunkwise, Self.few + ["--latency", "20ms", "--bandwidth", "800Mbit/s", "--output", "page"],
            in: folder.path)
        #expect(run.status == 0 && run.text.hasPrefix("Take "), "\(run.errorLines)")
        #expect(
            run.text.contains("ONE STEP IN EACH DIRECTION")
                && run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let page = String(decoding: try #require(folder.bytes("page/index.html")), as: UTF8.self)
        #expect(page.contains("Reads of 64 KiB by chunk size") && page.contains("By window"))
        for name in ["report.md", "results.json", "seek.svg", "amplification.svg"] {
            #expect(folder.bytes("page/\(name)") != nil, "\(name)")
        }
    }

    @Test("the same question has the same answer, and its figures are those of the link")
    func json() throws {
        let link = ["--latency", "20ms", "--bandwidth", "100MB/s", "--format", "json", "--strategies", "ctr"]
        let values = try (0..<2).map { _ in
            let run = try CommandRun.run(Programs.chunkwise, Self.few + link)
            return try #require(JSONValue.parse(Array(run.text.utf8)), "\(run.errorLines)")
        }
        let seeks = values.map { $0["choice"]?["seeks"]?.array?.first }
        #expect(seeks[0]?["requests"] == seeks[1]?["requests"])
        #expect(seeks[0]?["amplification"] == seeks[1]?["amplification"])
        // One answer of 20 ms and 65,536 bytes at 100 MB/s, and what decryption takes.
        let median = try #require(seeks[0]?["medianNanoseconds"]?.integer)
        #expect(median >= 20_655_360)
    }

    @Test(
        "what cannot be is refused in a line",
        arguments: [
            (["--memory", "1KiB"], 1, nil), (["--latency", "soon"], 64, "--latency soon: expected"),
            (["--bandwidth", "0"], 64, "--bandwidth 0: expected"), (["--reads", "5GB"], 64, "--reads"),
            (["--chunks", ""], 64, "--chunks"), (["--chunks", "17"], 64, "multiple of 16"),
            (["--strategies", "ecb"], 64, "--strategies \"ecb\""), (["--accesses", "all"], 64, "--accesses \"all\""),
            (["--object-size", "0"], 64, "1 byte to 1EiB"),
            (["--object-size", "2000000000GB"], 64, "1 byte to 1EiB"), (["--backend", "none"], 64, "expected one of"),
        ] as [([String], Int32, String?)])
    func refused(options: [String], status: Int32, text: String?) throws {
        let run = try CommandRun.run(Programs.chunkwise, Self.few + options)
        #expect(run.status == status, "\(run.text) \(run.errorLines)")
        guard let text else { return }
        #expect(run.errorLines.count == 1 && run.errorLines.first?.contains(text) == true, "\(run.errorLines)")
    }
}

import Foundation
import Support
import TestSupport
import Testing

@Suite("chunkwise plan")
struct PlanCommandTests {
    private static let few = [
        "plan", "--read-size", "64KiB", "--chunks", "64KiB,1MiB", "--windows", "256KiB", "--accesses", "block",
    ]
    private static let fewOfLong = few + ["--object-size", "4GB"]

    @Test("it prints what to take, and writes a page with pictures")
    func page() throws {
        let folder = try TemporaryFolder()
        let run = try CommandRun.run(
            Programs.chunkwise, Self.fewOfLong + ["--latency", "20ms", "--bandwidth", "800Mbit/s", "--output", "page"],
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

    /// The only plan of a run.
    private func plan(_ arguments: [String]) throws -> JSONValue {
        let run = try CommandRun.run(Programs.chunkwise, arguments)
        let value = try #require(JSONValue.parse(Array(run.text.utf8)), "\(run.errorLines)")
        let plans = try #require(value["plans"]?.array)
        #expect(plans.count == 1)
        return plans[0]
    }

    @Test("the text names what was asked, what was left out, and what doing without integrity would give")
    func inputs() throws {
        let run = try CommandRun.run(
            Programs.chunkwise,
            Self.few + ["--object-size", "1MB", "--latency", "30ms", "--bandwidth", "50MB/s", "--memory", "8MiB"])
        #expect(run.status == 0, "\(run.errorLines)")
        let words = run.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for text in [
            "object 1 MB", "answers after 30.0 ms, 50 MB/s a connection", "client chunkwise: one round trip",
            "(default)",
            "library libgcrypt", "key AES-128", "reads 64 KiB", "more; --all has all", "memory at most 8 MiB",
            "Left out: chunks of 1 MiB, longer than the object.", "It notices changes. Without that,",
            "(--integrity none)", "must then protect the file",
        ] {
            #expect(words.contains(text), "\(text): \(run.text)")
        }
        #expect(run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("without integrity, the caveat comes first; where no format has it, there is no choice")
    func integrity() throws {
        let none = try CommandRun.run(
            Programs.chunkwise, Self.few + ["--latency", "20ms", "--strategies", "ctr", "--integrity", "none"])
        #expect(none.status == 0 && none.text.hasPrefix("The choice notices no change to the ciphertext"))
        let noticed = try CommandRun.run(Programs.chunkwise, Self.few + ["--latency", "20ms", "--strategies", "ctr"])
        #expect(noticed.status == 1 && noticed.text.hasPrefix("None of these formats notices changes"))
        let choice = try plan(Self.few + ["--latency", "20ms", "--format", "json"])["choice"]
        #expect(choice?["noticesChanges"]?.bool == true)
    }

    @Test("every known format is compared, behind several latencies, and what cannot be is counted")
    func allFormats() throws {
        let run = try CommandRun.run(
            Programs.chunkwise, Self.few + ["--object-size", "1GiB", "--latency", "0ms,1ms,20ms,80ms", "--all"])
        #expect(run.status == 0 && run.text.contains("FORMATS SIDE BY SIDE"), "\(run.errorLines)")
        for name in ["age", "cryptomator-gcm", "seal-simple", "rclone-crypt", "s3ec-kc-gcm-range", "xts-sectors"] {
            #expect(run.text.contains("\n\(name) "), "\(name)")
        }
        let words = run.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("2 formats left out: iv-prefix-cbc-mac ("), "\(run.text)")
        #expect(words.contains("; rocksdb-ctr (unsupported: chunks of a cipher block"), "\(run.text)")
        #expect(run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("objects, latencies, bandwidths and clients are questions of their own, the rest is compared")
    func lists() throws {
        let folder = try TemporaryFolder()
        let lists = [
            "--object-size", "0,1,1MB", "--latency", "1ms,5ms", "--bandwidth", "50MB/s,8Mbit/s", "--client",
            "chunkwise,serial", "--key-size", "128,256", "--backend", "openssl,libgcrypt", "--output", "page",
            "--strategies", "ctr,cobblestone-128,tink-aes-gcm-hkdf",
        ]
        let run = try CommandRun.run(Programs.chunkwise, Self.few + lists, in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(run.text.hasPrefix("ALL QUESTIONS") && run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let questions = run.text.components(separatedBy: "\n\n")[0].split(separator: "\n")
        #expect(questions.count { $0.firstMatch(of: /^(0 B|1 B|1 MB), \d/) != nil } == 24, "\(run.text)")
        let bytes = try #require(folder.bytes("page/results.json"))
        let results = try #require(JSONValue.parse(bytes))
        let plans = try #require(results["plans"]?.array)
        #expect(plans.count == 3 * 2 * 2 * 2 && plans.allSatisfy { $0["choice"] != .null })
        let backends = Set(plans[0]["candidates"]?.array?.compactMap { $0["backend"]?.string } ?? [])
        let keys = Set(plans[0]["candidates"]?.array?.compactMap { $0["keyByteCount"]?.integer } ?? [])
        #expect(backends == ["openssl", "libgcrypt"] && keys.isSuperset(of: [16, 32]))
    }

    @Test("the same question has the same answer, and its figures are those of the link")
    func json() throws {
        let link = [
            "--latency", "20ms", "--bandwidth", "100MB/s", "--format", "json", "--strategies", "ctr", "--integrity",
            "none",
        ]
        let values = try (0..<2).map { _ in try plan(Self.fewOfLong + link) }
        let seeks = values.map { $0["choice"]?["seeks"]?.array?.first }
        #expect(seeks[0]?["requests"] == seeks[1]?["requests"])
        #expect(seeks[0]?["amplification"] == seeks[1]?["amplification"])
        // One answer of 20 ms and 65,536 bytes at 100 MB/s, and what decryption takes.
        let median = try #require(seeks[0]?["medianNanoseconds"]?.integer)
        // Far below the time of another answer, however slow the machine is.
        #expect((20_655_360..<30_000_000).contains(median), "\(median) ns")
        #expect(seeks[0]?["requests"] == 1)
    }

    @Test(
        "what cannot be is refused in a line",
        arguments: [
            (["--memory", "1KiB"], 1, nil), (["--latency", "soon"], 64, "--latency soon: expected"),
            (["--bandwidth", "0"], 64, "--bandwidth 0: expected"), (["--read-size", "5GB"], 64, "--read-size"),
            (["--chunks", ""], 64, "--chunks"),
            (["--chunks", "17", "--strategies", "cbc-chunked"], 64, "multiple of 16"),
            (["--backend", "libgcrypt", "--strategies", "rclone-crypt"], 64, "xsalsa20-poly1305 in libgcrypt"),
            (["--client", "serial"], 64, "--client: expected it with --latency or --bandwidth"),
            (["--client", "curl", "--latency", "1ms"], 64, "--client \"curl\": expected chunkwise or serial"),
            (["--integrity", "some"], 64, "--integrity some: expected noticed or none"),
            (["--key-size", "192"], 64, "--key-size \"192\": expected 128 or 256"),
            (["--strategies", "ecb"], 64, "\"ecb\""), (["--accesses", "all"], 64, "--accesses \"all\""),
            (["--object-size", "2000000000GB"], 64, "0 bytes to 1EiB"), (["--backend", "none"], 64, "expected one of"),
        ] as [([String], Int32, String?)])
    func refused(options: [String], status: Int32, text: String?) throws {
        let run = try CommandRun.run(Programs.chunkwise, Self.fewOfLong + options)
        #expect(run.status == status, "\(run.text) \(run.errorLines)")
        guard let text else { return }
        #expect(run.errorLines.count == 1 && run.errorLines.first?.contains(text) == true, "\(run.errorLines)")
    }
}

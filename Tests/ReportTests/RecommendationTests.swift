import Report
import Results
import Statistics
import Support
import Testing

@Suite("recommendations from results")
struct RecommendationTests {
    private typealias Known = RecommendationFixture

    private static func recommend(
        _ results: RunResults = RecommendationFixture.results, _ budgets: Budgets = Budgets(),
        _ change: (inout RecommendationRequest) -> Void = { _ in }
    ) throws -> RunRecommendation {
        var request = RecommendationRequest()
        request.budgets = budgets
        change(&request)
        return try RunRecommendation(results, named: "results", request: request)
    }

    @Test("the known best is named for 1000 random budgets", arguments: 0..<10 as Range<UInt64>)
    func knownBest(block: UInt64) throws {
        var generator = SplitMix64(seed: block)
        func draw(_ minimum: UInt64, _ maximum: UInt64) -> UInt64? {
            guard Bool.random(using: &generator) else { return nil }
            let shift = UInt64.random(in: 0...40, using: &generator)
            return min(max(UInt64.random(in: minimum...maximum, using: &generator) >> shift, minimum), maximum)
        }
        for _ in 0..<100 {
            let budgets = Budgets(
                memoryByteCount: draw(1, 300 << 20), firstByteNanoseconds: draw(1, 100_000_000),
                amplification: Bool.random(using: &generator) ? Double.random(in: 0.5...5, using: &generator) : nil,
                bytesPerSecond: draw(1, 1 << 30))
            let advice = try Self.recommend(Known.results, budgets).advice
            // The best has the largest window that memory and first byte allow, of the faster backend; whole chunks
            // where amplification allows them.
            let size = Known.sizes.last { size in
                Known.memory(size) <= budgets.memoryByteCount ?? .max
                    && Known.firstByte(size) <= budgets.firstByteNanoseconds ?? .max
            }
            let amplification = budgets.amplification ?? 10
            guard let size, amplification >= 1,
                Known.bytesPerSecond("a", size, isWhole: amplification >= 4).rounded()
                    >= Double(budgets.bytesPerSecond ?? 0)
            else {
                #expect(advice.choice == nil, "\(budgets)")
                #expect(!advice.raises.isEmpty, "\(budgets)")
                continue
            }
            let best = Known.cell("a", size, isWhole: amplification >= 4).cell
            #expect(advice.choice?.id == best.id, "\(budgets)")
        }
    }

    @Test("the raise that is named fits when it is typed")
    func raises() throws {
        let budgets = Budgets(memoryByteCount: 300_000, firstByteNanoseconds: 1000, bytesPerSecond: 600_000_000)
        let recommendation = try Self.recommend(Known.results, budgets)
        #expect(!recommendation.hasChoice)
        let raises = try #require(recommendation.json["raises"]?.array)
        let options = raises.compactMap { $0["raises"]?.array?.compactMap { $0["option"]?.string } }
        #expect(options.first == ["--first-byte 2.05us", "--throughput 447MB/s"])
        #expect(
            recommendation.reasons[1].hasPrefix("No single raise suffices. Smallest set: raise first byte from 1.00 µs")
        )
        let single = try Self.recommend(Known.results, Budgets(memoryByteCount: 1000))
        #expect(single.reasons[1].hasPrefix("Smallest single raise: raise memory from 1000 B to 261 KiB") == true)
    }

    @Test("the time to the first byte is that of opening and the first read together, and of nothing else")
    func firstByte() throws {
        var results = Known.results
        results.cells = [Known.cell("a", 3, isWhole: false)]
        results.cells[0].latency = Known.latency(5_000_000)
        results.cells[0].firstByte = Known.latency(6_000_000)
        #expect(try Self.recommend(results).advice.choice?.firstByteNanoseconds == 6_000_000)
        results.cells[0].firstByte = nil
        let unmeasured = try Self.recommend(results, Budgets(firstByteNanoseconds: 1 << 40))
        #expect(!unmeasured.hasChoice)
        #expect(unmeasured.reasons.contains { $0.contains("1 configuration of 1 set aside: no first byte figure") })
        #expect(unmeasured.reasons[0].contains("leave out first byte"))
    }

    @Test("cold files, remote stores and other objects are not mixed in, and are counted")
    func circumstances() throws {
        var results = Known.results
        var cold = Known.cell("a", 4, isWhole: false)
        cold.cell.isCold = true
        var remote = Known.cell("a", 4, isWhole: false)
        remote.cell.remoteLatencyNanoseconds = 20_000_000
        var other = Known.cell("a", 4, isWhole: false)
        other.cell.objectByteCount = 1 << 20
        results.cells += [cold, remote, other].map { result in
            var result = result
            result.check?.cell = result.cell
            // The fastest by far.
            result.rounds = [[1000], [1000], [1000]]
            return result
        }
        let local = try Self.recommend(results)
        #expect(local.advice.choice?.id == Known.cell("a", 15, isWhole: true).cell.id)
        let notes = local.reasons.filter { $0.hasPrefix("Not compared: 1 configuration") }
        #expect(notes.count == 3)
        #expect(notes.map { $0.split(separator: "(").last } == ["--cold).", "--remote).", "--object-size 1MiB)."])
        #expect(try Self.recommend(results) { $0.isCold = true }.advice.choice?.id == cold.cell.id)
        #expect(try Self.recommend(results) { $0.isRemote = true }.advice.choice?.id == remote.cell.id)
        #expect(try Self.recommend(results) { $0.objectByteCount = 1 << 20 }.advice.choice?.id == other.cell.id)
    }

    @Test("filters cost what budgets cost, and threads and mapping have their alternatives")
    func filters() throws {
        var results = Known.results
        var threads = Known.cell("a", 4, isWhole: false)
        threads.cell.threads = 2
        threads.cell.source = "mmap"
        threads.check?.cell = threads.cell
        threads.rounds = [[1000], [1000], [1000]]
        results.cells.append(threads)
        let reasons = try Self.recommend(results).reasons
        #expect(
            reasons.contains { $0.hasPrefix("With one thread (--threads 1) the choice would be a, 128 MiB windows") })
        #expect(
            reasons.contains { $0.hasPrefix("Without mapping the file (--source file) the choice would be a, 128") })
        #expect(reasons.contains { $0.contains("compared, each with 1 or 2 threads)") }, "\(reasons)")
        let filtered = try Self.recommend(results) {
            $0.backend = "b"
            $0.threads = 1
        }.reasons
        #expect(
            filtered.contains {
                $0.hasPrefix("--backend b costs throughput: without it the choice would be a, 128 MiB windows")
                    && $0.hasSuffix("1.10× (1.10–1.10×) as fast.")
            })
        #expect(filtered.contains("--threads 1 costs nothing: without it the choice is the same."))
        #expect(filtered.contains { $0.contains("compared, each with one thread)") }, "\(filtered)")
    }

    @Test("a picture of many has the front, the choice and some of the others")
    func manyPoints() throws {
        var results = Known.results
        let template = Known.cell("a", 4, isWhole: false)
        results.cells = (0..<900).map { index in
            var result = template
            result.cell.windowByteCount = 4096 + UInt64(index) * 16
            result.check?.cell = result.cell
            result.memory?.peakByteCount += UInt64(index) * 100_000
            result.rounds = [[UInt64]](repeating: [1_000_000 + UInt64(index * 7919 % 900)], count: 3)
            return result
        }
        let files = renderReport(results)
        let picture = try #require(files.first { $0.name == "pareto.svg" })
        let text = String(decoding: picture.bytes, as: UTF8.self)
        #expect(text.contains("of them are drawn") && text.contains("choice: a"))
        #expect(picture.bytes.count < 100_000)
    }

    @Test(
        "names that people use stand for what was measured",
        arguments: [
            ("download", ["sequential", "random:64KiB"], "sequential"),
            ("playback", ["trace:x", "sequential"], "sequential"),
            ("playback", ["random:4KiB", "trace:x", "trace:y"], "trace:x"),
            ("seek", ["random:4KiB", "random:64KiB"], "random:64KiB"),
            ("seek", ["sequential", "random:4KiB"], "random:4KiB"), ("seek", ["sequential"], nil),
            ("download", ["random:4KiB"], nil), ("trace:z", ["trace:x"], nil),
        ] as [(String, [String], String?)])
    func workloads(name: String, measured: [String], expected: String?) throws {
        var results = Known.results
        results.cells = measured.map { workload in
            var result = Known.cell("a", 4, isWhole: false)
            result.cell.workload = workload
            result.check?.cell = result.cell
            return result
        }
        guard let expected else {
            let error = #expect(throws: RecommendationError.self) { try Self.recommend(results) { $0.workload = name } }
            for workload in measured { #expect("\(error.map { "\($0)" } ?? "")".contains(workload)) }
            return
        }
        let recommendation = try Self.recommend(results) { $0.workload = name }
        #expect(recommendation.json["workload"]?["measured"]?.string == expected)
        #expect(recommendation.text.contains("\(name), for which \(expected) stands"))
    }

    @Test("nothing measured, nothing trusted and nothing admitted are told apart")
    func nothing() {
        var results = Known.results
        #expect(
            throws: RecommendationError.noCandidates(
                workload: "sequential", asked: "of z",
                found: "backend b, a; strategy cbc-continuous; access block, whole-chunk; "
                    + "threads 1; key size 128; source file; object size 256 MiB; store a file in the page cache")
        ) {
            try Self.recommend { $0.backend = "z" }
        }
        for index in results.cells.indices { results.cells[index].failure = "wrong digest" }
        #expect(throws: RecommendationError.noFigures(cellCount: 64)) { try Self.recommend(results) }
        results.cells = []
        #expect(throws: RecommendationError.noFigures(cellCount: 0)) { try Self.recommend(results) }
    }

    @Test("one cell, few processes and a failed cell are said")
    func odd() throws {
        var results = Known.results
        results.cells = [Known.cell("a", 4, isWhole: false), Known.cell("a", 5, isWhole: false)]
        results.cells[0].rounds = [[1_000_000, 1_000_001]]
        results.cells[1].failure = "wrong digest"
        results.isComplete = false
        let reasons = try Self.recommend(results).reasons
        #expect(reasons.contains("It is the only configuration that was measured, so nothing was compared."))
        for word in ["fewer than three processes", "wrong digest", "broken off"] {
            #expect(reasons.contains { $0.contains(word) }, "\(word)")
        }
    }

    @Test("text fits 80 columns, and nothing from a file drives the terminal", arguments: ["plain", "hostile"])
    func columns(kind: String) throws {
        var results = RealisticFixture.results
        if kind == "hostile" {
            for index in results.cells.indices {
                results.cells[index].cell.label = results.cells[index].cell.label.map { $0 + " \u{1B}[2J<script>|`" }
            }
        }
        for budgets in [Budgets(), Budgets(memoryByteCount: 1 << 20, firstByteNanoseconds: 1, bytesPerSecond: 1 << 50)]
        {
            let text = try Self.recommend(results, budgets).text
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line.count): \(line)") }
            #expect(!text.contains("\u{1B}"))
            let markdown = try Self.recommend(results, budgets).markdown
            #expect(!markdown.contains("<script>") && !markdown.contains("\u{1B}"))
        }
    }

    @Test("a recommendation is the same as ever, byte for byte")
    func golden() throws {
        let folder = GoldenFolder("GoldenRecommendation")
        let choice = try Self.choice()
        try folder.expect(Array((choice.json.text + "\n").utf8), in: "choice.json")
        try folder.expect(Array((choice.markdown + "\n").utf8), in: "choice.md")
        #expect(try folder.names.count == 2)
    }

    private static func choice() throws -> RunRecommendation {
        let budgets = Budgets(memoryByteCount: 64 << 20, firstByteNanoseconds: 5_000_000, amplification: 1.5)
        return try recommend(Known.results.withFacts, budgets) { $0.workload = "playback" }
    }

    @Test("text names the choice, its figures, its neighbours and the cost of budgets, or what to raise")
    func text() throws {
        expectText(
            try Self.choice().text,
            has: [
                "Take a, 8 MiB windows", "Workload playback, for which sequential stands",
                "choice 731 MiB/s (731–731 MiB/s) 10.3 MiB 4.19 ms 1.00×",
                "windows of 4 MiB: 13 % slower, 5.25 MiB of memory instead of 10.3 MiB",
                "The memory budget of 64 MiB costs nothing",
                "a, 32 MiB windows (1.00 GiB/s), 1.40× (1.40–1.40×) as fast",
                "a, 8 MiB windows 731 MiB/s 10.3 MiB 4.19 ms 1.00× yes", "Reads from the middle yes",
            ])
        expectText(
            try Self.recommend(RealisticFixture.results.withFacts).text,
            has: [
                "Take libgcrypt, 64 KiB windows", "windows of 256 KiB: a tie", "openssl: 53 % (52–54 %) slower",
                "No other configuration is more than 4.1 % faster",
            ])
        expectText(
            try Self.recommend(
                Known.results.withFacts, Budgets(memoryByteCount: 100_000, firstByteNanoseconds: 10)
            ).text,
            has: [
                "Nothing fits",
                "raise memory from 100 kB to 261 KiB, 2.67× (--memory 261KiB) and raise first byte from 10 ns",
                "a, 128 MiB windows, decrypted 2.50 GiB/s 160 MiB 67.1 ms 4.00× no whole",
            ])
    }
}

/// Results whose best configuration is known for any budget, because its figures follow from simple formulas.
///
/// The wider the window, the faster, the more memory, and the later the first byte. Backend `a` is a tenth faster than
/// `b`. Reading whole chunks is half as fast again, and fetches four times what it delivers.
enum RecommendationFixture {
    /// Windows are 4 KiB × 2ᵏ for k from 0 to 15: 4 KiB to 128 MiB.
    static let sizes = 0...15

    static let results = RunResults(
        header: Fixture.header, conformance: [],
        cells: ["b", "a"].flatMap { backend in
            sizes.reversed().flatMap { size in
                [cell(backend, size, isWhole: false), cell(backend, size, isWhole: true)]
            }
        }, isComplete: true)

    static func window(_ size: Int) -> UInt64 { 4096 << UInt64(size) }

    /// A window and a quarter, and never below what the kernel tells apart.
    static func memory(_ size: Int) -> UInt64 { window(size) * 5 / 4 + 262_144 }

    /// A nanosecond for two bytes.
    static func firstByte(_ size: Int) -> UInt64 { window(size) / 2 }

    static func amplification(isWhole: Bool) -> Double { isWhole ? 4 : 1 }

    /// Nanoseconds for the object of 256 MiB.
    static func nanoseconds(_ backend: String, _ size: Int, isWhole: Bool) -> UInt64 {
        UInt64(900_000_000 - size * 50_000_000) * (backend == "a" ? 10 : 11) / (isWhole ? 15 : 10)
    }

    static func bytesPerSecond(_ backend: String, _ size: Int, isWhole: Bool) -> Double {
        Double(256 << 20) / Double(nanoseconds(backend, size, isWhole: isWhole)) * 1e9
    }

    static func cell(_ backend: String, _ size: Int, isWhole: Bool) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", windowByteCount: window(size),
            access: isWhole ? .wholeChunk : .block, objectByteCount: 256 << 20)
        var result = CellResult(cell: cell)
        let delivered: UInt64 = 256 << 20
        let fetched = delivered * UInt64(amplification(isWhole: isWhole))
        result.check = CheckRecord(
            cell: cell, digest: "aa", deliveredByteCount: delivered, fetchedByteCount: fetched,
            decryptedByteCount: fetched)
        let time = nanoseconds(backend, size, isWhole: isWhole)
        result.rounds = [[time, time], [time], [time]]
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 7 << 20, peakByteCount: (7 << 20) + memory(size), boundByteCount: nil)
        result.latency = latency(firstByte(size) / 2)
        result.firstByte = latency(firstByte(size))
        return result
    }

    static func latency(_ time: UInt64) -> LatencyRecord.Latency {
        LatencyRecord.Latency(readCount: 32, p50: time, p90: time * 2, p99: time * 2, p999: time * 2, max: time * 2)
    }
}

@Suite("security properties beside the speed")
struct SecurityTests {
    /// A report's Markdown with one cell of a strategy.
    private func report(_ change: (inout Cell) -> Void) throws -> String {
        var results = RecommendationFixture.results
        var result = RecommendationFixture.cell("a", 4, isWhole: false)
        change(&result.cell)
        result.check?.cell = result.cell
        results.cells = [result]
        let file = try #require(renderReport(results.withFacts).first { $0.name == "report.md" })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    private static func row(_ title: String, in report: String) -> String {
        report.split(separator: "\n").first { $0.hasPrefix("| \(title)<br>") }.map(String.init) ?? ""
    }

    @Test(
        "no mode without authentication is said to notice flipped bits, a new order, parts of other files or repeated ones",
        arguments: ["cbc-continuous", "cbc-chunked", "ctr", "hls-aes128"])
    func unauthenticated(strategy: String) throws {
        let report = try report { $0.strategy = strategy }
        for title in [
            "Notices a new order", "Notices flipped bits", "Notices parts of other files", "Notices repeated parts",
        ] {
            #expect(Self.row(title, in: report).contains("**never"), "\(title): \(Self.row(title, in: report))")
        }
        #expect(report.contains("does not protect it from change"))
    }

    @Test("padding is what notices a cut, and without it nothing does", arguments: ["pkcs7", "none"])
    func padding(padding: String) throws {
        let cut = Self.row("Notices a cut end", in: try report { $0.strategy = "cbc-continuous:padding=\(padding)" })
        #expect(
            cut.contains("all but 1 in 255") == (padding == "pkcs7") && cut.contains("never") == (padding == "none"))
    }

    @Test("one IV for all chunks shows equal chunks", arguments: ["fixed", "sequence"])
    func ivRules(rule: String) throws {
        let text = "cbc-chunked:\(rule == "fixed" ? "iv-rule=fixed," : "")chunk=1MiB"
        let report = try report { ($0.strategy, $0.chunkByteCount) = (text, 1 << 20) }
        #expect(
            Self.row("Hides equal content", in: report).contains(rule == "fixed" ? "**no**" : "not from who chooses"))
        #expect(report.contains(text))
    }

    @Test(
        "an authenticated format notices everything but an old file",
        arguments: ["cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf"])
    func authenticated(strategy: String) throws {
        let report = try report { $0.strategy = strategy }
        for property in [
            "a cut end", "an added end", "a new order", "flipped bits", "parts of other files", "repeated parts",
        ] {
            #expect(Self.row("Notices \(property)", in: report).contains("always"))
        }
        #expect(!report.contains("protect it from change") && report.contains("older one"))
    }

    @Test("an unknown format is said to be unknown")
    func unknown() throws {
        #expect(try report { $0.strategy = "mystery" }.contains("Nothing is known here of mystery."))
    }
}

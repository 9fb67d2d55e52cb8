import Report
import Results
import Support
import Testing

/// Recommendations and verdicts where formats that notice changes stand beside others.
@Suite("integrity first")
struct IntegrityTests {
    /// A configuration: its time for 1 MiB in milliseconds, and that of one read in microseconds.
    private static func cell(
        _ strategy: String, chunk: UInt64? = nil, backend: String = "openssl", window: UInt64 = 256 << 10,
        workload: String = "sequential", ivRule: String? = nil, key: Int = 16, milliseconds: Double,
        microseconds: Double = 20, growth: UInt64 = 0
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: text(strategy, chunk: chunk, ivRule: ivRule, key: key), chunkByteCount: chunk,
            windowByteCount: window, workload: workload, readCount: workload == "sequential" ? nil : 16,
            keyByteCount: key, objectByteCount: 256 << 20)
        var result = CellResult(cell: cell)
        result.check = CheckRecord(
            cell: cell, digest: "ab", deliveredByteCount: 1 << 20, readCount: 16, requestCount: 16,
            fetchedByteCount: 1 << 20, decryptedByteCount: 1 << 20)
        result.rounds = [0, 1, 2].map { [UInt64(milliseconds * 1e6) + 100 * $0] }
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 8 << 20, peakByteCount: (8 << 20) + growth, boundByteCount: nil)
        let id = cell.id
        result.latencies = [0, 1, 2].map { round in
            LatencyRecord(
                cellID: id, round: Int(round),
                latency: RecommendationFixture.latency(UInt64(microseconds * 1000) + round))
        }
        return result
    }

    /// The text of a strategy, as cells have it.
    private static func text(_ name: String, chunk: UInt64?, ivRule: String?, key: Int) -> String {
        let (isTink, isChunked) = (name.hasPrefix("tink"), name == "cbc-chunked")
        let parameters = [
            ivRule == "fixed" ? "iv-rule=fixed" : nil, isChunked ? chunk.map { "chunk=\(ByteSize($0))" } : nil,
            isTink ? chunk.map { "segment=\(ByteSize($0 + 16))" } : nil,
            isTink && key != 16 ? "derived-key=\(key)" : nil,
        ].compactMap(\.self)
        return parameters.isEmpty ? name : "\(name):\(parameters.joined(separator: ","))"
    }

    private static func results(_ cells: [CellResult]) -> RunResults {
        var results = Fixture.small
        results.cells = cells
        return results.withFacts
    }

    /// CTR and CBC are faster than all that notices changes.
    private static let mixed = results([
        cell("ctr", milliseconds: 1), cell("cbc-continuous", milliseconds: 1.1),
        cell("tink-aes-gcm-hkdf", chunk: 4080, milliseconds: 4, growth: 1 << 20),
        cell("cobblestone-128", chunk: 16384, milliseconds: 3.9, growth: 1 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, milliseconds: 3, growth: 1 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, window: 64 << 10, milliseconds: 3.6, growth: 1 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, window: 1 << 20, milliseconds: 3.3, growth: 2 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, backend: "libgcrypt", milliseconds: 6, growth: 1 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, key: 32, milliseconds: 3.6, growth: 1 << 20),
        cell("tink-aes-gcm-hkdf", chunk: (1 << 20) - 16, milliseconds: 3.3, growth: 4 << 20),
        cell("tink-aes-gcm-hkdf", chunk: 65520, workload: "random:64KiB", milliseconds: 1, microseconds: 30),
        cell("cobblestone-128", chunk: 16384, workload: "random:64KiB", milliseconds: 2, microseconds: 20),
        cell(
            "cbc-chunked", chunk: 65536, workload: "random:64KiB", ivRule: "sequence", milliseconds: 1.5,
            microseconds: 9),
        cell("cbc-chunked", chunk: 65536, workload: "random:64KiB", ivRule: "fixed", milliseconds: 1, microseconds: 5),
    ])

    private static func recommend(
        _ results: RunResults = mixed, _ change: (inout RecommendationRequest) -> Void = { _ in }
    ) throws -> RunRecommendation {
        var request = RecommendationRequest()
        change(&request)
        return try RunRecommendation(results, named: "run", request: request)
    }

    @Test("a format that notices changes is taken, and what doing without saves is said with what must guard the file")
    func noticed() throws {
        let recommendation = try Self.recommend()
        #expect(recommendation.json["choice"]?["strategy"]?.string == "tink-aes-gcm-hkdf:segment=64KiB")
        let cost = try #require(recommendation.reasons.first { $0.hasPrefix("Without integrity (--integrity none)") })
        #expect(cost.contains("the choice would be openssl, ctr"))
        #expect(cost.contains("3.00× (3.00–3.00×) as fast; something else must notice changes: a digest or MAC"))
        #expect(recommendation.json["withoutIntegrity"]?["name"]?.string?.contains("ctr") == true)
        #expect(
            recommendation.reasons.contains {
                $0.contains("2 configurations set aside: their formats notice no change")
            })
        let free = try Self.recommend { $0.integrity = .unneeded }
        #expect(free.json["choice"]?["strategy"]?.string == "ctr" && free.json["noticesChanges"] == false)
        #expect(!free.reasons.contains { $0.contains("something else must notice") })
    }

    @Test("it is the strategy's properties that decide, and not its name", arguments: [16384, 1 << 20] as [UInt64])
    func properties(chunk: UInt64) throws {
        for strategy in ["cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf"] {
            let results = Self.results([
                Self.cell("ctr", milliseconds: 1), Self.cell(strategy, chunk: chunk, milliseconds: 9),
            ])
            #expect(try Self.recommend(results).json["choice"]?["strategy"]?.string?.hasPrefix(strategy) == true)
        }
        for strategy in ["hls-aes128", "cbc-chunked", "something-new"] {
            let results = Self.results([
                Self.cell(strategy, chunk: chunk, ivRule: "sequence", milliseconds: 1),
                Self.cell("cobblestone-128", chunk: chunk, milliseconds: 9),
            ])
            #expect(try Self.recommend(results).json["choice"]?["strategy"]?.string == "cobblestone-128")
        }
    }

    @Test("random reads are ranked by latency, which is shown, whatever their throughput")
    func latency() throws {
        for workload in ["seek", "random:64KiB"] {
            let recommendation = try Self.recommend { $0.workload = workload }
            #expect(recommendation.json["choice"]?["strategy"]?.string == "cobblestone-128")
            #expect(recommendation.json["ranking"]?.string == "latency")
            #expect(recommendation.json["choice"]?["latencyNanoseconds"]?.integer == 20_001)
            for text in [recommendation.text, recommendation.markdown] {
                #expect(text.contains("Median read") && text.contains("20.0 µs"))
            }
            expectText(recommendation.text, has: ["Chunk 16 KiB"])
            #expect(recommendation.reasons.contains { $0.contains("The choice is 1.50× (1.50–1.50×) as fast.") })
            #expect(
                recommendation.reasons.contains { $0.contains("cbc-chunked:chunk=64KiB, ") && $0.contains("2.22×") })
        }
    }

    @Test("a latency of few chunks, one of which the reader often holds, is not ranked; without another, throughput is")
    func heldChunks() throws {
        // 256 MiB has 32 chunks of 8 MiB, and 16 of 16 MiB.
        func recommend(_ chunks: [UInt64]) throws -> RunRecommendation {
            let cells = chunks.map {
                Self.cell(
                    "tink-aes-gcm-hkdf", chunk: $0 - 16, workload: "random:64KiB", milliseconds: 3,
                    microseconds: 40e6 / Double($0))
            }
            return try Self.recommend(Self.results(cells)) { $0.workload = "random:64KiB" }
        }
        let found = try recommend([4 << 20, 8 << 20, 16 << 20])
        #expect(found.json["choice"]?["strategy"]?.string == "tink-aes-gcm-hkdf:segment=8MiB")
        #expect(found.reasons.contains { $0.hasPrefix("1 configuration set aside: no latency") && $0.contains("32") })
        let few = try recommend([16 << 20, 32 << 20])
        #expect(few.hasChoice && few.json["ranking"]?.string == "throughput")
        // Without tags, only a reader that keeps whole chunks holds any.
        for (access, choice) in [(AccessPolicy.chunkCache, "ctr"), (.block, "cbc-chunked:chunk=16MiB")] {
            var held = Self.cell(
                "cbc-chunked", chunk: 16 << 20, workload: "random:64KiB", milliseconds: 3, microseconds: 2)
            held.cell.access = access
            let cells = [held, Self.cell("ctr", workload: "random:64KiB", milliseconds: 3, microseconds: 9)]
            let found = try Self.recommend(Self.results(cells)) {
                ($0.workload, $0.integrity) = ("random:64KiB", .unneeded)
            }
            #expect(found.json["choice"]?["strategy"]?.string == choice)
        }
    }

    @Test("one IV for all chunks is taken where it is asked for by name, and nowhere else")
    func fixedIV() throws {
        func rule(_ change: (inout RecommendationRequest) -> Void) throws -> String? {
            try Self.recommend {
                $0.workload = "seek"
                change(&$0)
            }.json["choice"]?["strategy"]?.string
        }
        let fixed = "cbc-chunked:iv-rule=fixed,chunk=64KiB"
        #expect(try rule { $0.integrity = .unneeded } == "cbc-chunked:chunk=64KiB")
        #expect(try rule { $0.strategy = "cbc-chunked" } == "cbc-chunked:chunk=64KiB")
        #expect(try rule { $0.strategy = fixed } == fixed)
        let reasons = try Self.recommend { ($0.workload, $0.strategy) = ("seek", fixed) }.reasons
        #expect(reasons[0].hasPrefix("Changes are not noticed by \(fixed)"))
    }

    @Test("a strategy that is asked for by name is taken with the caveat first")
    func byName() throws {
        let recommendation = try Self.recommend { $0.strategy = "ctr" }
        #expect(recommendation.json["choice"]?["strategy"]?.string == "ctr")
        #expect(
            recommendation.reasons[0].hasPrefix("Changes are not noticed by ctr, which was asked for; something else"))
    }

    @Test("where nothing that notices changes fits, it is said what would fit without")
    func nothingFits() throws {
        let recommendation = try Self.recommend { $0.budgets = Budgets(bytesPerSecond: 900_000_000) }
        #expect(!recommendation.hasChoice)
        #expect(recommendation.reasons.contains { $0.hasPrefix("Without integrity (--integrity none) openssl, ctr") })
    }

    @Test(
        "the verdict takes what notices changes, says steps in each direction, what integrity costs, and what to take for seeks"
    )
    func verdict() throws {
        let verdict = Verdict(Self.mixed)
        let lines = verdict.lines
        #expect(
            lines[0].hasPrefix("Take openssl, tink-aes-gcm-hkdf:segment=64KiB, windows of 256 KiB"), "\(lines[0])")
        let seeks = try #require(
            lines.first { $0.hasPrefix("For seeks, by latency: openssl, cobblestone-128") })
        #expect(seeks.contains("20.0 µs") && seeks.contains("1.50× (1.50–1.50×) as fast as the runner-up"), "\(seeks)")
        let steps = try #require(verdict.details.first { $0.hasPrefix("One step from it: ") })
        for step in [
            "chunks of 16 KiB (cobblestone-128): 23 %", "a random read 20.0 µs instead of 30.0 µs",
            "chunks of 1 MiB: 9 %", "windows of 64 KiB: 17 %", "windows of 1 MiB: 9 %", "libgcrypt: 50 %",
            "AES-256: 17 %",
            "2.00 MiB of memory instead of 1.00 MiB",
        ] { #expect(steps.contains(step), "\(step) in \(steps)") }
        #expect(
            lines.contains { $0.hasPrefix("Without integrity (--integrity none) the choice would be openssl, ctr") })
        #expect(!lines.contains { $0.contains("were not measured with") })
    }

    @Test("a run without such a format says so first, and what to measure, and gives no advice")
    func without() {
        let lines = Verdict(
            Self.results([Self.cell("ctr", milliseconds: 1), Self.cell("ctr", backend: "b", milliseconds: 2)])
        ).lines
        #expect(
            lines[0].hasPrefix(
                "No format that notices changes was measured from start to end: measure one, "),
            "\(lines[0])")
        #expect(lines[1].hasPrefix("The best of what there is: openssl: "), "\(lines[1])")
        #expect(!lines.contains { $0.contains("Take ") })
    }

    @Test("a run of too few processes decides nothing, and says nothing of taking")
    func smoke() throws {
        var results = Self.mixed
        for index in results.cells.indices {
            results.cells[index].rounds.removeLast(1)
            results.cells[index].latencies.removeLast(1)
        }
        let verdict = Verdict(results)
        let lines = verdict.lines + verdict.details
        #expect(lines[0].hasPrefix("This run decides nothing, since no configuration was timed in three processes; "))
        #expect(!lines.contains { $0.contains("Take ") || $0.hasPrefix("For seeks") || $0.hasPrefix("One step") })
        let text = try Self.recommend(results).text
        #expect(text.hasPrefix("Fastest, and nothing shown: ") && !text.contains("Take"))
    }

    @Test("chunk sizes of authenticated chunks have pictures of throughput and latency, a line a library")
    func pictures() throws {
        var results = Self.mixed
        results.cells.append(Self.cell("cobblestone-128", chunk: 16384, backend: "libgcrypt", milliseconds: 8))
        let files = renderReport(results)
        func picture(_ name: String) throws -> String {
            String(decoding: try #require(files.first { $0.name == name }).bytes, as: UTF8.self)
        }
        let throughput = try picture("chunk-throughput.svg")
        for words in ["openssl", "libgcrypt", ">ctr<", "cobblestone-128, 16 KiB chunks", "1 MiB chunks"] {
            #expect(throughput.contains(words), "\(words)")
        }
        #expect(try picture("chunk-latency.svg").contains("Latency of a read of 64 KiB by chunk size"))
        let page = String(decoding: try #require(files.first { $0.name == "report.md" }).bytes, as: UTF8.self)
        #expect(page.contains("whole chunks") && page.contains("cbc-chunked:iv-rule=fixed,chunk=64KiB"))
    }

    @Test("several formats at several chunks are a line each, and stand side by side in a table")
    func formats() throws {
        var cells = Self.mixed.cells + [Self.cell("ctr", workload: "random:64KiB", milliseconds: 1, microseconds: 4)]
        for (chunk, key) in [(16384, 32), (65536, 32)] as [(UInt64, Int)] {
            var result = Self.cell("cobblestone-256", chunk: chunk, key: key, milliseconds: 4)
            result.cell.strategy += ":chunk=\(chunk)"
            let cell = result.cell
            result.check?.cell = cell
            cells.append(result)
        }
        let files = renderReport(Self.results(cells))
        func text(_ name: String) throws -> String {
            String(decoding: try #require(files.first { $0.name == name }).bytes, as: UTF8.self)
        }
        let picture = try text("chunk-throughput.svg")
        for words in [">tink-aes-gcm-hkdf<", ">cobblestone-256<", ">ctr<", "a line for each format"] {
            #expect(picture.contains(words), "\(words)")
        }
        // A format with one chunk is no line.
        #expect(!picture.contains(">cobblestone-128<"))
        let page = try text("report.md")
        #expect(page.contains("Formats side by side") && page.contains("change, move, other file, cut"))
    }

    @Test("each use has what to take behind each distance, of the formats that suit it, with its bytes on disk")
    func uses() throws {
        var far = [("cobblestone-128", 16384, 60_000.0), ("tink-aes-gcm-hkdf", 65520, 41_000)].map {
            Self.cell($0, chunk: $1, workload: "random:64KiB", milliseconds: 9, microseconds: $2)
        }
        for index in far.indices {
            far[index].cell.remoteLatencyNanoseconds = 20_000_000
            let cell = far[index].cell
            far[index].check?.cell = cell
        }
        let short = [
            Self.cell("ctr", workload: "random:4KiB", milliseconds: 1, microseconds: 1),
            Self.cell(
                "cbc-chunked", chunk: 65536, workload: "random:4KiB", ivRule: "fixed", milliseconds: 1, microseconds: 3),
            Self.cell("tink-aes-gcm-hkdf", chunk: 65520, workload: "random:4KiB", milliseconds: 1, microseconds: 5),
            Self.cell("cobblestone-128", chunk: 16384, workload: "random:4KiB", milliseconds: 1, microseconds: 9),
        ]
        let wide = Self.cell("ctr", workload: "random:64KiB", milliseconds: 1, microseconds: 4)
        let older = Self.results(Self.mixed.cells + [wide] + far + short)
        var results = older
        for (text, facts) in older.header.strategies ?? [:] {
            // They differ from chunk to chunk.
            let lengths = StrategyFacts.Lengths(
                addedPerGiB: facts.isTagged ? (1 << 28) + UInt64(text.utf8.count) : 0,
                maxByteCount: facts.isTagged ? 1 << 40 : nil,
                rewrittenByteCount: text.hasPrefix("cbc-chunked") ? 4096 : nil)
            results.header.strategies?[text]?.lengths = lengths
        }
        func markdown(_ results: RunResults) throws -> String {
            let file = try #require(renderReport(results).first { $0.name == "report.md" })
            return String(decoding: file.bytes, as: UTF8.self)
        }
        func properties(_ page: String) -> [Substring] {
            page.split(separator: "\n").filter { $0.hasPrefix("| Notices") }
        }
        let (before, page) = (try markdown(older), try markdown(results))
        #expect(!properties(page).isEmpty && properties(page) == properties(before))
        let parts = page.components(separatedBy: "## What to take\n")
        let rows = try #require(parts.count == 2 ? parts[1] : nil).prefix { $0 != "#" }.split(separator: "\n")
            .filter { $0.contains("**") }
        let taken = rows.map { row in
            row.split(separator: "|").prefix(3).map { $0.prefix { $0 != "<" }.filter { $0 != " " } }
                .joined(separator: " ")
        }
        let tink = "**tink-aes-gcm-hkdf:segment=64KiB**"
        #expect(
            taken == [
                "films nothing **cobblestone-128**", "films 20.0ms \(tink)", "backups nothing \(tink)",
                "databases nothing \(tink)", "disks nothing **cbc-chunked:iv-rule=fixed,chunk=64KiB**",
            ])
        #expect(rows.first?.hasPrefix("| films<br><sub>2 measured</sub> |") == true)
        #expect(rows.first?.contains("| +25.0 % | – | – |") == true)
        #expect(rows.last?.contains("| +0 | change, move, other file, cut | – |") == true)
        #expect(page.contains("| +25.0 % | 1 TiB | change, move, other file, cut |"))
        #expect(page.contains("| +0 | any | nothing |"))
        for text in older.header.strategies?.keys.map(\.self) ?? [] {
            results.header.strategies?[text]?.lengths?.rewrittenByteCount = 8192
        }
        #expect(try !markdown(results).contains("| disks<br>"))
    }

    @Test("a run of a remote store alone has its latencies, throughput and first bytes in pictures")
    func remote() {
        var results = Self.mixed
        for index in results.cells.indices {
            results.cells[index].cell.remoteLatencyNanoseconds = 20_000_000
            let cell = results.cells[index].cell
            results.cells[index].check?.cell = cell
        }
        let names = Set(renderReport(results).map(\.name))
        #expect(names.isSuperset(of: ["latency.svg", "throughput.svg", "chunk-throughput.svg", "chunk-latency.svg"]))
    }
}

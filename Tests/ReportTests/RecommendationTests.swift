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

    @Test("the time to the first byte is the longer one of opening and of a read")
    func firstByte() throws {
        var results = Known.results
        results.cells = [Known.cell("a", 3, isWhole: false)]
        results.cells[0].latency = Known.latency(5_000_000)
        #expect(try Self.recommend(results).advice.choice?.firstByteNanoseconds == 5_000_000)
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
            result.rounds = [[1000], [1000]]
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
        threads.rounds = [[1000], [1000]]
        results.cells.append(threads)
        let reasons = try Self.recommend(results).reasons
        #expect(
            reasons.contains { $0.hasPrefix("With one thread (--threads 1) the choice would be a, 128 MiB windows") })
        #expect(
            reasons.contains { $0.hasPrefix("Without mapping the file (--source file) the choice would be a, 128") })
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
            result.rounds = [[1_000_000 + UInt64(index * 7919 % 900)], [1_000_000 + UInt64(index * 7919 % 900)]]
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

    @Test("one cell, one process and a failed cell are said")
    func odd() throws {
        var results = Known.results
        results.cells = [Known.cell("a", 4, isWhole: false), Known.cell("a", 5, isWhole: false)]
        results.cells[0].rounds = [[1_000_000, 1_000_001]]
        results.cells[1].failure = "wrong digest"
        results.isComplete = false
        let reasons = try Self.recommend(results).reasons
        #expect(reasons.first == "It is the only configuration that was measured, so nothing was compared.")
        for word in ["one process only", "wrong digest", "broken off"] {
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
        let budgets = Budgets(memoryByteCount: 64 << 20, firstByteNanoseconds: 5_000_000, amplification: 1.5)
        let choice = try Self.recommend(Known.results, budgets) { $0.workload = "playback" }
        let free = try Self.recommend(RealisticFixture.results)
        let none = try Self.recommend(Known.results, Budgets(memoryByteCount: 100_000, firstByteNanoseconds: 10))
        let files = [
            ("choice.txt", choice.text), ("choice.json", choice.json.text), ("choice.md", choice.markdown),
            ("free.txt", free.text), ("nothing-fits.txt", none.text),
        ]
        for (name, text) in files { try folder.expect(Array((text + "\n").utf8), in: name) }
        #expect(try folder.names.count == files.count)
    }
}

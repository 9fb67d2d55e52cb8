import Gate
import Results
import Support
import TestSupport
import Testing

@Suite("gate: records") struct GateRecordTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a record keeps every slice, and comes back as it was")
    func roundTrip() throws {
        let result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 1_100_000), in: folder)
        #expect(GateResult.parse(Array(result.json.text.utf8)) == result)
        let block = try #require(result.cells[0].phases[0].blocks.first)
        // A millisecond is a slice, and as many rounds of four as an eighth of a second has space for.
        #expect(block.order.count == 30 && block.baseline.count == 60 && block.candidate.count == 60)
        #expect(block.logRatio == GateBlock.logRatio(baseline: block.baseline, candidate: block.candidate))
        var other = result
        other.schema = "chunkwise-gate-0"
        #expect(GateResult.parse(Array(other.json.text.utf8)) == nil)
    }

    @Test("the members that scripts rely on are always there, without a figure as null")
    func members() throws {
        let bad = ScriptedSubject(digest: "00")
        for candidate in [ScriptedSubject(), bad] {
            let json = try gate(ScriptedSubject(), candidate, in: folder).summary
            #expect(json["verdict"]?.string != nil && json["control"] != nil)
            let cell = try #require(json["cells"]?.array?.first)
            for member in ["name", "verdict", "slowdown", "low", "high", "seconds"] {
                #expect(cell[member] != nil, "no \(member)")
            }
            #expect(cell["phases"] == nil && cell["blocks"]?.integer != nil)
        }
    }

    @Test(
        "stored ratios are compared with those of now",
        arguments: [(1_000_000, GateVerdict.same), (1_100_000, .slower), (900_000, .faster)])
    func against(nanoseconds: Int, verdict: GateVerdict) throws {
        let stored = try record()
        #expect(stored.ratios.count == 1 && abs(stored.ratios[0].ratio - 0.5) < 0.01)
        let result = try gate(
            ScriptedSubject(), ScriptedSubject(nanoseconds: nanoseconds / 2), in: folder
        ) { $0.stored = stored }
        let cell = try #require(result.cells.first)
        #expect(result.verdict == verdict && abs((cell.slowdown ?? 0) - Double(nanoseconds) / 1e6) < 0.01, "\(cell)")
        // The stored ratio's own uncertainty is in the interval.
        let now = RatioEstimate(estimate: 1, low: cell.low ?? 0, high: cell.high ?? 0)
        #expect(now.high - now.low > 0 && cell.stored != nil)
    }

    @Test("where a stored ratio is too uncertain, no time is asked for but another recording")
    func uncertain() throws {
        var stored = try record()
        // As many whatever the machine had time for.
        let middle = try #require(stored.ratios[0].logRatios.first)
        stored.ratios[0].logRatios = (0..<12).map { middle + ($0.isMultiple(of: 2) ? 0.2 : -0.2) }
        let result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 500_000), in: folder) {
            $0.stored = stored
        }
        let cell = try #require(result.cells.first)
        #expect(cell.verdict == .inconclusive && cell.secondsToSettle == nil)
        #expect(cell.reason?.contains("expected a longer recording") == true, "\(cell.reason ?? "")")
    }

    @Test("on another CPU, or with another version or other options of the reference, nothing is compared")
    func otherHost() throws {
        let changes: [((inout StoredRatios) -> Void, String)] = [
            ({ $0.cpuModel = "another" }, "another CPU model"), ({ $0.cpu?.flags.append("x") }, "other features"),
            ({ $0.reference.version = "2" }, "expected this one (baseline 1)"),
            ({ $0.reference.command += " --slow" }, "the same options"),
        ]
        for (change, reason) in changes {
            var stored = try record()
            change(&stored)
            let result = try gate(ScriptedSubject(), ScriptedSubject(), in: folder) { $0.stored = stored }
            #expect(result.verdict == .inconclusive && result.cells.isEmpty && result.notCompared.count == 1)
            #expect(result.reason?.contains(reason) == true, "\(result.reason ?? "")")
            #expect(result.answer(allowsInconclusive: true) == .none)
        }
    }

    @Test("with another library under the candidate, nothing is compared; with other words about it, all is")
    func otherLibrary() throws {
        var stored = try record()
        stored.candidate.version = "1 (lib 1.0)"
        func result(_ version: String) throws -> GateResult {
            try gate(ScriptedSubject(), ScriptedSubject(version: version), in: folder) { $0.stored = stored }
        }
        let other = try result("1 (lib 2.0)")
        #expect(other.verdict == .inconclusive && other.cells.isEmpty)
        #expect(other.reason?.contains("candidate on lib 1.0: expected this library (lib 2.0)") == true)
        for version in ["2 (lib 1.0)", "1 (lib 1.0, more)", "2"] {
            #expect(try result(version).cells.count == 1, "\(version)")
        }
    }

    @Test("ratios that no run gives, or of another cell than they say, are refused")
    func forged() throws {
        let stored = try record()
        let changes: [(inout StoredRatios) -> Void] = [
            { $0.ratios[0].name += "x" }, { $0.ratios.append($0.ratios[0]) }, { $0.ratios[0].logRatios = [] },
            { $0.ratios[0].logRatios[1] = 1e300 }, { $0.ratios[0].logRatios[1] = -21 }, { $0.ratios = [] },
        ]
        #expect(try StoredRatios.read(Array(stored.text.utf8), file: "f") == stored)
        for change in changes {
            var other = stored
            change(&other)
            #expect(throws: GateError.self) { try StoredRatios.read(Array(other.text.utf8), file: "f") }
        }
    }

    @Test(
        "files that are none are refused, with what was expected",
        arguments: [
            "", "[]", "{}", #"{"schema":"chunkwise-gate-ratios-9"}"#, #"{"schema":"chunkwise-gate-ratios-1"}"#,
        ])
    func badFiles(text: String) throws {
        let error = #expect(throws: GateError.self) { try StoredRatios.read(Array(text.utf8), file: "f.json") }
        #expect(error?.description.hasPrefix("f.json: ") == true && error?.description.contains("expected") == true)
    }

    @Test("a file of ratios with numbers that no cell has is refused")
    func impossible() throws {
        let text = try record().text
        for (member, number) in [("keyByteCount", "16"), ("threads", "1"), ("objectByteCount", nil)] {
            let value = number ?? text.firstMatch(of: /"objectByteCount": (\d+)/).map { String($0.1) } ?? ""
            let changed = text.replacing("\"\(member)\": \(value)", with: "\"\(member)\": 4611686018427387904")
            #expect(changed != text)
            let error = #expect(throws: GateError.self) { try StoredRatios.read(Array(changed.utf8), file: "f") }
            #expect("\(error, default: "")".contains("impossible"))
        }
    }

    private func record() throws -> StoredRatios {
        let result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 500_000), in: folder) {
            $0.isRecording = true
            $0.secondsPerCell = 0.5
        }
        let stored = StoredRatios(result)
        #expect(try StoredRatios.read(Array(stored.text.utf8), file: "") == stored)
        return stored
    }
}

import Foundation
import Gate
import Results
import TestSupport
import Testing

@Suite("gate: verdicts on scripted subjects") struct GateVerdictTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "the verdict is that of the times that the subjects claim",
        arguments: [
            (1_000_000, GateVerdict.same, GateAnswer.yes), (1_015_000, .same, .yes), (1_030_000, .slower, .no),
            (1_500_000, .slower, .no), (970_000, .faster, .yes), (985_000, .same, .yes),
        ] as [(Int, GateVerdict, GateAnswer)])
    func claimed(nanoseconds: Int, verdict: GateVerdict, answer: GateAnswer) throws {
        let result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: nanoseconds), in: folder)
        let cell = try #require(result.cells.first)
        #expect(result.verdict == verdict && cell.verdict == verdict, "\(cell)")
        #expect(result.answer(allowsInconclusive: false) == answer)
        let slowdown = try #require(cell.slowdown)
        #expect(abs(slowdown - Double(nanoseconds) / 1e6) < 0.005)
        let (low, high) = (try #require(cell.low), try #require(cell.high))
        #expect(low <= slowdown && slowdown <= high)
        #expect(cell.phases.count == (verdict == .slower ? 2 : 1))
        let control = try #require(result.control)
        #expect(control.injected == 0.03)
        if verdict == .same { #expect(control.isSeen && abs((control.slowdown ?? 0) - 1.03) < 0.005, "\(control)") }
    }

    @Test("an interval that holds the tolerance is inconclusive, and says how long would settle it")
    func inconclusive() throws {
        // Each process has a speed of its own, by its number: from 8 % faster to 12 % slower, around the tolerance.
        let noisy = ScriptedSubject(
            atHello: #"echo >>"$DIR/starts"; ns=$(( 920000 + $(wc -l <"$DIR/starts") * 79190 % 200000 ))"#)
        let result = try gate(ScriptedSubject(), noisy, in: folder) { $0.secondsPerCell = 0.5 }
        let cell = try #require(result.cells.first)
        #expect(result.verdict == .inconclusive && cell.reason != nil, "\(cell.slowdown ?? 0) \(cell.reason ?? "")")
        #expect(result.answer(allowsInconclusive: false) == .none)
        #expect(result.answer(allowsInconclusive: true) == .yes)
    }

    @Test("what is slower at first and not again is inconclusive, with an interval that spans both")
    func notReproduced() throws {
        try folder.file("slow", "")
        let candidate = ScriptedSubject(atTime: #"[ -e "$DIR/slow" ] && ns=1050000 || ns=1000000"#)
        let slow = folder.path("slow")
        let result = try gate(
            ScriptedSubject(), candidate, in: folder,
            progress: { label in
                if label.hasPrefix("confirming") { try? FileManager.default.removeItem(atPath: slow) }
            })
        let cell = try #require(result.cells.first)
        #expect(cell.verdict == .inconclusive && cell.reason?.contains("not reproduced") == true)
        #expect(cell.phases.count == 2 && cell.phases[0].seed != cell.phases[1].seed)
        #expect(cell.phases[0].looks.last?.verdict == .slower)
        let (low, high) = (try #require(cell.low), try #require(cell.high))
        #expect(low <= 1.02 && high > 1.02)
        // The second phase was sure of itself, so that no time is missing.
        #expect(cell.secondsToSettle == nil)
    }

    @Test("of a single block nothing is said, not even that no time would do")
    func singleBlock() throws {
        let result = try gate(ScriptedSubject(), ScriptedSubject(), in: folder) { $0.secondsPerCell = 0.0001 }
        let cell = try #require(result.cells.first)
        #expect(cell.verdict == .inconclusive && cell.reason == "1 block is too few" && cell.secondsToSettle == nil)
    }

    @Test("a clock whose ticks are longer than an iteration is not taken for endless speed")
    func coarseClock() throws {
        let ticks = #"""
            case "$line" in *'"minimumNanoseconds":3000000'*)
              echo '{"ok":true,"nanoseconds":[0,0,0,1000000]}'; continue;;
            esac
            """#
        let subject = ScriptedSubject(atTime: ticks)
        let block = try #require(try gate(subject, subject, in: folder).cells.first?.phases.first?.blocks.first)
        #expect(block.iterationCount == 2)
    }

    @Test(
        "wrong bytes are wrong, whoever delivers them, and are not timed",
        arguments: [
            (true, false, "the baseline delivered"), (false, true, "the candidate delivered"),
            (true, true, "both sides delivered"),
        ] as [(Bool, Bool, String)])
    func wrong(baseline: Bool, candidate: Bool, reason: String) throws {
        let bad = ScriptedSubject(nanoseconds: 10, digest: String(repeating: "00", count: 32))
        let result = try gate(baseline ? bad : ScriptedSubject(), candidate ? bad : ScriptedSubject(), in: folder)
        let cell = try #require(result.cells.first)
        #expect(result.verdict == .wrong && result.answer(allowsInconclusive: true) == .no)
        #expect(cell.reason?.contains(reason) == true, "\(cell.reason ?? "")")
        #expect(cell.slowdown == nil && cell.phases.isEmpty && result.control == nil)
    }

    @Test(
        "a subject that dies once is started again; the second time it has failed, and is not slow", arguments: [1, 2])
    func dies(times: Int) throws {
        for number in 0..<times { try folder.file("death\(number)", "") }
        let deaths = (0..<times).map {
            #"[ -e "$DIR/death\#($0)" ] && [ "$asked" = 20 ] && rm "$DIR/death\#($0)" && echo gone >&2 && exit 3; "#
        }
        let candidate = ScriptedSubject(atTime: "asked=$(( asked + 1 )); \(deaths.joined()):")
        let result = try gate(ScriptedSubject(), candidate, in: folder)
        let cell = try #require(result.cells.first)
        #expect(cell.verdict == (times == 1 ? .same : .failed), "\(cell.reason ?? "")")
        if times == 2 {
            #expect(cell.reason?.contains("candidate failed: the subject exited with status 3: gone") == true)
        }
    }

    @Test("a failure of each side is no second one of either")
    func bothDie() throws {
        try folder.file("first", "")
        try folder.file("second", "")
        // The baseline dies beside the candidate, not beside its own copy.
        let baseline = ScriptedSubject(
            atTime: #"""
                asked=$(( asked + 1 ))
                [ "$asked" = 20 ] && [ -e "$DIR/first" ] && kill -0 "$(cat "$DIR/pid")" 2>/dev/null \
                  && rm "$DIR/first" && exit 3
                """#)
        let candidate = ScriptedSubject(
            atOpen: #"echo $$ >"$DIR/pid""#,
            atTime: #"""
                asked=$(( asked + 1 ))
                [ "$asked" = 20 ] && [ ! -e "$DIR/first" ] && [ -e "$DIR/second" ] && rm "$DIR/second" && exit 3
                """#)
        let result = try gate(baseline, candidate, in: folder)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains("first") && !left.contains("second"))
        #expect(result.verdict == .same, "\(result.cells.first?.reason ?? "")")
    }

    @Test(
        "times that no clock gives are a failure",
        arguments: ["ns=0; echo '{\"ok\":true,\"nanoseconds\":[0]}'; continue", "ns=9007199254740000", "exit 0"])
    func impossible(atTime: String) throws {
        let result = try gate(ScriptedSubject(), ScriptedSubject(atTime: atTime), in: folder)
        #expect(result.verdict == .failed)
        #expect(result.cells.first?.reason?.contains("the candidate failed") == true, "\(result.cells)")
    }

    @Test("what a side does not support is counted, and nothing compared is no answer")
    func unsupported() throws {
        let refusal = #"echo '{"ok":false,"error":"unsupported","message":"not this one"}'; continue"#
        for candidate in [ScriptedSubject(strategies: ["ctr"]), ScriptedSubject(atOpen: refusal)] {
            let result = try gate(ScriptedSubject(), candidate, in: folder)
            #expect(result.cells.isEmpty && result.notCompared.count == 1 && result.verdict == .inconclusive)
            #expect(result.answer(allowsInconclusive: true) == .none)
            #expect(result.reason?.contains("nothing was compared") == true)
        }
    }

    @Test("where one side is served, so is the other; where only one could be, nothing is compared")
    func served() throws {
        let check = #"case "$line" in *'"byteCount"'*) ;; *) exit 9;; esac"#
        let both = ScriptedSubject(sources: ["path", "served"], atOpen: check)
        let result = try gate(both, ScriptedSubject(sources: ["served"], atOpen: check), in: folder)
        #expect(result.verdict == .same, "\(result.cells)")
        let neither = try gate(ScriptedSubject(), ScriptedSubject(sources: ["served"]), in: folder)
        #expect(neither.cells.isEmpty && neither.notCompared.first?.reason.contains("only reads files") == true)
    }

    @Test("cells that differ only in what the commands decide are one")
    func distinct() throws {
        var other = ScriptedSubject.cell
        (other.backend, other.threads, other.access, other.source) = ("openssl", 2, .freshBuffers, "mmap")
        let result = try gate(
            ScriptedSubject(), ScriptedSubject(), in: folder, cells: [other, ScriptedSubject.cell])
        #expect(result.cells.map(\.name) == [ScriptedSubject.cell.gateName])
    }

    @Test("commands that do not start, or cannot measure, end the gate before anything is measured")
    func noSubject() throws {
        #expect(throws: GateError.self) { try gate(ScriptedSubject(), ScriptedSubject(measures: false), in: folder) }
        for (command, expected) in [("exit 3", "did not start"), ("cat", "cannot be measured")] {
            let error = #expect(throws: GateError.self) {
                try gate(ScriptedSubject(), ScriptedSubject(), in: folder) { $0.candidate = command }
            }
            #expect(error?.description.contains(expected) == true, "\(command): \(error.map(\.description) ?? "")")
        }
    }

    @Test("a pass's processes run all cells: a program that comes up slowly is waited for once a pass")
    func startUp() throws {
        var other = ScriptedSubject.cell
        other.keyByteCount = 32
        let candidate = ScriptedSubject(atHello: #"echo started >>"$DIR/starts""#)
        let result = try gate(ScriptedSubject(), candidate, in: folder, cells: [ScriptedSubject.cell, other])
        #expect(result.verdict == .same && result.cells.count == 2, "\(result.cells.map(\.reason))")
        let passes = result.cells.map(\.blockCount).max() ?? 0
        let starts = try String(contentsOfFile: folder.path("starts"), encoding: .utf8).split(separator: "\n").count
        // Once to say hello, and once to be compared with what is right.
        #expect(starts == 2 + passes, "\(starts) starts, \(passes) passes")
    }

    @Test("a stop ends the run, and leaves no folder")
    func stop() throws {
        var asked = 0
        #expect(throws: GateError.interrupted) {
            try gate(
                ScriptedSubject(), ScriptedSubject(), in: folder,
                shouldStop: {
                    asked += 1
                    return asked > 20
                })
        }
    }

    @Test(
        "where what is injected is not seen, nothing is the same; what is slower or faster is so all the same",
        arguments: [
            (1_000_000, GateVerdict.noisyHost, GateAnswer.none), (1_100_000, .slower, .no), (900_000, .faster, .yes),
        ] as [(Int, GateVerdict, GateAnswer)])
    func blindGate(nanoseconds: Int, verdict: GateVerdict, answer: GateAnswer) throws {
        // Whatever is read, it claims the same time, as a stopped clock does.
        let baseline = ScriptedSubject(scale: "")
        let candidate = ScriptedSubject(nanoseconds: nanoseconds, scale: "")
        let result = try gate(baseline, candidate, in: folder) { $0.secondsPerCell = 0.5 }
        #expect(result.control?.isSeen == false)
        // Where nothing is called the same, the control may end with the cells, which a busy machine decides.
        let expected = "cannot see 3 % here: injected in a copy of the baseline"
        let reason = result.control?.reason ?? ""
        #expect(reason.hasPrefix(expected) || verdict != .noisyHost && reason.hasPrefix("ended with the cells"))
        #expect(result.verdict == verdict && result.cells.map(\.verdict) == [verdict], "\(result.cells)")
        #expect(result.answer(allowsInconclusive: true) == answer)
        if verdict == .noisyHost { #expect(result.cells[0].reason == result.control?.reason) }
    }

    @Test("a baseline that takes less time for more bytes is named as the cause of a gate that sees nothing")
    func shrinkingTimes() throws {
        let subject = ScriptedSubject(scale: "* 65536 / size")
        let result = try gate(subject, subject, in: folder)
        #expect(result.verdict == .noisyHost && result.control?.isSeen == false, "\(result.cells)")
        let words = "; the baseline takes less time for more bytes: expected a reader that takes longer for more bytes"
        #expect(result.control?.reason?.hasSuffix(words) == true, "\(result.control?.reason ?? "no reason")")
    }

    @Test(
        "a control's objects have as many windows and chunks, and differ by what is injected",
        arguments: [
            (256 << 10, nil, 1 << 20), (256 << 10, nil, 4 << 20), (4096, nil, 65536), (100 << 20, nil, 100 << 20),
            (256 << 10, 65536, 4 << 20), (65536, 1 << 20, 1 << 20), (16, nil, 10), (4 << 20, nil, 4 << 20),
        ] as [(UInt64, UInt64?, UInt64)])
    func injectedLength(window: UInt64, chunk: UInt64?, delivered: UInt64) {
        var cell = ScriptedSubject.cell
        (cell.windowByteCount, cell.chunkByteCount) = (window, chunk)
        let plain = InjectedLength.byteCount(for: cell, delivered: delivered)
        let longer = InjectedLength.longer(plain, by: 0.03)
        #expect(plain % 16 == 0 && longer % 16 == 0 && plain >= 65536 && plain <= 5 << 20)
        #expect(abs(Double(longer) / Double(plain) - 1.03) < 0.0005)
        for unit in [window, chunk].compactMap(\.self) where unit > plain / 28 {
            #expect((plain + unit - 1) / unit == (longer + unit - 1) / unit)
        }
    }
}

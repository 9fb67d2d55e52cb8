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
        #expect(result.control?.verdict == .same)
        #expect(result.control?.blockCount == cell.blockCount)
    }

    @Test("an interval that holds the tolerance is inconclusive, and says how long would settle it")
    func inconclusive() throws {
        // Each process has a speed of its own, from 5 % faster to 10 % slower.
        let noisy = ScriptedSubject(atHello: "ns=$(( 950000 + $$ * 7919 % 150000 ))")
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
        #expect(cell.verdict == (times == 1 ? .same : .wrong), "\(cell.reason ?? "")")
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
        #expect(result.verdict == .wrong)
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
        (other.backend, other.threads, other.access, other.source) = ("openssl", 2, "fresh-buffers", "mmap")
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

    @Test("a control that moved takes all blame from timed cells, and leaves what is wrong wrong")
    func noisyHost() throws {
        var result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 1_100_000), in: folder)
        var wrong = result.cells[0]
        wrong.verdict = .wrong
        let untimed = GateCell(name: "untimed", cell: ScriptedSubject.cell, reason: "not timed")
        result.cells += [wrong, untimed]
        result.blameHost("two copies differ")
        #expect(result.cells.map(\.verdict) == [.noisyHost, .wrong, untimed.verdict])
        #expect(result.cells[0].reason == "two copies differ; by itself the cell is slower")
        #expect(result.cells[2].reason == "not timed")
        result.cells.removeLast(2)
        result.verdict = .noisyHost
        #expect(result.answer(allowsInconclusive: true) == .none)
    }

    @Test("where the copies of the baseline differ, the host is unfit and a slow candidate is not blamed")
    func movedControl() throws {
        let candidate = ScriptedSubject(nanoseconds: 1_100_000)
        // A recording that has too little time takes as many blocks on any machine.
        let change: (inout GateSettings) -> Void = { ($0.isRecording, $0.secondsPerCell) = (true, 0.01) }
        // A subject does not know which copy it is; with the same seed, an earlier run tells which one starts first.
        let quiet = try gate(ScriptedSubject(), candidate, in: folder, change: change)
        let roles = try #require(quiet.control).phases.flatMap(\.blocks).map { $0.first == .candidate ? "1" : "2" }
        #expect(quiet.verdict == .slower && !roles.isEmpty)
        let baseline = ScriptedSubject(
            atOpen: """
                alive() { kill -0 "$(cat $DIR/$1 2>/dev/null)" 2>/dev/null; }
                me=1; if alive pid1; then me=2; echo >>$DIR/pairs; fi; echo $$ >$DIR/pid$me
                trap 'rm -f $DIR/pid$me' EXIT
                """,
            atTime: """
                if alive pid1 && alive pid2; then
                  set -- \(roles.joined(separator: " ")); shift $(( ( $(wc -l <$DIR/pairs) - 1 ) % $# ))
                  if [ $1 = $me ]; then ns=1100000; fi
                fi
                """)
        let result = try gate(baseline, candidate, in: folder, change: change)
        #expect(result.control?.verdict == .noisyHost)
        #expect(result.verdict == .noisyHost && result.cells.map(\.verdict) == [.noisyHost], "\(result.cells)")
        #expect(result.cells.first?.reason?.contains("two copies of the baseline differ") == true)
        #expect(result.answer(allowsInconclusive: true) == .none)
    }
}

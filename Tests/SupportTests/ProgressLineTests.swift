import Support
import Testing

@Suite("a line of progress") struct ProgressLineTests {
    private let line = ProgressLine(
        place: "37/108 cells", name: "libgcrypt 256KiB sequential", stage: "round 2 of 5", rest: "about 3 min left")

    @Test(
        "fits, and gives up the name first",
        arguments: [
            (80, "37/108 cells · libgcrypt 256KiB sequential · round 2 of 5 · about 3 min left"),
            (76, "37/108 cells · libgcrypt 256KiB sequential · round 2 of 5 · about 3 min left"),
            (75, "37/108 cells · libgcrypt 256KiB sequenti… · round 2 of 5 · about 3 min left"),
            (57, "37/108 cells · libgcry… · round 2 of 5 · about 3 min left"),
            (56, "37/108 cells · round 2 of 5 · about 3 min left"), (40, "37/108 cells · about 3 min left"),
            (20, "37/108 cells"), (5, "37/10"), (0, ""), (-3, ""),
        ])
    func fits(columns: Int, text: String) {
        #expect(line.text(columns: columns) == text)
    }

    @Test("is never wider than allowed", arguments: 0..<100)
    func width(columns: Int) {
        #expect(line.text(columns: columns).count <= columns)
    }

    @Test("what is not known is left out, and what drives a terminal too")
    func parts() {
        #expect(ProgressLine(place: "1/2", name: "").text(columns: 80) == "1/2")
        #expect(ProgressLine(place: "1/2", name: "a\u{1B}[2J\nb").text(columns: 80) == "1/2 · a [2J b")
    }

    @Test("a log gets a line each tenth, not more often than each 5 s, and each 30 s in any case")
    func pace() {
        var pace = ProgressPace()
        let asked: [(Double, Double, Bool)] = [
            (0, 0, false), (0.5, 4, false), (0.5, 5, true), (0.55, 20, false), (0.6, 21, true), (0.9, 25, false),
            (0.9, 26, true), (0.91, 55, false), (0.91, 56, true), (.nan, 57, false), (1, 61, true),
        ]
        for (share, seconds, isDue) in asked {
            #expect(pace.isDue(share: share, seconds: seconds) == isDue, "\(share) after \(seconds) s")
        }
    }
}

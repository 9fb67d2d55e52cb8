import Support
import Testing

@Suite("how long still") struct TimeLeftTests {
    private func steps(_ rounds: Int, _ items: [String: Double]) -> [TimeLeft.Step] {
        (0..<rounds).flatMap { _ in
            items.sorted { $0.key < $1.key }.map {
                TimeLeft.Step(kind: "round", item: $0.key, expectedSeconds: $0.value)
            }
        }
    }

    @Test("before anything is done, it is what was expected")
    func expectation() {
        let left = TimeLeft(steps(3, ["a": 1, "b": 4]))
        #expect(left.seconds == 15 && left.share == 0)
    }

    @Test("what an item took is what it takes")
    func item() {
        var left = TimeLeft(steps(3, ["a": 1, "b": 4]))
        left.end(0, seconds: 7)
        left.end(1, seconds: 2)
        #expect(left.seconds == 2 * (7 + 2))
        #expect(abs(left.share - 1.0 / 3) < 1e-12)
    }

    @Test("items of a kind are off as the others of that kind were; other kinds as all were")
    func kinds() {
        var left = TimeLeft([
            .init(kind: "memory", item: "a", expectedSeconds: 1), .init(kind: "memory", item: "b", expectedSeconds: 3),
            .init(kind: "round", item: "a", expectedSeconds: 10),
        ])
        left.end(0, seconds: 2)
        #expect(left.seconds == 6 + 20)
        left.end(1, seconds: 2)
        #expect(left.seconds == 10)
    }

    @Test("what need not be done takes no time and teaches nothing")
    func skipped() {
        var left = TimeLeft(steps(2, ["a": 5]))
        left.end(0, seconds: nil)
        #expect(left.seconds == 5 && left.share == 0.5)
        left.end(1, seconds: 3)
        left.end(1, seconds: 1000)
        left.end(7, seconds: 1)
        #expect(left.seconds == 0 && left.share == 1)
    }

    @Test("with every step, the estimate comes nearer to what it will be", arguments: [1, 2, 3])
    func converges(seed: UInt64) {
        let truth = { (index: Int) in Double((index * 7 + Int(seed)) % 10 + 1) }
        let count = 20
        // All expectations are 1: wrong by up to ten times.
        var left = TimeLeft(
            (0..<count * 4).map { .init(kind: "round", item: "\($0 % count)", expectedSeconds: 1) })
        var errors: [Double] = []
        for index in 0..<count * 4 {
            let rest = (index..<count * 4).reduce(0.0) { $0 + truth($1 % count) }
            errors.append(abs(left.seconds - rest))
            left.end(index, seconds: truth(index % count))
        }
        #expect(errors[count / 2] < errors[0])
        #expect(errors[count...].allSatisfy { $0 < 1e-9 })
    }

    @Test("no expectation is too strange", arguments: [0, -1, .nan, .infinity, 1e300])
    func strange(expected: Double) {
        var left = TimeLeft([
            .init(kind: "x", item: "a", expectedSeconds: expected),
            .init(kind: "x", item: "b", expectedSeconds: expected),
        ])
        #expect(left.seconds.isFinite && left.seconds > 0)
        left.end(0, seconds: .nan)
        #expect(left.seconds.isFinite)
        #expect(TimeLeft([]).seconds == 0 && TimeLeft([]).share == 1)
    }

    @Test(
        "words are no more exact than the estimate",
        arguments: [
            (0, "a few seconds left"), (5, "a few seconds left"), (5.1, "about 10 s left"), (38, "about 40 s left"),
            (55, "about 55 s left"), (56, "about 1 min left"), (89, "about 1 min left"), (91, "about 2 min left"),
            (181, "about 3 min left"), (5340, "about 89 min left"), (5400, "about 1 h 30 min left"),
            (7200, "about 2 h left"), (7700, "about 2 h 10 min left"), (1e300, "about 277777 h 50 min left"),
        ] as [(Double, String)])
    func words(seconds: Double, text: String) {
        #expect(TimeLeft.text(seconds: seconds) == text)
    }

    @Test("equal parts")
    func parts() {
        #expect(TimeLeft.seconds(finished: 0, of: 4, elapsed: 9) == nil)
        #expect(TimeLeft.seconds(finished: 1, of: 4, elapsed: 2) == 6)
        #expect(TimeLeft.seconds(finished: 5, of: 4, elapsed: 2) == 0)
    }
}

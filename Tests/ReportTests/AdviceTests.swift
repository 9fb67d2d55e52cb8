import Report
import Statistics
import Testing

@Suite("recommendations by hand")
struct AdviceTests {
    /// A candidate whose processes differ by up to 0.1 % from its rate.
    static func candidate(
        _ id: String, _ rate: Double, memory: UInt64? = 1 << 20, firstByte: UInt64? = 1000, amplification: Double? = 1,
        window: UInt64 = 4096, family: String? = nil, processes: [Double] = [0.999, 0.9995, 1, 1.0005, 1.001]
    ) -> Candidate {
        guard let sample = LogSample(processes.map { $0 * rate }) else { fatalError("no sample of \(rate)") }
        return Candidate(
            id: id, family: family ?? id, windowByteCount: window, sample: sample, memoryByteCount: memory,
            firstByteNanoseconds: firstByte, amplification: amplification)
    }

    @Test("near the best, less memory is taken, then a sooner first byte, then a smaller window")
    func preference() {
        let fast = Self.candidate("fast", 1000, memory: 4 << 20)
        let lean = Self.candidate("lean", 995, memory: 2 << 20, firstByte: 9)
        let sooner = Self.candidate("sooner", 990, memory: 2 << 20, firstByte: 8)
        let smaller = Self.candidate("smaller", 985, memory: 2 << 20, firstByte: 8, window: 16)
        func choice(_ candidates: [Candidate]) -> String? {
            Advice(candidates: candidates, budgets: Budgets()).choice?.id
        }
        #expect(choice([fast, lean]) == "lean")
        #expect(choice([fast, lean, sooner]) == "sooner")
        #expect(choice([fast, lean, sooner, smaller]) == "smaller")
        #expect(choice([fast, Self.candidate("slow", 940, memory: 1)]) == "fast")
        // As fast on average, but it is not shown: noise takes a candidate out, and never in.
        let noisy = Self.candidate("noisy", 1000, memory: 1, processes: [0.93, 0.97, 1, 1.03, 1.07])
        #expect(choice([fast, noisy]) == "fast")
    }

    @Test("memory that the kernel does not tell apart decides nothing")
    func resolution() {
        let one = Self.candidate("one", 1000, memory: 0, firstByte: 20)
        let other = Self.candidate("other", 1000, memory: 262_144, firstByte: 10)
        #expect(Advice(candidates: [one, other], budgets: Budgets()).choice?.id == "other")
        // A budget is compared with what was measured all the same.
        #expect(Advice(candidates: [one, other], budgets: Budgets(memoryByteCount: 1000)).choice?.id == "one")
    }

    @Test("a figure that is missing keeps no budget, and is counted")
    func missing() {
        let candidates = [
            Self.candidate("a", 3000, firstByte: nil), Self.candidate("b", 2000),
            Self.candidate("c", 1000, memory: nil),
        ]
        let advice = Advice(
            candidates: candidates, budgets: Budgets(memoryByteCount: 1 << 30, firstByteNanoseconds: 5000))
        #expect(advice.choice?.id == "b" && advice.fitting.count == 1)
        #expect(advice.withoutFigure.map(\.budget) == [.memory, .firstByte])
        #expect(advice.withoutFigure.map(\.count) == [1, 1])
        let none = Advice(candidates: [candidates[0]], budgets: Budgets(firstByteNanoseconds: 5000))
        #expect(none.choice == nil && none.raises.isEmpty)
    }

    @Test("what was timed in fewer than three processes is not chosen before what was timed in three, and is counted")
    func fewProcesses() {
        let single = Self.candidate("single", 1000, memory: 4 << 20, processes: [1])
        let two = Self.candidate("two", 990, memory: 1 << 20, processes: [0.999, 1.001])
        let few = Advice(candidates: [single, two], budgets: Budgets())
        #expect(few.choice?.id == "single" && few.nearBest.members.count == 1 && few.nearBest.bounds.isEmpty)
        #expect(few.runnerUp?.isTie == false && few.nearBest.unjudgedCount == 2)
        let judged = Advice(candidates: [single, two, Self.candidate("judged", 900)], budgets: Budgets())
        #expect(judged.choice?.id == "judged" && judged.nearBest.unjudgedCount == 2)
    }

    @Test("where nothing is shown to be within 5 %, the nearest is taken, and how near it is")
    func notShown() throws {
        let noisy = [0.9, 0.95, 1, 1.05, 1.1]
        let near = NearBest([
            Self.candidate("a", 1000, memory: 9 << 20, processes: noisy), Self.candidate("b", 990, processes: noisy),
        ])
        #expect(near.members.map(\.id) == ["a"] && !near.isShown)
        #expect(try #require(near.bounds["a"]) > 1.05)
    }

    @Test("the runner-up differs in more than the window where there is such a one")
    func runnerUp() {
        let choice = Self.candidate("choice", 1000, window: 16, family: "x")
        let window = Self.candidate("window", 900, window: 32, family: "x")
        let other = Self.candidate("other", 500, family: "y")
        let advice = Advice(candidates: [choice, window, other], budgets: Budgets())
        #expect(advice.runnerUp?.candidate.id == "other" && advice.runnerUp?.differsInWindowOnly == false)
        let same = Advice(candidates: [choice, window], budgets: Budgets())
        #expect(same.runnerUp?.candidate.id == "window" && same.runnerUp?.differsInWindowOnly == true)
        #expect(Advice(candidates: [choice], budgets: Budgets()).runnerUp == nil)
        let tied = Advice(candidates: [choice, Self.candidate("tied", 999.8, memory: 2 << 20)], budgets: Budgets())
        #expect(tied.runnerUp?.isTie == true)
    }

    @Test("the smallest raise is the one with the least factor, and throughput is lowered")
    func smallestRaise() {
        let candidates = [
            Self.candidate("small", 100, memory: 3 << 20, firstByte: 10_000),
            Self.candidate("quick", 50, memory: 1 << 20, firstByte: 10),
        ]
        let advice = Advice(
            candidates: candidates,
            budgets: Budgets(memoryByteCount: 1 << 20, firstByteNanoseconds: 20_000, bytesPerSecond: 100))
        #expect(advice.choice == nil)
        #expect(advice.raises.map { $0.raises.map(\.budget) } == [[.throughput], [.memory]])
        #expect(advice.raises.map(\.factor) == [2, 3])
        #expect(advice.raises.first?.raises.first?.needed == 50)
    }

    @Test("no candidates, no choice")
    func empty() {
        let advice = Advice(candidates: [], budgets: Budgets(memoryByteCount: 1))
        #expect(advice.choice == nil && advice.raises.isEmpty && advice.front.isEmpty && advice.withoutFigure.isEmpty)
    }
}

/// Candidates and budgets drawn from a seed.
struct Samples {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 { .random(in: range, using: &generator) }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < share }

    /// Few different values, so that ties and equal figures are frequent.
    mutating func candidate(_ id: Int) -> Candidate {
        let rate = Double(number(20...60) * 100)
        let noise = Double(number(0...4)) / 500
        let count = chance(0.9) ? number(3...5) : number(1...2)
        return AdviceTests.candidate(
            "c\(id)", rate, memory: chance(0.9) ? number(0...16) << 17 : nil,
            firstByte: chance(0.9) ? number(1...12) * 1000 : nil,
            amplification: chance(0.9) ? Double(number(4...12)) / 4 : nil, window: 1 << number(4...10),
            family: "f\(number(0...5))",
            processes: (0..<count).map { _ in 1 + noise * (Double(number(0...1000)) / 500 - 1) })
    }

    mutating func candidates(_ range: ClosedRange<UInt64>) -> [Candidate] {
        let count = Int(number(range))
        return (0..<count).map { candidate($0) }
    }

    mutating func budgets() -> Budgets {
        Budgets(
            memoryByteCount: chance(0.5) ? number(1...16) << 17 : nil,
            firstByteNanoseconds: chance(0.5) ? number(500...12_500) : nil,
            amplification: chance(0.5) ? Double(number(3...12)) / 4 : nil,
            bytesPerSecond: chance(0.3) ? number(1...6000) : nil)
    }
}

import Measurement
import Results
import Support

/// How far a sweep is, on standard error.
struct SweepProgress {
    private let steps: [SweepStep]
    private let places: [(number: Int, count: Int)]
    private let roundCount: Int
    private let display = ProgressDisplay()
    private var timeLeft: TimeLeft

    /// Starts with what a plan was expected to take.
    init(_ estimate: SweepEstimate) {
        steps = estimate.steps
        timeLeft = TimeLeft(
            zip(estimate.steps, estimate.stepSeconds).map { step, seconds in
                TimeLeft.Step(kind: Self.kind(step.pass), item: step.cell.id, expectedSeconds: seconds)
            })
        var counts: [SweepStep.Pass: Int] = [:]
        let numbers = steps.map { step in
            counts[step.pass, default: 0] += 1
            return counts[step.pass] ?? 0
        }
        places = zip(steps, numbers).map { ($1, counts[$0.pass] ?? 0) }
        roundCount = counts.keys.count { if case .time = $0 { true } else { false } }
    }

    /// Takes in what happened, and shows it.
    mutating func note(_ event: SweepEvent) {
        switch event {
        case .notNeeded(let index): timeLeft.end(index, seconds: nil)
        case .ended(let index, let seconds): timeLeft.end(index, seconds: seconds)
        case .starts(let index):
            let step = steps[index]
            display.show(
                ProgressLine(
                    place: "\(places[index].number)/\(places[index].count) cells", name: step.cell.shortName,
                    stage: stage(step.pass), rest: TimeLeft.text(seconds: timeLeft.seconds)),
                share: timeLeft.share)
        }
    }

    private func stage(_ pass: SweepStep.Pass) -> String {
        if case .time(let round) = pass { "round \(round + 1) of \(roundCount)" } else { Self.kind(pass) }
    }

    private static func kind(_ pass: SweepStep.Pass) -> String {
        switch pass {
        case .check: "plaintext check"
        case .memory: "memory"
        case .latencies: "latencies"
        case .time: "round"
        }
    }
}

/// How long a list of steps still takes: expectations that give way to what was measured.
///
/// A step that is still to come is taken to last as long as steps of its kind on the same item did on average; else its
/// expectation times how far those of its kind were off; else times how far all were off; else its expectation.
package struct TimeLeft: Sendable {
    /// One piece of work.
    package struct Step: Hashable, Sendable {
        /// What is done, such as `memory`; steps of one kind are off their expectation alike.
        package var kind: String
        /// What it is done to; steps of one kind on one item take equally long.
        package var item: String
        /// How long it may take, in seconds.
        package var expectedSeconds: Double

        /// Creates a step.
        package init(kind: String, item: String, expectedSeconds: Double) {
            self.kind = kind
            self.item = item
            self.expectedSeconds = expectedSeconds
        }
    }

    private struct Key: Hashable {
        var kind: String
        var item: String
    }

    private struct Sum {
        var count = 0.0
        var seconds = 0.0
        var expected = 0.0

        mutating func add(_ seconds: Double, expected: Double) {
            count += 1
            self.seconds += seconds
            self.expected += expected
        }
    }

    private var steps: [Step]
    private var isPending: [Bool]
    private var ofItem: [Key: Sum] = [:]
    private var ofKind: [String: Sum] = [:]
    private var ofAll = Sum()

    /// Takes the steps in the order in which they are numbered from now on.
    package init(_ steps: [Step]) {
        self.steps = steps.map { step in
            var step = step
            if !(step.expectedSeconds > Self.least) { step.expectedSeconds = Self.least }
            step.expectedSeconds = min(step.expectedSeconds, 1e9)
            return step
        }
        isPending = [Bool](repeating: true, count: steps.count)
    }

    /// Expectations are divided by, so that none is 0.
    private static let least = 1e-6

    /// Notes that a step has ended.
    ///
    /// - Parameters:
    ///   - index: Its number.
    ///   - seconds: How long it took; `nil` for one that need not be done, of which nothing is learned.
    package mutating func end(_ index: Int, seconds: Double?) {
        guard isPending.indices.contains(index), isPending[index] else { return }
        isPending[index] = false
        guard let seconds, seconds >= 0, seconds.isFinite else { return }
        let step = steps[index]
        ofItem[Key(kind: step.kind, item: step.item), default: Sum()].add(seconds, expected: step.expectedSeconds)
        ofKind[step.kind, default: Sum()].add(seconds, expected: step.expectedSeconds)
        ofAll.add(seconds, expected: step.expectedSeconds)
    }

    /// The seconds that the steps take that have not ended. O(number of steps).
    package var seconds: Double { sum { isPending[$0] } }

    /// How much is done, from 0 to 1, by time; 1 where there is nothing to do. O(number of steps).
    package var share: Double {
        let whole = sum { _ in true }
        return whole > 0 ? 1 - seconds / whole : 1
    }

    private func sum(where isMeant: (Int) -> Bool) -> Double {
        steps.indices.reduce(0) { isMeant($1) ? $0 + estimate(steps[$1]) : $0 }
    }

    private func estimate(_ step: Step) -> Double {
        if let sum = ofItem[Key(kind: step.kind, item: step.item)] { return sum.seconds / sum.count }
        let sum = ofKind[step.kind] ?? ofAll
        return sum.count > 0 ? step.expectedSeconds * sum.seconds / sum.expected : step.expectedSeconds
    }

    /// The seconds that equal parts still take, by what the finished ones took; `nil` before the first is finished.
    package static func seconds(finished: Int, of total: Int, elapsed: Double) -> Double? {
        guard finished > 0, elapsed >= 0 else { return nil }
        return elapsed / Double(finished) * Double(max(0, total - finished))
    }

    /// A rest in words, no more exact than it is: `about 40 s left`, `about 3 min left`, `about 2 h 10 min left`.
    package static func text(seconds: Double) -> String {
        guard seconds > 5 else { return "a few seconds left" }
        let whole = Int(min(seconds, 1e9).rounded(.up))
        if whole <= 55 { return "about \((whole + 4) / 5 * 5) s left" }
        let minutes = (whole + 30) / 60
        if minutes < 90 { return "about \(max(1, minutes)) min left" }
        let tens = (minutes + 5) / 10 * 10
        return "about \(tens / 60) h\(tens % 60 == 0 ? "" : " \(tens % 60) min") left"
    }
}

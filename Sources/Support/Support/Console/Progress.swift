/// The remaining time of a list of steps: estimates that measurements replace.
///
/// The estimate of a pending step is the average duration of steps of its kind on the same item. Without such steps, it
/// is its expectation, scaled by the error of its kind; else scaled by the error of all steps; else its expectation.
package struct TimeLeft: Sendable {
    /// One piece of work.
    package struct Step: Hashable, Sendable {
        /// The kind of work, such as `memory`; steps of one kind have similar errors in their expectations.
        package var kind: String
        /// The item of the work; steps of one kind on one item take equally long.
        package var item: String
        /// The expected duration in seconds.
        package var expectedSeconds: Double

        package init(kind: String, item: String, expectedSeconds: Double) {
            self.kind = kind
            self.item = item
            self.expectedSeconds = expectedSeconds
        }
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

    /// A step, with its kind and item as indices of the sums: plans have tens of thousands of steps.
    private struct Pending {
        var expected: Double
        var kind: Int
        var item: Int
        var isPending = true
    }

    private var steps: [Pending]
    private var ofItem: [Sum]
    private var ofKind: [Sum]
    private var ofAll = Sum()

    /// Takes the steps in the order of their later numbers.
    package init(_ steps: [Step]) {
        var kinds: [String: Int] = [:]
        var items: [[String]: Int] = [:]
        self.steps = steps.map { step in
            // Expectations are divisors, so none may be 0.
            let expected = step.expectedSeconds > 1e-6 ? min(step.expectedSeconds, 1e9) : 1e-6
            return Pending(
                expected: expected, kind: Self.index(of: step.kind, in: &kinds),
                item: Self.index(of: [step.kind, step.item], in: &items))
        }
        ofKind = [Sum](repeating: Sum(), count: kinds.count)
        ofItem = [Sum](repeating: Sum(), count: items.count)
    }

    private static func index<Key: Hashable>(of key: Key, in indices: inout [Key: Int]) -> Int {
        let next = indices.count
        return indices[key]
            ?? {
                indices[key] = next; return next
            }()
    }

    /// Records the end of a step.
    ///
    /// - Parameters:
    ///   - index: The step's number.
    ///   - seconds: Its duration; `nil` for a skipped step, which does not affect the estimates.
    package mutating func end(_ index: Int, seconds: Double?) {
        guard steps.indices.contains(index), steps[index].isPending else { return }
        steps[index].isPending = false
        guard let seconds, seconds >= 0, seconds.isFinite else { return }
        let step = steps[index]
        ofItem[step.item].add(seconds, expected: step.expected)
        ofKind[step.kind].add(seconds, expected: step.expected)
        ofAll.add(seconds, expected: step.expected)
    }

    /// The estimated seconds of all pending steps. O(number of steps).
    package var seconds: Double { steps.reduce(0) { $1.isPending ? $0 + estimate($1) : $0 } }

    /// The finished share of the time, from 0 to 1; 1 if there is nothing to do. O(number of steps).
    package var share: Double {
        let whole = steps.reduce(0) { $0 + estimate($1) }
        return whole > 0 ? 1 - seconds / whole : 1
    }

    private func estimate(_ step: Pending) -> Double {
        let same = ofItem[step.item]
        if same.count > 0 { return same.seconds / same.count }
        let alike = ofKind[step.kind].count > 0 ? ofKind[step.kind] : ofAll
        return alike.count > 0 ? step.expected * alike.seconds / alike.expected : step.expected
    }

    /// Returns the remaining seconds of equal parts, given the duration of the finished ones; `nil` before the first is
    /// finished.
    package static func seconds(finished: Int, of total: Int, elapsed: Double) -> Double? {
        guard finished > 0, elapsed >= 0 else { return nil }
        return elapsed / Double(finished) * Double(max(0, total - finished))
    }

    /// Returns a remaining time in words, with suitable precision: `about 40 s left`, `about 3 min left`, `about 2 h 10
    /// min left`.
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

/// The current work, its progress, and the remaining time, in one line.
package struct ProgressLine: Hashable, Sendable {
    /// The progress: `37/108 cells`.
    package var position: String
    /// The current work: `libgcrypt 256KiB sequential`. It is the first part to be shortened.
    package var name: String
    /// The pass: `round 2 of 5`; empty if there is only one.
    package var stage: String
    /// The remaining time: `about 3 min left`; empty while it is unknown.
    package var rest: String

    package init(position: String, name: String, stage: String = "", rest: String = "") {
        self.position = position
        self.name = name
        self.stage = stage
        self.rest = rest
    }

    /// Returns the line within a number of columns: first the name is shortened, then omitted, then the stage, then
    /// the rest.
    package func text(columns: Int) -> String {
        let name = Self.printable(name)
        func joined(_ parts: [String]) -> String { parts.filter { !$0.isEmpty }.joined(separator: " · ") }
        let whole = joined([position, name, stage, rest])
        if whole.count <= columns { return whole }
        let width = columns - (whole.count - name.count)
        if width >= Self.minName { return joined([position, name.prefix(width - 1) + "…", stage, rest]) }
        for parts in [[position, stage, rest], [position, rest], [position]] {
            let text = joined(parts)
            if text.count <= columns { return text }
        }
        return String(position.prefix(max(0, columns)))
    }

    /// The min length of a shortened name; less of it would say nothing.
    private static let minName = 8

    /// Returns text without terminal control characters.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
    }
}

/// Decides when progress is worth a line in a log: at each tenth of the work, at most every 5 seconds and at least
/// every 30 seconds.
package struct ProgressPace: Hashable, Sendable {
    private var lastTenth = 0
    private var lastSeconds = 0.0

    /// The pace at the start of the work.
    package init() {}

    /// Returns whether a line is due, and counts it as written if it is.
    ///
    /// - Parameters:
    ///   - share: The finished share, from 0 to 1.
    ///   - seconds: The time since the start.
    /// - Returns: `true` to write a line.
    package mutating func isDue(share: Double, seconds: Double) -> Bool {
        let tenth = Int(max(0, min(1, share)) * 10)
        let passed = seconds - lastSeconds
        guard passed >= 30 || passed >= 5 && tenth > lastTenth else { return false }
        lastSeconds = seconds
        lastTenth = tenth
        return true
    }
}

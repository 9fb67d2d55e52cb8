import Glibc

/// Things that are timed in turns, so that what else the machine does hits all alike.
struct Race {
    /// A thing's name, and what runs it once and says how long that took.
    typealias Runner = (name: String, run: () throws -> UInt64)

    private(set) var nanoseconds: [[UInt64]]
    private let names: [String]

    /// Runs each runner once untimed, then `roundCount` rounds of all of them, each round in another order.
    init(_ runners: [Runner], roundCount: Int) throws {
        names = runners.map(\.name)
        nanoseconds = runners.map { _ in [] }
        for runner in runners { _ = try runner.run() }
        for _ in 0..<roundCount {
            for index in runners.indices.shuffled() {
                nanoseconds[index].append(try runners[index].run())
            }
        }
    }

    /// The median of a runner's times.
    func median(_ index: Int) -> UInt64 { Race.median(nanoseconds[index]) }

    /// How many times as fast as runner `base` another one is, by their medians.
    func speed(_ index: Int, over base: Int) -> Double { Double(median(base)) / Double(median(index)) }

    /// The same of each round: the median, and the ends of its 95 % interval.
    func ratio(_ index: Int, over base: Int) -> String {
        let ratios = zip(nanoseconds[base], nanoseconds[index]).map { Double($0) / Double($1) }
        let ends = Race.interval(ratios)
        return "\(decimals(Race.median(ratios))) (\(decimals(ends.low)) to \(decimals(ends.high)))"
    }

    /// Prints a line a runner: the median, the least, and the speed over the first.
    func show(_ title: String, byteCount: UInt64? = nil) {
        print(title)
        for (index, name) in names.enumerated() {
            var line = "  " + name.padded(to: 34) + milliseconds(median(index)).leftPadded(to: 12) + " ms"
            line += (nanoseconds[index].min().map(milliseconds) ?? "").leftPadded(to: 12) + " ms least"
            if let byteCount {
                line += (decimals(Double(byteCount) / Double(median(index))) + " GB/s").leftPadded(to: 12)
            }
            print(line + decimals(speed(index, over: 0)).leftPadded(to: 8) + " x")
        }
    }

    /// Prints a line for the table of Benchmarks/all: how many times as fast as runner `base` another one is, and the goal.
    func goal(
        _ what: String, _ index: Int, over base: Int, atLeast least: Double = 0, atMost most: Double = .infinity
    ) {
        let ratio = Race.median(zip(nanoseconds[base], nanoseconds[index]).map { Double($0) / Double($1) })
        Race.goal(
            what, self.ratio(index, over: base), most.isFinite ? "≤ \(most)" : "≥ \(least)",
            (least...most).contains(ratio))
    }

    /// Prints a line for the table of Benchmarks/all; comparison.py says its form.
    static func goal(_ what: String, _ measured: String, _ goal: String, _ isMet: Bool) {
        print("goal\t\(what)\t\(measured)\t\(goal)\t\(isMet ? "met" : "MISSED")")
    }

    static func median<Value: Comparable & ExpressibleByIntegerLiteral>(_ values: [Value]) -> Value {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The ends of a median's 95 % interval: a sign test's, by the normal approximation, of many values.
    static func interval(_ values: [Double]) -> (low: Double, high: Double) {
        let sorted = values.sorted()
        let half = Double(sorted.count) / 2
        let distance = 1.96 * half.squareRoot() / 2.0.squareRoot()
        return (
            sorted[max(0, Int((half - distance).rounded(.down)))],
            sorted[min(sorted.count - 1, Int((half + distance).rounded(.up)))]
        )
    }
}

/// The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How long `body` takes.
func timed(_ body: () throws -> Void) rethrows -> UInt64 {
    let start = monotonicNanoseconds()
    try body()
    return monotonicNanoseconds() - start
}

/// A number with three decimals.
func decimals(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    let rest = "\(thousandths % 1000)"
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
}

/// A length in the greatest unit that it is a multiple of.
func size(_ byteCount: Int) -> String {
    for (unit, name) in [(1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB")] where byteCount % unit == 0 {
        return "\(byteCount / unit) \(name)"
    }
    return "\(byteCount) bytes"
}

/// Nanoseconds as milliseconds.
func milliseconds(_ nanoseconds: UInt64) -> String { decimals(Double(nanoseconds) / 1e6) }

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

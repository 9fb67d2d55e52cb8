import Support

/// The figure that a budget limits.
package enum Budget: String, CaseIterable, Hashable, Sendable {
    /// Memory growth in bytes; a maximum.
    case memory
    /// The time to the first byte in nanoseconds; a maximum.
    case firstByte
    /// Ciphertext bytes fetched per plaintext byte; a maximum.
    case amplification
    /// Plaintext bytes per second; a minimum.
    case throughput
}

/// The limits that a choice must keep; `nil` is no limit.
package struct Budgets: Hashable, Sendable {
    /// The maximum memory growth, in bytes.
    package var memoryByteCount: UInt64?
    /// The maximum time to the first byte, in nanoseconds.
    package var firstByteNanoseconds: UInt64?
    /// The maximum number of ciphertext bytes fetched per plaintext byte.
    package var amplification: Double?
    /// The minimum throughput, in plaintext bytes per second.
    package var bytesPerSecond: UInt64?

    package init(
        memoryByteCount: UInt64? = nil, firstByteNanoseconds: UInt64? = nil, amplification: Double? = nil,
        bytesPerSecond: UInt64? = nil
    ) {
        self.memoryByteCount = memoryByteCount
        self.firstByteNanoseconds = firstByteNanoseconds
        self.amplification = amplification
        self.bytesPerSecond = bytesPerSecond
    }

    /// The budgets that are given, in the order of `Budget.allCases`.
    package var given: [Budget] { Budget.allCases.filter { limit($0) != nil } }

    /// Returns a limit as a number, or `nil` if there is none.
    ///
    /// A double holds every whole number up to 2⁵³ exactly. No budget in bytes or nanoseconds comes near that.
    package func limit(_ budget: Budget) -> Double? {
        switch budget {
        case .memory: memoryByteCount.map { Double($0) }
        case .firstByte: firstByteNanoseconds.map { Double($0) }
        case .amplification: amplification
        case .throughput: bytesPerSecond.map { Double($0) }
        }
    }

    /// Returns the budgets without one of them.
    package func without(_ budget: Budget) -> Budgets {
        var others = self
        switch budget {
        case .memory: others.memoryByteCount = nil
        case .firstByte: others.firstByteNanoseconds = nil
        case .amplification: others.amplification = nil
        case .throughput: others.bytesPerSecond = nil
        }
        return others
    }
}

extension Candidate {
    /// Returns the figure that a budget limits, or `nil` if it is missing.
    package func figure(_ budget: Budget) -> Double? {
        switch budget {
        case .memory: memoryByteCount.map { Double($0) }
        case .firstByte: firstByteNanoseconds.map { Double($0) }
        case .amplification: amplification
        case .throughput: Double(bytesPerSecond)
        }
    }

    /// Returns whether the candidate keeps one budget. A candidate without the figure does not keep it.
    package func keeps(_ budget: Budget, of budgets: Budgets) -> Bool {
        guard let limit = budgets.limit(budget) else { return true }
        guard let figure = figure(budget) else { return false }
        return budget == .throughput ? figure >= limit : figure <= limit
    }

    /// Returns whether the candidate keeps all budgets.
    package func keeps(_ budgets: Budgets) -> Bool {
        Budget.allCases.allSatisfy { keeps($0, of: budgets) }
    }
}

/// Budgets and figures as text for people and for command-line options.
enum BudgetText {
    static func name(_ budget: Budget) -> String {
        switch budget {
        case .memory: "memory"
        case .firstByte: "first byte"
        case .amplification: "amplification"
        case .throughput: "throughput"
        }
    }

    /// Returns a limit as the user gave it: `64 MiB`, `5.00 ms`, `1.1×`, `1 GB/s`.
    static func limit(_ budget: Budget, _ value: Double) -> String {
        switch budget {
        case .memory: ByteCountText.size(UInt64(nearest: value))
        case .firstByte: DurationText.text(nanoseconds: UInt64(nearest: value))
        case .amplification: RatioText.times(value)
        case .throughput: ByteCountText.size(UInt64(nearest: value)) + "/s"
        }
    }

    static func figure(_ budget: Budget, _ value: Double) -> String {
        switch budget {
        case .memory: ByteCountText.measured(UInt64(nearest: value))
        case .throughput: ByteCountText.rate(UInt64(nearest: value))
        case .firstByte, .amplification: limit(budget, value)
        }
    }

    /// Returns the given budgets in words, or `nil` if there are none.
    static func list(_ budgets: Budgets) -> String? {
        let parts = budgets.given.compactMap { budget in
            budgets.limit(budget).map {
                "\(name(budget)) at \(budget == .throughput ? "least" : "most") \(limit(budget, $0))"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Returns the option that sets a raised budget. Its value is rounded so that the candidate keeps it.
    static func option(_ raise: Raise) -> String {
        switch raise.budget {
        case .memory: "--memory \(bytes(UInt64(nearest: raise.needed)))"
        case .firstByte: "--first-byte \(duration(UInt64(nearest: raise.needed)))"
        case .amplification: "--amplification \(ratio(raise.needed))"
        case .throughput: "--throughput \(rate(UInt64(nearest: raise.needed)))"
        }
    }

    /// Returns a size as options take it, without rounding.
    static func exact(_ byteCount: UInt64) -> String {
        for (unit, size) in [("MiB", UInt64(1 << 20)), ("KiB", 1 << 10), ("MB", 1_000_000)]
        where byteCount > 0 && byteCount.isMultiple(of: size) {
            return "\(byteCount / size)\(unit)"
        }
        return "\(byteCount)B"
    }

    /// Returns a size, rounded up to whole KiB, or to whole MiB from 10 MiB on.
    private static func bytes(_ count: UInt64) -> String {
        let isLarge = count >= 10 << 20
        let unit: UInt64 = isLarge ? 1 << 20 : 1 << 10
        return "\(count / unit + (count.isMultiple(of: unit) ? 0 : 1))\(isLarge ? "MiB" : "KiB")"
    }

    /// Returns a duration, rounded up to three digits.
    private static func duration(_ nanoseconds: UInt64) -> String {
        let unit = [("ns", UInt64(1)), ("us", 1000), ("ms", 1_000_000)].last { nanoseconds >= $0.1 } ?? ("ns", 1)
        return threeDigits(nanoseconds, unit: unit.1, up: true) + unit.0
    }

    /// Returns a rate, rounded down to three digits.
    private static func rate(_ bytesPerSecond: UInt64) -> String {
        let units = [("B", UInt64(1)), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
        let unit = units.last { bytesPerSecond >= $0.1 } ?? ("B", 1)
        return threeDigits(bytesPerSecond, unit: unit.1, up: false) + unit.0 + "/s"
    }

    /// Returns a ratio, rounded up to a hundredth, or to a whole number from 100 on.
    private static func ratio(_ value: Double) -> String {
        let hundredths = (value * 100).rounded(.up)
        guard value < 100, hundredths < 10_000 else { return "\(UInt64(nearest: value.rounded(.up)))" }
        return SignificantDigits.fixed(hundredths / 100, places: 2)
    }

    /// Returns a number in a unit, with up to two decimal places for three digits in all. A unit of 1 has no decimal
    /// places.
    private static func threeDigits(_ value: UInt64, unit: UInt64, up: Bool) -> String {
        let places = unit == 1 || value / unit >= 100 ? 0 : value / unit >= 10 ? 1 : 2
        let scale = (0..<places).reduce(UInt64(1)) { power, _ in power * 10 }
        let step = unit / scale
        let steps = value / step + (up && !value.isMultiple(of: step) ? 1 : 0)
        guard places > 0 else { return String(steps) }
        let fraction = String(steps % scale)
        return "\(steps / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}

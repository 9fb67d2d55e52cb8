import Support

/// What a budget limits.
package enum Budget: String, CaseIterable, Hashable, Sendable {
    /// How far memory rises, in bytes: at most.
    case memory
    /// The time to the first byte, in nanoseconds: at most.
    case firstByte
    /// Ciphertext bytes fetched per plaintext byte: at most.
    case amplification
    /// Plaintext bytes per second: at least.
    case throughput
}

/// The limits that a choice must keep; what is `nil` is not limited.
package struct Budgets: Hashable, Sendable {
    /// The max rise of memory, in bytes.
    package var memoryByteCount: UInt64?
    /// The max time to the first byte, in nanoseconds.
    package var firstByteNanoseconds: UInt64?
    /// The max number of ciphertext bytes fetched per plaintext byte.
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

    /// Returns a limit as a number, or `nil` where there is none.
    ///
    /// A double holds every whole number up to 2⁵³ exactly, which no budget of bytes or nanoseconds comes near.
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
    /// The figure that a budget limits, or `nil` where it is missing.
    package func figure(_ budget: Budget) -> Double? {
        switch budget {
        case .memory: memoryByteCount.map { Double($0) }
        case .firstByte: firstByteNanoseconds.map { Double($0) }
        case .amplification: amplification
        case .throughput: Double(bytesPerSecond)
        }
    }

    /// Says whether the candidate keeps one budget; what is not measured keeps none.
    package func keeps(_ budget: Budget, of budgets: Budgets) -> Bool {
        guard let limit = budgets.limit(budget) else { return true }
        guard let figure = figure(budget) else { return false }
        return budget == .throughput ? figure >= limit : figure <= limit
    }

    /// Says whether the candidate keeps all budgets.
    package func keeps(_ budgets: Budgets) -> Bool {
        Budget.allCases.allSatisfy { keeps($0, of: budgets) }
    }
}

/// Budgets and figures as people read them and as options take them.
enum BudgetText {
    static func name(_ budget: Budget) -> String {
        switch budget {
        case .memory: "memory"
        case .firstByte: "first byte"
        case .amplification: "amplification"
        case .throughput: "throughput"
        }
    }

    /// A limit as it was given: `64 MiB`, `5.00 ms`, `1.1×`, `1 GB/s`.
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

    /// The given budgets in words, or `nil` where there is none.
    static func list(_ budgets: Budgets) -> String? {
        let parts = budgets.given.compactMap { budget in
            budgets.limit(budget).map {
                "\(name(budget)) at \(budget == .throughput ? "least" : "most") \(limit(budget, $0))"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The option after which a raised budget is kept: its value is rounded away from what is needed.
    static func option(_ raise: Raise) -> String {
        switch raise.budget {
        case .memory: "--memory \(bytes(UInt64(nearest: raise.needed)))"
        case .firstByte: "--first-byte \(duration(UInt64(nearest: raise.needed)))"
        case .amplification: "--amplification \(ratio(raise.needed))"
        case .throughput: "--throughput \(rate(UInt64(nearest: raise.needed)))"
        }
    }

    /// A size as options take it, without rounding.
    static func exact(_ byteCount: UInt64) -> String {
        for (unit, size) in [("MiB", UInt64(1 << 20)), ("KiB", 1 << 10), ("MB", 1_000_000)]
        where byteCount > 0 && byteCount.isMultiple(of: size) {
            return "\(byteCount / size)\(unit)"
        }
        return "\(byteCount)B"
    }

    /// Rounded up to whole KiB, and from 10 MiB on to whole MiB.
    private static func bytes(_ count: UInt64) -> String {
        let isLarge = count >= 10 << 20
        let unit: UInt64 = isLarge ? 1 << 20 : 1 << 10
        return "\(count / unit + (count.isMultiple(of: unit) ? 0 : 1))\(isLarge ? "MiB" : "KiB")"
    }

    /// Rounded up to three digits.
    private static func duration(_ nanoseconds: UInt64) -> String {
        let unit = [("ns", UInt64(1)), ("us", 1000), ("ms", 1_000_000)].last { nanoseconds >= $0.1 } ?? ("ns", 1)
        return threeDigits(nanoseconds, unit: unit.1, up: true) + unit.0
    }

    /// Rounded down to three digits.
    private static func rate(_ bytesPerSecond: UInt64) -> String {
        let units = [("B", UInt64(1)), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
        let unit = units.last { bytesPerSecond >= $0.1 } ?? ("B", 1)
        return threeDigits(bytesPerSecond, unit: unit.1, up: false) + unit.0 + "/s"
    }

    /// Rounded up to a hundredth, or to a whole number from 100 on.
    private static func ratio(_ value: Double) -> String {
        let hundredths = (value * 100).rounded(.up)
        guard value < 100, hundredths < 10_000 else { return "\(UInt64(nearest: value.rounded(.up)))" }
        return SignificantDigits.fixed(hundredths / 100, places: 2)
    }

    /// A number in a unit, with as many digits after the point as make three digits of it, if the unit has them.
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

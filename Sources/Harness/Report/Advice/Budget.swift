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
    /// The most bytes that memory may rise.
    package var memoryByteCount: UInt64?
    /// The most nanoseconds to the first byte.
    package var firstByteNanoseconds: UInt64?
    /// The most ciphertext bytes fetched per plaintext byte.
    package var amplification: Double?
    /// The least plaintext bytes per second.
    package var bytesPerSecond: UInt64?

    /// Creates budgets.
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

    /// Returns the budgets with what `raises` say.
    package func raised(by raises: [Raise]) -> Budgets {
        var others = self
        for raise in raises {
            switch raise.budget {
            case .memory: others.memoryByteCount = UInt64(exactly: raise.needed) ?? .max
            case .firstByte: others.firstByteNanoseconds = UInt64(exactly: raise.needed) ?? .max
            case .amplification: others.amplification = raise.needed
            case .throughput: others.bytesPerSecond = UInt64(exactly: raise.needed) ?? .max
            }
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

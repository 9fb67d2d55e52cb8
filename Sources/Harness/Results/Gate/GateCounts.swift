/// What a gate found of counts that repeat: what both sides do in an iteration, however long it takes.
package struct GateCounts: Codable, Hashable, Sendable {
    /// What is counted.
    package enum Quantity: String, Codable, CaseIterable, Hashable, Sendable {
        /// Instructions of the program with its language's and the system's libraries, as valgrind executes them.
        case instructions
        /// Those of all other shared libraries: a backend's own.
        case libraryInstructions
        /// Calls of the C library's allocator.
        case allocations
        /// Calls of the kernel.
        case systemCalls
        /// Page faults, counted by the kernel without valgrind.
        case pageFaults

        /// The name in words.
        package var words: String {
            switch self {
            case .instructions: "instructions"
            case .libraryInstructions: "instructions of libraries"
            case .allocations: "allocations"
            case .systemCalls: "system calls"
            case .pageFaults: "page faults"
            }
        }

        /// How much more of it is too little to matter, whatever the share: what comes now and then.
        var slack: Double {
            switch self {
            case .instructions, .libraryInstructions: 0
            case .allocations, .systemCalls: 0.5
            case .pageFaults: 4
            }
        }
    }

    /// One quantity of a cell, a figure a run.
    package struct Count: Codable, Hashable, Sendable {
        /// What was counted.
        package var quantity: Quantity
        /// The baseline's, an iteration.
        package var baseline: [Double]
        /// The candidate's.
        package var candidate: [Double]
        /// Whether the candidate does more.
        package var verdict: GateMemory.Verdict

        /// Judges runs: it grew if every run of the candidate is over every run of the baseline by more than the limit.
        ///
        /// Of five runs or more, each side's smallest and largest are left out: now and then a run takes another path.
        package init(_ quantity: Quantity, baseline: [Double], candidate: [Double], limit: Double) {
            self.quantity = quantity
            self.baseline = baseline
            self.candidate = candidate
            func allowed(_ count: Double) -> Double { count + max(count * limit, quantity.slack) }
            func middle(_ runs: [Double]) -> ArraySlice<Double> {
                runs.count < 5 ? runs[...] : runs.sorted().dropFirst().dropLast()
            }
            let (before, after) = (middle(baseline), middle(candidate))
            guard let low = before.min(), let high = before.max(), let least = after.min(), let greatest = after.max()
            else {
                verdict = .inconclusive
                return
            }
            verdict = least > allowed(high) ? .grew : greatest <= allowed(low) ? .same : .inconclusive
        }
    }

    /// One cell.
    package struct Cell: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// Why nothing was counted.
        package var reason: String?
        /// The counts.
        package var counts: [Count]

        package init(name: String, reason: String? = nil, counts: [Count]) {
            self.name = name
            self.reason = reason
            self.counts = counts
        }

        /// The worst of the counts' verdicts; what was not counted is inconclusive.
        package var verdict: GateMemory.Verdict { .worst(counts.map(\.verdict)) }
    }

    /// How much more of anything the candidate may do: 0.001 for 0.1 %.
    package var limit: Double
    /// The worst of the cells' verdicts.
    package var verdict: GateMemory.Verdict
    /// The cells that were counted.
    package var cells: [Cell]
    /// The names of cells whose iterations are too long to be counted.
    package var tooLong: [String]

    package init(limit: Double, cells: [Cell], tooLong: [String] = []) {
        self.limit = limit
        self.cells = cells
        self.tooLong = tooLong
        verdict = .worst(cells.map(\.verdict))
    }
}

extension GateMemory.Verdict {
    /// The worst of some: grew, then inconclusive, which is also that of none.
    package static func worst(_ verdicts: [Self]) -> Self {
        verdicts.contains(.grew) ? .grew : verdicts.contains(.inconclusive) || verdicts.isEmpty ? .inconclusive : .same
    }
}

/// The result of a gate for counts that repeat: the work of both sides in an iteration, independent of its time.
package struct GateCounts: Codable, Hashable, Sendable {
    /// The counted quantity.
    package enum Quantity: String, Codable, CaseIterable, Hashable, Sendable {
        /// Instructions of the program with its language's and the system's libraries, as valgrind executes them.
        case instructions
        /// Instructions of all other shared libraries, such as a backend's.
        case libraryInstructions
        /// Calls of the C library's allocator.
        case allocations
        /// System calls.
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

        /// The increase that is too small to matter, whatever the limit, for events that happen only now and then.
        var slack: Double {
            switch self {
            case .instructions, .libraryInstructions: 0
            case .allocations, .systemCalls: 0.5
            case .pageFaults: 4
            }
        }
    }

    /// One quantity of a cell, with one figure a run.
    package struct Count: Codable, Hashable, Sendable {
        /// The counted quantity.
        package var quantity: Quantity
        /// The baseline's counts an iteration.
        package var baseline: [Double]
        /// The candidate's counts an iteration.
        package var candidate: [Double]
        /// The verdict: `grew` if the candidate does more.
        package var verdict: GateMemory.Verdict

        /// Judges the runs. The count grew if every run of the candidate exceeds every run of the baseline by more than
        /// the limit.
        ///
        /// From five runs on, the smallest and the largest of each side are left out, because a run may take another
        /// path now and then.
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

    /// The counts of one cell.
    package struct Cell: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The reason why nothing was counted; `nil` if something was.
        package var reason: String?
        /// The counts.
        package var counts: [Count]

        package init(name: String, reason: String? = nil, counts: [Count]) {
            self.name = name
            self.reason = reason
            self.counts = counts
        }

        /// The worst verdict of the counts; `inconclusive` if nothing was counted.
        package var verdict: GateMemory.Verdict { .worst(counts.map(\.verdict)) }
    }

    /// The max increase of a count that is allowed: 0.001 for 0.1 %.
    package var limit: Double
    /// The worst verdict of the cells.
    package var verdict: GateMemory.Verdict
    /// The cells that were counted.
    package var cells: [Cell]
    /// The names of cells whose iterations are too long to count.
    package var tooLong: [String]

    package init(limit: Double, cells: [Cell], tooLong: [String] = []) {
        self.limit = limit
        self.cells = cells
        self.tooLong = tooLong
        verdict = .worst(cells.map(\.verdict))
    }
}

extension GateMemory.Verdict {
    /// Returns the worst of some verdicts: `grew`, then `inconclusive`; `inconclusive` for no verdicts.
    package static func worst(_ verdicts: [Self]) -> Self {
        verdicts.contains(.grew) ? .grew : verdicts.contains(.inconclusive) || verdicts.isEmpty ? .inconclusive : .same
    }
}

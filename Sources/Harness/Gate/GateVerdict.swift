/// What a gate says of a cell, and of everything.
package enum GateVerdict: String, Codable, CaseIterable, Hashable, Sendable {
    /// The candidate takes less time, by more than the tolerance.
    case faster
    /// The candidate takes no more time than the tolerance allows.
    case same
    /// The candidate takes more time, by more than the tolerance.
    case slower
    /// The data do not tell.
    case inconclusive
    /// Two copies of the baseline differed: nobody is blamed.
    case noisyHost
    /// One side delivered wrong bytes, or failed.
    case wrong

    /// The verdict on several cells: the first that occurs of wrong, hostUnfit, slower, inconclusive, same, faster.
    ///
    /// - Returns: `nil` for no cells.
    package static func overall(_ verdicts: some Sequence<GateVerdict>) -> GateVerdict? {
        verdicts.min { $0.rank < $1.rank }
    }

    private var rank: Int {
        switch self {
        case .wrong: 0
        case .noisyHost: 1
        case .slower: 2
        case .inconclusive: 3
        case .same: 4
        case .faster: 5
        }
    }
}

/// Whether a gate lets something pass; the command line has an exit code for each.
package enum GateAnswer: String, Hashable, Sendable {
    /// It does.
    case yes
    /// Something is slower, wrong, or takes more memory.
    case no
    /// There is no answer.
    case none
}

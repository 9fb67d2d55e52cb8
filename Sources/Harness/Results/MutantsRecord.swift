/// How the vectors of this run did in their own test: readers with one planted fault each were put to them.
public struct MutantsRecord: Codable, Hashable, Sendable {
    /// The backend under the readers; it has no fault itself.
    public var backend: String
    /// What became of each planted fault.
    public var outcomes: [Evidence.MutantOutcome]
    /// Readers without a fault, which must pass: otherwise being killed proves nothing.
    public var controls: [Control]

    /// Creates a record.
    public init(backend: String, outcomes: [Evidence.MutantOutcome], controls: [Control]) {
        self.backend = backend
        self.outcomes = outcomes
        self.controls = controls
    }

    /// The faults that no vector of their own class noticed.
    public var survivors: [Evidence.MutantOutcome] { outcomes.filter { !$0.isKilled } }

    /// The readers without a fault that did not pass.
    public var failedControls: [Control] { controls.filter { $0.failed > 0 || $0.passed == 0 } }

    /// A reader without a fault.
    public struct Control: Codable, Hashable, Sendable {
        /// The reader's name.
        public var name: String
        /// Reads that had the expected outcome.
        public var passed: Int
        /// Reads that had another outcome.
        public var failed: Int

        /// Creates an outcome.
        public init(name: String, passed: Int, failed: Int) {
            self.name = name
            self.passed = passed
            self.failed = failed
        }
    }
}

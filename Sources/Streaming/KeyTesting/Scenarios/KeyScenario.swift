package import Keys
package import Support

/// A script for a session, with a clock of its own, and what the session must do.
///
/// Source: data/schemas/scenarios.json.
package struct KeyScenario: Hashable, Sendable {
    /// What happens, and when.
    package struct Step: Hashable, Sendable {
        /// Milliseconds from the start.
        package let milliseconds: UInt64
        /// What the world does.
        package let happening: Happening
    }

    /// What the world does.
    package enum Happening: Hashable, Sendable {
        /// Something that a session is told.
        case event(KeyEvent)
        /// The wall clock is set, by so many milliseconds.
        case setClock(Int64)
    }

    /// What a session must do, and when.
    package struct Expectation: Hashable, Sendable {
        /// Milliseconds from the start: no earlier than the first, no later than the second.
        package let milliseconds: ClosedRange<UInt64>
        /// The action, as ``KeyAction/json`` has it.
        package let action: JSONValue
    }

    /// When all scenarios start, by the clock on the wall: 2023-11-14 22:13:20 UTC.
    package static let start = Duration.seconds(1_700_000_000)

    /// The file's name without `.json`.
    package let name: String
    /// What the scenario is about.
    package let title: String
    /// How keys are asked for.
    package let policy: KeyPolicy
    /// The session's device.
    package let device: String
    /// What jitter follows from.
    package let seed: UInt64
    /// When the script ends; what falls due until then is done.
    package let endMilliseconds: UInt64
    /// What happens, in order.
    package let steps: [Step]
    /// What must follow, in order, and nothing else.
    package let expectations: [Expectation]
}

/// Why a scenario cannot be run.
package struct KeyScenarioError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file, the location in it, what was expected.
    package let description: String

    /// A scenario is an input.
    package var exitStatus: ExitStatus { .badData }

    init(_ description: String) {
        self.description = description
    }
}

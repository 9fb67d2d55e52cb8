package import Keys
package import Support

/// A script for a session, with a clock of its own, and the actions that the session must take.
///
/// Source: data/schemas/scenarios.json.
package struct KeyScenario: Hashable, Sendable {
    /// An event of the script, with its time.
    package struct Step: Hashable, Sendable {
        /// The time from the start in milliseconds.
        package let milliseconds: UInt64
        /// The event.
        package let happening: Event
    }

    /// An event of the script.
    package enum Event: Hashable, Sendable {
        /// An event that the session is told.
        case event(KeyEvent)
        /// The wall clock is set by this number of milliseconds.
        case setClock(Int64)
    }

    /// An action that a session must take, with its time.
    package struct Expectation: Hashable, Sendable {
        /// The first and the last permitted time, in milliseconds from the start.
        package let milliseconds: ClosedRange<UInt64>
        /// The action in the form of ``KeyAction/json``.
        package let action: JSONValue
    }

    /// The start of all scenarios by the wall clock: 2023-11-14 22:13:20 UTC.
    package static let start = Duration.seconds(1_700_000_000)

    /// The file's name without `.json`.
    package let name: String
    /// The subject of the scenario.
    package let title: String
    /// The timing and limits of requests.
    package let policy: KeyPolicy
    /// The session's device.
    package let device: String
    /// The seed of jitter.
    package let seed: UInt64
    /// The end of the script. The session does everything that falls due until then.
    package let endMilliseconds: UInt64
    /// The events, in order.
    package let steps: [Step]
    /// The actions that must follow, in order and without others.
    package let expectations: [Expectation]
}

/// The reason why a scenario cannot be run.
package struct KeyScenarioError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file, the location in it, and the expectation.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

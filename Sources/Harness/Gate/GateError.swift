import ByteSources
package import RandomAccess
package import Support

/// Why a gate has no result at all.
package enum GateError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A command is none, or ended before it said anything.
    case notStarted(side: GateSide.Role, command: String, reason: String)
    /// A subject cannot measure, or what it says of itself is not the protocol's.
    case cannotMeasure(side: GateSide.Role, command: String, reason: String)
    /// Something failed on this machine, and not in a subject.
    case io(DecryptionError)
    /// A file of stored ratios is none.
    case badFile(String)
    /// Other cores are to be busy, and there is none.
    case noOtherCore
    /// The user stopped it.
    case interrupted

    /// What failed, the value, what was expected.
    package var description: String {
        switch self {
        case .notStarted(let side, let command, let reason):
            "\(side.rawValue) \"\(command)\" did not start: \(reason): expected a command for /bin/sh"
        case .cannotMeasure(let side, let command, let reason):
            "\(side.rawValue) \"\(command)\" cannot be measured: \(reason)"
        case .io(let error): "\(error)"
        case .badFile(let reason): reason
        case .noOtherCore: "other cores cannot be kept busy: expected another core that a thread can be put on"
        case .interrupted: "stopped before the end: expected to run until there is a verdict"
        }
    }

    /// What a command ends with that this error stops.
    package var exitStatus: ExitStatus {
        switch self {
        case .notStarted: .missingInput
        case .cannotMeasure, .interrupted: .noAnswer
        case .badFile: .badData
        case .noOtherCore: .usage
        case .io(let error): error.exitStatus == .usage ? .badData : error.exitStatus
        }
    }
}

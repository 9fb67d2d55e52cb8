import JSON
import SubjectProtocol

/// The two programs that are compared.
struct SidePair {
    var baseline: GateSide
    var candidate: GateSide

    var both: [GateSide] { [baseline, candidate] }

    /// Both of them, as they describe themselves.
    ///
    /// - Throws: `GateError.notStarted`, `.cannotMeasure`.
    init(_ settings: GateSettings) throws(GateError) {
        baseline = try Self.greet(.baseline, settings.baseline, settings)
        candidate = try Self.greet(.candidate, settings.candidate, settings)
    }

    /// The baseline, and a second copy of it in the candidate's place.
    var control: SidePair {
        var copy = self
        copy.candidate = baseline
        copy.candidate.role = .candidate
        return copy
    }

    private static func greet(
        _ role: GateSide.Role, _ command: String, _ settings: GateSettings
    ) throws(GateError) -> GateSide {
        let hello: JSONValue
        do throws(SideFailure) {
            let process = try SideProcess(role, command: command, timeout: settings.timeout)
            hello = try process.greet()
            process.end()
        } catch {
            switch error {
            case .failed(_, let reason): throw .notStarted(side: role, command: command, reason: reason)
            case .unsupported(_, let reason):
                throw .cannotMeasure(side: role, command: command, reason: "\(reason): expected protocol 1")
            case .machine(let error): throw .io(error)
            case .interrupted: throw .interrupted
            }
        }
        guard hello["measures"]?.bool == true else {
            throw .cannotMeasure(
                side: role, command: command, reason: "its hello says that it does not: expected \"measures\":true")
        }
        return GateSide(role: role, command: command, hello: hello)
    }
}

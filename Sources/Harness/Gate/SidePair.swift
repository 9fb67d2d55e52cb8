import Measurement
import SubjectProtocol
import Support

/// The two programs that are compared.
struct SidePair {
    var baseline: GateSide
    var candidate: GateSide

    var both: [GateSide] { [baseline, candidate] }

    /// Both of them, as they describe themselves.
    ///
    /// - Throws: `GateError.notStarted`, `.cannotMeasure`, `.interrupted`.
    init(_ settings: GateSettings, shouldStop: @escaping () -> Bool) throws(GateError) {
        baseline = try Self.greet(.baseline, settings.baseline, settings, shouldStop)
        candidate = try Self.greet(.candidate, settings.candidate, settings, shouldStop)
    }

    /// Where both read an object from, so that they are compared by the same way: from its file where both can.
    ///
    /// - Returns: Whether it is served to them; `nil` if there is no way that both know.
    func isServed(_ object: MeasuredObject) -> Bool? {
        if object.isFile, both.allSatisfy(\.readsFiles) { return false }
        return both.allSatisfy(\.isServed) ? true : nil
    }

    /// The baseline, and a second copy of it in the candidate's place.
    var control: SidePair {
        var copy = self
        copy.candidate = baseline
        copy.candidate.role = .candidate
        return copy
    }

    private static func greet(
        _ role: GateSide.Role, _ command: String, _ settings: GateSettings, _ shouldStop: @escaping () -> Bool
    ) throws(GateError) -> GateSide {
        let hello: JSONValue
        do throws(SubjectError) {
            let process = try SubjectProcess(
                command: ["/bin/sh", "-c", command], timeout: settings.timeout, isInterrupted: shouldStop)
            hello = try process.request(["op": "hello", "protocol": 1]).members
            process.dismiss()
        } catch {
            switch error {
            case .interrupted: throw .interrupted
            case .notStarted, .died: throw .notStarted(side: role, command: command, reason: "\(error)")
            default:
                throw .cannotMeasure(
                    side: role, command: command, reason: "hello: \(error): expected an answer as the protocol has it")
            }
        }
        guard hello["measures"]?.bool == true else {
            throw .cannotMeasure(
                side: role, command: command, reason: "its hello says that it does not: expected \"measures\":true")
        }
        return GateSide(role: role, command: command, hello: hello)
    }
}

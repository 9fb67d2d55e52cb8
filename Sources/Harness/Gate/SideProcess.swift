import ByteSources
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support

/// A process of one side, with at most one object open.
final class SideProcess {
    /// The process's number.
    var processID: Int32 { process.processID }

    let role: GateSide.Role
    private let process: SubjectProcess
    private var served: (any ByteSource)?
    /// The draws that were used up: both sides of a pair are asked for the same ones.
    private var drawCount: UInt64 = 0
    private var id: UInt64 = 0
    /// Some days, in nanoseconds: no clock that moves says more of the iterations of an answer.
    static let longestIteration: UInt64 = 1 << 50

    /// Starts it, and does not wait until it is there.
    ///
    /// - Parameters:
    ///   - side: The program.
    ///   - build: Which of its builds; the first unless said, where there are several.
    ///   - timeout: How long each answer may take.
    ///   - shouldStop: Asked while an answer is waited for.
    /// - Throws: `SideFailure.failed`.
    init(
        _ side: GateSide, build: GateBuild? = nil, timeout: Duration, shouldStop: @escaping () -> Bool
    ) throws(SideFailure) {
        role = side.role
        let command = GateBuild.command(side.command, build)
        process = try rethrowing(
            as: { (error: SubjectError) in SideFailure.failed(side.role, "\(error)") },
            try SubjectProcess(
                command: ["/bin/sh", "-c", command], timeout: timeout, isInterrupted: shouldStop))
    }

    /// Says hello; what is answered is known already.
    func greet() throws(SideFailure) {
        _ = try attempt { () throws(SubjectError) in try process.request(["op": "hello", "protocol": 1]) }
    }

    /// Opens an object, by its path if the side reads files.
    func open(_ object: MeasuredObject, isServed: Bool) throws(SideFailure) {
        id += 1
        drawCount = 0
        served = nil
        if isServed {
            do { served = try object.servedSource() } catch { throw .machine(error) }
        }
        let answer = try attempt { () throws(SubjectError) in
            try process.request(object.openRequest(id: id, served: served), serving: served).members
        }
        let found = answer["plaintextByteCount"]?.integer
        guard found == object.plaintextByteCount else {
            throw .failed(
                role,
                "it found \(found.map(String.init) ?? "no number of") plaintext bytes: expected "
                    + "\(object.plaintextByteCount)"
            )
        }
    }

    /// Closes the object that is open.
    func close() throws(SideFailure) {
        _ = try attempt { () throws(SubjectError) in try process.request(["op": "close", "id": .integer(id)]) }
        served = nil
    }

    /// Asks for the digest of what a workload delivers.
    func digest(_ workload: Workload) throws(SideFailure) -> (digest: String, byteCount: UInt64) {
        let answer = try measure(workload, ["collect": "digest"])
        guard let digest = answer["digest"]?.string, let byteCount = answer["deliveredByteCount"]?.integer else {
            throw .failed(role, "it answered digest without digest or deliveredByteCount")
        }
        return (digest, byteCount)
    }

    /// Runs a workload a number of times, or fewer times if that takes long.
    ///
    /// - Returns: The nanoseconds of each iteration.
    func time(
        _ workload: Workload, iterationCount: UInt64, atMostNanoseconds limit: UInt64 = longestIteration
    ) throws(SideFailure) -> [UInt64] {
        let answer = try measure(
            workload.starting(atDraw: drawCount),
            [
                "collect": "time", "minimumNanoseconds": .integer(limit),
                "maximumIterations": .integer(iterationCount),
            ])
        drawCount &+= workload.drawCount(iterationCount: Int(iterationCount))
        let nanoseconds = try attempt { () throws(SubjectError) in try answer.integers("nanoseconds") }
        guard !nanoseconds.isEmpty, nanoseconds.count <= iterationCount else {
            throw .failed(role, "it answered with \(nanoseconds.count) iterations: expected 1 to \(iterationCount)")
        }
        var sum: UInt64 = 0
        for duration in nanoseconds where sum <= Self.longestIteration {
            sum += min(duration, Self.longestIteration + 1)
        }
        guard (1...Self.longestIteration).contains(sum) else {
            throw .failed(
                role, "it says that iterations took \(nanoseconds.max() ?? 0) ns: expected a clock that moves")
        }
        return nanoseconds
    }

    /// Begins with what counts: at a draw that does not depend on how many the warm-up took.
    func endWarmUp() { drawCount = 1 << 40 }

    /// Says goodbye. What the process does with its end is its own business: nothing is measured any more.
    ///
    /// - Parameter grace: How long it may take to go.
    func end(grace: Duration = .seconds(1)) {
        process.dismiss(grace: grace)
    }

    private func measure(_ workload: Workload, _ parameters: [String: JSONValue]) throws(SideFailure) -> JSONValue {
        var members = parameters
        members["id"] = .integer(id)
        members["workload"] = workload.json
        return try attempt { () throws(SubjectError) in
            try process.measure(members, serving: served)
        }
    }

    private func attempt<Value>(_ body: () throws(SubjectError) -> Value) throws(SideFailure) -> Value {
        do throws(SubjectError) {
            return try body()
        } catch {
            switch error {
            case .refused("unsupported", let message): throw .unsupported(role, message)
            case .interrupted: throw .interrupted
            default: throw .failed(role, "\(error)")
            }
        }
    }
}

/// One of several builds of a side, whose code lies elsewhere, in a process whose stack does.
struct GateBuild {
    /// What a command has in the place of a build's number.
    static let placeholder = "{build}"

    /// Its number, from 1 on.
    let number: Int
    /// The bytes by which the environment is longer.
    let paddingByteCount: Int

    /// A command for a build, or for the first one.
    static func command(_ command: String, _ build: GateBuild?) -> String {
        let named = command.replacing(placeholder, with: "\(build?.number ?? 1)")
        guard let build else { return named }
        return "CHUNKWISE_PADDING=\(String(repeating: "x", count: build.paddingByteCount)); "
            + "export CHUNKWISE_PADDING; \(named)"
    }
}

/// Why a step with one side came to nothing.
enum SideFailure: Error {
    /// The side says that it cannot do this.
    case unsupported(GateSide.Role, String)
    /// The side died, did not answer in time, broke the protocol or refused.
    case failed(GateSide.Role, String)
    /// This machine failed.
    case machine(DecryptionError)
    /// The user stopped it.
    case interrupted
}

/// The two programs that are compared.
struct SidePair {
    var baseline: GateSide
    var candidate: GateSide

    var both: [GateSide] { [baseline, candidate] }

    /// Both of them, as they describe themselves.
    ///
    /// - Throws: `GateError.notStarted`, `.cannotMeasure`, `.interrupted`.
    init(_ settings: GateSettings, shouldStop: @escaping () -> Bool) throws(GateError) {
        // Both are started before either is waited for, so that they come up side by side.
        let first = try Self.start(.baseline, settings.baseline, settings, shouldStop)
        let second = try Self.start(.candidate, settings.candidate, settings, shouldStop)
        baseline = try Self.greet(first, .baseline, settings.baseline)
        candidate = try Self.greet(second, .candidate, settings.candidate)
    }

    /// Where both read an object from, so that they are compared by the same way: from its file where both can.
    ///
    /// - Returns: Whether it is served to them; `nil` if there is no way that both know.
    func isServed(_ object: MeasuredObject) -> Bool? {
        if object.isFile, both.allSatisfy(\.readsFiles) { return false }
        return both.allSatisfy(\.isServed) ? true : nil
    }

    /// The baseline, and a second copy of it in the candidate's place.
    var copies: SidePair {
        var copy = self
        copy.candidate = baseline
        copy.candidate.role = .candidate
        return copy
    }

    private static func start(
        _ role: GateSide.Role, _ command: String, _ settings: GateSettings, _ shouldStop: @escaping () -> Bool
    ) throws(GateError) -> SubjectProcess {
        try rethrowing(
            as: { (error: SubjectError) in failure(error, role, command) },
            try SubjectProcess(
                command: ["/bin/sh", "-c", GateBuild.command(command, nil)], timeout: settings.timeout,
                isInterrupted: shouldStop))
    }

    private static func greet(
        _ process: SubjectProcess, _ role: GateSide.Role, _ command: String
    ) throws(GateError) -> GateSide {
        let hello = try rethrowing(
            as: { (error: SubjectError) in failure(error, role, command) },
            try process.request(["op": "hello", "protocol": 1]).members)
        process.dismiss()
        guard hello["measures"]?.bool == true else {
            throw .cannotMeasure(
                side: role, command: command, reason: "its hello says that it does not: expected \"measures\":true")
        }
        return GateSide(role: role, command: command, hello: hello)
    }

    private static func failure(_ error: SubjectError, _ role: GateSide.Role, _ command: String) -> GateError {
        switch error {
        case .interrupted: .interrupted
        case .notStarted, .died: .notStarted(side: role, command: command, reason: "\(error)")
        default:
            .cannotMeasure(
                side: role, command: command, reason: "hello: \(error): expected an answer as the protocol has it")
        }
    }
}

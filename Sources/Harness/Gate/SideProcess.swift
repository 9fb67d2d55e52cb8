import ByteSources
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support

/// A process of one side, with at most one object open.
final class SideProcess {
    /// The process's ID.
    var processID: Int32 { process.processID }

    let role: GateSide.Role
    private let process: SubjectProcess
    private var served: (any ByteSource)?
    /// The number of draws already used: both sides of a pair get the same ones.
    private var drawCount: UInt64 = 0
    private var id: UInt64 = 0
    /// The maximum duration of the iterations of an answer, about 13 days in nanoseconds. A longer one means a broken
    /// clock.
    static let longestIteration: UInt64 = 1 << 50

    /// Starts the process, without waiting until it is ready.
    ///
    /// - Parameters:
    ///   - side: The program.
    ///   - build: The build of the program; the first one by default, if there are several.
    ///   - timeout: The maximum time for each answer.
    ///   - shouldStop: Called during the wait for an answer; `true` stops it.
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

    /// Sends a hello; its answer is known already.
    func greet() throws(SideFailure) {
        _ = try attempt { () throws(SubjectError) in try process.request(["op": "hello", "protocol": 1]) }
    }

    /// Opens an object, by its path unless it is served.
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

    /// Closes the open object.
    func close() throws(SideFailure) {
        _ = try attempt { () throws(SubjectError) in try process.request(["op": "close", "id": .integer(id)]) }
        served = nil
    }

    /// Requests the digest of the plaintext that a workload delivers.
    func digest(_ workload: Workload) throws(SideFailure) -> (digest: String, byteCount: UInt64) {
        let answer = try measure(workload, ["collect": "digest"])
        guard let digest = answer["digest"]?.string, let byteCount = answer["deliveredByteCount"]?.integer else {
            throw .failed(role, "it answered digest without digest or deliveredByteCount")
        }
        return (digest, byteCount)
    }

    /// Runs a workload for a number of iterations, or for fewer if they take longer than the limit.
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

    /// Ends the warm-up. The draws that count begin at a number that does not depend on the length of the warm-up.
    func endWarmUp() { drawCount = 1 << 40 }

    /// Ends the process. Its way of ending does not matter, since nothing is measured any more.
    ///
    /// - Parameter grace: The maximum time for the process to exit.
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

/// One of several builds of a side. The code of each is at other addresses, and padding moves the stack of the process.
struct GateBuild {
    /// The placeholder for the number of a build in a command.
    static let placeholder = "{build}"

    /// The build's number, from 1.
    let number: Int
    /// The number of bytes added to the environment.
    let paddingByteCount: Int

    /// Returns the command for a build, or for the first one.
    static func command(_ command: String, _ build: GateBuild?) -> String {
        let named = command.replacing(placeholder, with: "\(build?.number ?? 1)")
        guard let build else { return named }
        return "CHUNKWISE_PADDING=\(String(repeating: "x", count: build.paddingByteCount)); "
            + "export CHUNKWISE_PADDING; \(named)"
    }
}

/// The reason why a step with one side failed.
enum SideFailure: Error {
    /// The side reports that it does not support this.
    case unsupported(GateSide.Role, String)
    /// The side died, did not answer in time, broke the protocol or refused.
    case failed(GateSide.Role, String)
    /// This machine failed.
    case machine(DecryptionError)
    /// The user stopped it.
    case interrupted

    /// Returns the side that failed, and the reason.
    ///
    /// - Throws: `GateError.io` or `.interrupted` if no side failed.
    func ofSide() throws(GateError) -> (role: GateSide.Role, reason: String) {
        switch self {
        case .unsupported(let role, let reason), .failed(let role, let reason): return (role, reason)
        case .machine(let error): throw .io(error)
        case .interrupted: throw .interrupted
        }
    }
}

/// The two programs to be compared.
struct SidePair {
    var baseline: GateSide
    var candidate: GateSide

    var both: [GateSide] { [baseline, candidate] }

    /// Starts both programs and reads their descriptions.
    ///
    /// - Throws: `GateError.notStarted`, `.cannotMeasure`, `.interrupted`.
    init(_ settings: GateSettings, shouldStop: @escaping () -> Bool) throws(GateError) {
        // Both are started before the harness waits for either, so that they start side by side.
        let first = try Self.start(.baseline, settings.baseline, settings, shouldStop)
        let second = try Self.start(.candidate, settings.candidate, settings, shouldStop)
        baseline = try Self.greet(first, .baseline, settings.baseline)
        candidate = try Self.greet(second, .candidate, settings.candidate)
    }

    /// Returns the way in which both sides read an object, which must be the same for a comparison: from its file if
    /// both can.
    ///
    /// - Returns: True if the object is served to them, false for its file; `nil` if the two sides share no way.
    func isServed(_ object: MeasuredObject) -> Bool? {
        if object.isFile, both.allSatisfy(\.readsFiles) { return false }
        return both.allSatisfy(\.isServed) ? true : nil
    }

    /// The pair of the baseline and a second copy of it in the candidate's place.
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

package import RandomAccess
import Results
package import SubjectProtocol
package import Support

/// A subject with one open object. Its random reads continue from request to request.
final class CellSubject {
    static let id: UInt64 = 1
    let process: SubjectProcess
    /// True if the file is dropped from the page cache before each iteration.
    let isCold: Bool
    /// True if a few reads are enough as a warm-up, because the source is slow.
    let needsFewReads: Bool
    /// The number of random draws that were used.
    private var drawCount: UInt64 = 0

    init(process: SubjectProcess, isCold: Bool, needsFewReads: Bool) {
        self.process = process
        self.isCold = isCold
        self.needsFewReads = needsFewReads
    }

    /// Opens an object.
    func open(_ object: MeasuredObject, _ cell: Cell) throws {
        let opened = try process.request(object.openRequest(id: Self.id, cell: cell)).members
        guard opened["plaintextByteCount"]?.integer == object.plaintextByteCount else {
            throw CellFailure(
                "the subject found \(opened["plaintextByteCount"]?.integer ?? 0) plaintext bytes: "
                    + "expected \(object.plaintextByteCount)")
        }
    }

    /// Closes the object.
    func close() throws(SubjectError) {
        _ = try process.request(["op": "close", "id": .integer(Self.id)])
    }

    /// Requests a measurement of the next iterations.
    func measure(_ workload: Workload, _ parameters: JSONValue) throws(SubjectError) -> JSONValue {
        try request(workload.starting(atDraw: drawCount), parameters)
    }

    /// Requests the digest of exactly this workload, from its own first draw.
    func digest(_ workload: Workload) throws(SubjectError) -> JSONValue {
        try request(workload, ["collect": "digest"])
    }

    private func request(_ workload: Workload, _ parameters: JSONValue) throws(SubjectError) -> JSONValue {
        guard case .object(var members) = parameters else { return .null }
        members["extended"] = true
        if isCold { members["cold"] = true }
        members["id"] = .integer(Self.id)
        members["workload"] = workload.json
        let answer = try process.measure(members)
        // An open loop makes the requested number of reads. Other measurements make whole iterations.
        drawCount &+=
            members["readCount"]?.integer
            ?? workload.drawCount(
                iterationCount: (answer["nanoseconds"] ?? answer["firstByte"])?.array?.count ?? 1)
        return answer
    }

    /// Runs a workload untimed, so that code, buffers, threads and connections are warm: first a few reads, then whole
    /// iterations.
    ///
    /// The subject keeps buffers and threads for the same workload. There are no whole iterations if the source is
    /// slow, or if the few reads take long enough.
    /// - Parameters:
    ///   - workload: The workload.
    ///   - fewNanoseconds: The time after which the few reads replace whole iterations.
    ///   - nanoseconds: The minimum time of whole iterations. At least one runs.
    /// - Returns: The duration of the last whole iteration in nanoseconds; `nil` if there was none.
    /// - Throws: `SubjectError` of the subject.
    func warmUp(
        _ workload: Workload, fewReads fewNanoseconds: UInt64, iterations nanoseconds: UInt64
    ) throws(SubjectError) -> UInt64? {
        let few = Self.fewReads(of: workload)
        let first = try measure(few, Self.iterations(1, atLeast: 0)).integers("nanoseconds").reduce(0, &+)
        guard !needsFewReads, first < fewNanoseconds else {
            if first < fewNanoseconds {
                _ = try measure(few, Self.iterations(Self.maxWarmUps, atLeast: fewNanoseconds - first))
            }
            return nil
        }
        return try measure(workload, Self.iterations(Self.maxWarmUps, atLeast: nanoseconds))
            .integers("nanoseconds").last
    }

    /// The first reads of a workload: they touch the same code and buffers.
    private static func fewReads(of workload: Workload) -> Workload {
        switch workload {
        case .random(let rangeByteCount, let seed, let readCount, _):
            return .random(rangeByteCount: rangeByteCount, seed: seed, readCount: min(readCount, 32))
        case .sequential(let windowByteCount):
            // 8 MiB, within the maximum length of a request.
            let count = min(4096, max(1, (8 << 20) / windowByteCount))
            return .trace([Workload.Read](repeating: .init(offset: 0, count: windowByteCount), count: Int(count)))
        case .trace: return workload
        }
    }

    /// The members of a request for the durations of iterations.
    static func iterations(_ maxCount: UInt64, atLeast nanoseconds: UInt64) -> JSONValue {
        ["collect": "time", "minimumNanoseconds": .integer(nanoseconds), "maximumIterations": .integer(maxCount)]
    }

    /// The maximum number of iterations that are samples.
    static let maxIterations = 1_000_000

    /// The maximum number of warm-up iterations. Iterations that are too short for the clock would never reach a
    /// minimum time.
    private static let maxWarmUps: UInt64 = 1000
}

/// The start of a request for samples that is not sampled, because a machine that has waited needs time to reach its
/// full speed.
struct SettlingTime {
    /// The length in nanoseconds, rounded up to whole iterations.
    let nanoseconds: UInt64

    /// Half of the sampled time, at most 100 ms: after that, no sample was slower than the next one
    /// (docs/lab/warm-up-2026-11-24.md).
    init(forMinimum minimumNanoseconds: UInt64) {
        nanoseconds = min(minimumNanoseconds / 2, 100_000_000)
    }

    /// Returns the number of iterations to drop, given the durations of all. It is at most half of them.
    func iterationCount(of durations: [UInt64]) -> Int {
        var sum: UInt64 = 0
        let end = durations.firstIndex { duration in
            defer { sum &+= duration }
            return sum >= nanoseconds
        }
        return min(end ?? durations.count, durations.count / 2)
    }
}

extension SubjectProcess {
    /// Requests a measurement.
    ///
    /// - Parameters:
    ///   - members: The request without its `op`.
    ///   - source: The source for answers to `need`; `nil` if there is nothing to serve.
    /// - Returns: The members of the answer. All integers are below 2⁵³, as in PROTOCOL.md, so that arithmetic on them
    ///   does not overflow.
    /// - Throws: `SubjectError`.
    package func measure(
        _ members: [String: JSONValue], serving source: (any ByteSource)? = nil
    ) throws(SubjectError) -> JSONValue {
        var members = members
        members["op"] = "measure"
        let answer = try request(.object(members), serving: source).members
        if let integer = answer.maxInteger, integer >= 1 << 53 {
            throw .framing("an answer to measure with \(integer): expected integers below 2^53")
        }
        return answer
    }
}

extension JSONValue {
    /// The integers in the list under a member.
    ///
    /// - Throws: `SubjectError.framing` if there is no such list.
    package func integers(_ member: String) throws(SubjectError) -> [UInt64] {
        let values = self[member]?.array
        let integers = values?.compactMap(\.integer)
        guard let integers, integers.count == values?.count else {
            throw .framing("an answer without a list of integers \"\(member)\"")
        }
        return integers
    }
}

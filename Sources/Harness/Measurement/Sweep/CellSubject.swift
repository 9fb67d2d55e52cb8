import RandomAccess
import Statistics
package import SubjectProtocol
package import Support

/// A subject with one open object.
struct CellSubject {
    static let id: UInt64 = 1
    let process: SubjectProcess
    /// Whether the file is dropped from the page cache before each iteration.
    let isCold: Bool

    func measure(_ workload: Workload, _ parameters: JSONValue) throws(SubjectError) -> JSONValue {
        guard case .object(var members) = parameters else { return .null }
        members["op"] = "measure"
        members["extended"] = true
        if isCold { members["cold"] = true }
        members["id"] = .integer(Self.id)
        members["workload"] = workload.json
        return try process.request(.object(members)).members
    }

    /// Runs the reads untimed until they are steady (``SteadyState``), or for as long as is allowed, once at least.
    ///
    /// Where there are many reads, the first of them are run again and again: they touch the same code and buffers.
    /// - Returns: How many iterations were run, and whether they came to be steady.
    func warmUp(
        _ workload: Workload, atMostNanoseconds limit: UInt64
    ) throws(SubjectError) -> (iterationCount: Int, isSteady: Bool) {
        var warmUp = workload
        if case .random(let rangeByteCount, let seed, let readCount) = workload {
            warmUp = .random(rangeByteCount: rangeByteCount, seed: seed, readCount: min(readCount, 32))
        } else if case .sequential(let windowByteCount) = workload {
            // 8 MiB, but no longer a request than a subject reads at once.
            let count = min(4096, max(1, (8 << 20) / windowByteCount))
            warmUp = .trace([Workload.Read](repeating: .init(offset: 0, count: windowByteCount), count: Int(count)))
        }
        var samples: [UInt64] = []
        var sum: UInt64 = 0
        repeat {
            let answer = try measure(
                warmUp,
                [
                    "collect": "time", "minimumNanoseconds": .integer(max(1, limit - min(limit, sum))),
                    "maximumIterations": .integer(UInt64(SteadyState.iterationCount)),
                ])
            let taken = try answer.integers("nanoseconds")
            guard !taken.isEmpty else { throw .framing("a time without any iteration") }
            samples += taken
            sum = taken.reduce(sum, &+)
        } while !SteadyState.isReached(samples) && sum < limit && samples.count < Self.maxWarmUps
        return (samples.count, SteadyState.isReached(samples))
    }

    /// Iterations that are too short for the clock would never add up to anything.
    private static let maxWarmUps = 1000
}

extension JSONValue {
    /// The whole numbers in the list under a member.
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

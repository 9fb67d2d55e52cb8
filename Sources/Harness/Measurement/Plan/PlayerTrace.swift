package import Results
package import SubjectProtocol
package import Support

/// What a player asked of a film, request by request.
package struct PlayerTrace: Hashable, Sendable {
    /// One request.
    package struct Request: Hashable, Sendable {
        /// The plaintext offset.
        package var offset: UInt64
        /// How many bytes are read; `nil` up to the object's end.
        package var count: UInt64?
        /// When the request came, counted from the recording's start, where that is known.
        package var nanoseconds: UInt64?

        /// Creates a request.
        package init(offset: UInt64, count: UInt64?, nanoseconds: UInt64? = nil) {
            self.offset = offset
            self.count = count
            self.nanoseconds = nanoseconds
        }
    }

    /// The name that selects it.
    package var name: String
    /// Where the sequence was seen.
    package var source: String
    /// The shortest object that it can be replayed on, in bytes.
    package var minByteCount: UInt64
    /// The requests in their order.
    package var requests: [Request]

    /// Creates a trace.
    package init(name: String, source: String, minByteCount: UInt64, requests: [Request]) {
        self.name = name
        self.source = source
        self.minByteCount = minByteCount
        self.requests = requests
    }

    /// The max number of reads of a replay: all are in one request, and each latency is kept.
    package static let maxReads = 1 << 18

    /// The reads of a replay: each request, a window at a time.
    ///
    /// - Returns: The reads, or `nil` if there are more than ``maxReads``, or the object is too short.
    package func reads(objectByteCount: UInt64, windowByteCount: UInt64) -> [Workload.Read]? {
        guard objectByteCount >= minByteCount, windowByteCount > 0 else { return nil }
        var reads: [Workload.Read] = []
        for request in requests {
            let end = request.count.map { min(request.offset + $0, objectByteCount) } ?? objectByteCount
            var offset = request.offset
            guard (max(end, offset) - offset) / windowByteCount < Self.maxReads - reads.count else { return nil }
            while offset < end {
                let count = min(windowByteCount, end - offset)
                reads.append(Workload.Read(offset: offset, count: count))
                offset += count
            }
        }
        return reads
    }
}

/// Why a trace cannot be replayed.
package struct TraceError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file, what failed, what was expected.
    package let description: String

    /// A trace is an input.
    package var exitStatus: ExitStatus { .badData }

    init(_ file: String, _ message: String) {
        self.description = "\(file): \(message)"
    }
}

extension PlayerTrace {
    /// Reads a trace. Source: data/schemas/traces.json.
    ///
    /// - Parameters:
    ///   - json: The file's value, or `nil` if it is no JSON.
    ///   - file: What errors call it.
    /// - Throws: `TraceError` for what the schema does not allow.
    package init(_ json: JSONValue?, file: String) throws(TraceError) {
        guard let json, case .object(let members) = json else { throw TraceError(file, "expected a JSON object") }
        let known = ["schema", "name", "title", "source", "leastByteCount", "requests"]
        if let name = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw TraceError(file, "member \"\(name)\": expected one of \(known.joined(separator: ", "))")
        }
        guard json["schema"] == 1 else { throw TraceError(file, "schema: expected 1") }
        guard let name = json["name"]?.string, let source = json["source"]?.string, json["title"]?.string != nil else {
            throw TraceError(file, "expected texts \"name\", \"title\" and \"source\"")
        }
        guard let minimum = json["leastByteCount"]?.integer, (1...1 << 53).contains(minimum) else {
            throw TraceError(file, "leastByteCount: expected a number of bytes, at least 1")
        }
        var requests: [Request] = []
        for (index, request) in (json["requests"]?.array ?? []).enumerated() {
            guard let offset = request["offset"]?.integer, offset < minimum else {
                throw TraceError(file, "request \(index + 1): expected an offset below leastByteCount")
            }
            let count = request["count"]?.integer
            guard count != nil || request["count"] == .null, count ?? 1 > 0, count ?? 1 <= minimum - offset else {
                throw TraceError(file, "request \(index + 1): expected a count up to leastByteCount, or null")
            }
            let time = request["nanoseconds"]
            guard time == nil || time?.integer != nil else {
                throw TraceError(file, "request \(index + 1): expected nanoseconds as a number, or none")
            }
            requests.append(Request(offset: offset, count: count, nanoseconds: time?.integer))
        }
        guard !requests.isEmpty else { throw TraceError(file, "requests: expected at least one") }
        self.init(name: name, source: source, minByteCount: minimum, requests: requests)
    }

    /// Bits per second at which a player plays, unless told otherwise: a film in high definition.
    package static let usualBitsPerSecond: UInt64 = 8_000_000

    /// How a film plays whose player asks what the trace has, if reads take as long as they did.
    ///
    /// The player asks for a range when its time has come and the one before is there. The film starts when the first
    /// range is there, and all bytes are played once, in the order in which they come, at the same rate. A stall is the
    /// time in which nothing is left to play and a range is waited for; that nothing was asked for is no stall.
    ///
    /// - Parameters:
    ///   - latencies: How long each of ``reads(objectByteCount:windowByteCount:)`` took, in nanoseconds.
    ///   - objectByteCount: The object's length in bytes.
    ///   - windowByteCount: The longest read in bytes.
    ///   - bitsPerSecond: The rate, more than 0.
    /// - Returns: What was seen of it; `nil` if there is no latency for each read.
    /// - Source: docs/serving.md, "How a replay is judged".
    package func playback(
        latencies: [UInt64], objectByteCount: UInt64, windowByteCount: UInt64, bitsPerSecond: UInt64
    ) -> LatencyRecord.Playback? {
        guard bitsPerSecond > 0, let first = latencies.first else { return nil }
        var player = Player(nanosecondsPerByte: 8e9 / Double(bitsPerSecond))
        let firstTime = requests.first?.nanoseconds ?? 0
        var rest = latencies[...]
        for request in requests {
            player.ask(at: request.nanoseconds.map { Double($0 >= firstTime ? $0 - firstTime : 0) } ?? 0)
            let end = request.count.map { min(request.offset + $0, objectByteCount) } ?? objectByteCount
            var offset = request.offset
            while offset < end {
                guard let latency = rest.popFirst() else { return nil }
                let count = min(windowByteCount, end - offset)
                player.receive(count, after: latency)
                offset += count
            }
            player.start()
        }
        guard rest.isEmpty else { return nil }
        return LatencyRecord.Playback(
            bitsPerSecond: bitsPerSecond, firstByteNanoseconds: first,
            startNanoseconds: Self.whole(player.startTime ?? 0), stallCount: player.stallCount,
            stallNanoseconds: Self.whole(player.stallTime))
    }

    private static func whole(_ nanoseconds: Double) -> UInt64 { UInt64(min(nanoseconds, 0x1p61).rounded()) }

    /// A player's clock and buffer, in nanoseconds from the first request.
    private struct Player {
        let nanosecondsPerByte: Double
        /// When the latest bytes were there.
        private var now = 0.0
        /// When the range that is waited for was asked for.
        private var asked = 0.0
        /// How much film has come and was not played before the start.
        private var held = 0.0
        /// When all that has come is played.
        private var end = 0.0
        private(set) var startTime: Double?
        private(set) var stallCount = 0
        private(set) var stallTime = 0.0

        init(nanosecondsPerByte: Double) {
            self.nanosecondsPerByte = nanosecondsPerByte
        }

        mutating func ask(at time: Double) {
            now = max(now, time)
            asked = now
        }

        mutating func receive(_ byteCount: UInt64, after latency: UInt64) {
            now += Double(latency)
            let film = Double(byteCount) * nanosecondsPerByte
            guard startTime != nil else {
                held += film
                return
            }
            let stall = now - max(end, asked)
            if stall > 0 {
                stallCount += 1
                stallTime += stall
            }
            end = max(end, now) + film
        }

        mutating func start() {
            guard startTime == nil else { return }
            startTime = now
            end = now + held
        }
    }
}

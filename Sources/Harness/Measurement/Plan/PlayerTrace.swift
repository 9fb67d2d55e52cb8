package import Results
package import SubjectProtocol
package import Support

/// The requests of a player for a film.
package struct PlayerTrace: Hashable, Sendable {
    /// One request.
    package struct Request: Hashable, Sendable {
        /// The plaintext offset.
        package var offset: UInt64
        /// The number of bytes; `nil` up to the object's end.
        package var count: UInt64?
        /// The time of the request from the start of the recording; `nil` if it is unknown.
        package var nanoseconds: UInt64?

        package init(offset: UInt64, count: UInt64?, nanoseconds: UInt64? = nil) {
            self.offset = offset
            self.count = count
            self.nanoseconds = nanoseconds
        }
    }

    /// The name for workloads.
    package var name: String
    /// The origin of the recording.
    package var source: String
    /// The minimum length of an object for a replay, in bytes.
    package var minByteCount: UInt64
    /// The requests in their order.
    package var requests: [Request]

    package init(name: String, source: String, minByteCount: UInt64, requests: [Request]) {
        self.name = name
        self.source = source
        self.minByteCount = minByteCount
        self.requests = requests
    }

    /// The maximum number of reads of a replay. All are in one request, and each latency is kept.
    package static let maxReads = 1 << 18

    /// The reads of a replay: each request, split into windows.
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

/// An error in a trace.
package struct TraceError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file, what failed, what was expected.
    package let description: String

    init(_ file: String, _ message: String) {
        self.description = "\(file): \(message)"
    }
}

extension PlayerTrace {
    /// Reads a trace. Source: data/schemas/traces.json.
    ///
    /// - Parameters:
    ///   - json: The file's value; `nil` if the file is not JSON.
    ///   - file: The file's name in errors.
    /// - Throws: `TraceError` for a violation of the schema.
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

    /// The default bit rate of a player: that of a film in high definition.
    package static let usualBitsPerSecond: UInt64 = 8_000_000

    /// Simulates a player that makes the requests of the trace, with the given latencies of reads.
    ///
    /// The player requests a range at its time, but not before the previous range has arrived. The film starts when the
    /// first range has arrived. All bytes are played once, in the order of their arrival, at the same rate. A stall is
    /// the time in which the player waits for a range and has nothing left to play. A time without a request is not a
    /// stall.
    ///
    /// - Parameters:
    ///   - latencies: The latencies of ``reads(objectByteCount:windowByteCount:)`` in nanoseconds.
    ///   - objectByteCount: The object's length in bytes.
    ///   - windowByteCount: The longest read in bytes.
    ///   - bitsPerSecond: The rate, more than 0.
    /// - Returns: The playback; `nil` if the number of latencies is not that of the reads.
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
        /// The arrival time of the latest bytes.
        private var now = 0.0
        /// The time of the current request.
        private var asked = 0.0
        /// The duration of the film that arrived before the start.
        private var held = 0.0
        /// The time at which all bytes so far have been played.
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

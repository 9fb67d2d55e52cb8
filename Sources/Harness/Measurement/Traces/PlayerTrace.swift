package import SubjectProtocol

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

    /// The most reads of a replay: all are in one request, and each latency is kept.
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

package import Results

extension PlayerTrace {
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
    /// - Source: METHODOLOGY.md, "Traces of players".
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

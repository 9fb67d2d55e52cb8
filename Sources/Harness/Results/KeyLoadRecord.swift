/// What the clients of a live stream asked of its key server when the key changed: simulated, and where it was run, for
/// real beside that.
public struct KeyLoadRecord: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-key-load-1"
    /// The name of the file in a folder of results, if nothing was run.
    public static let fileName = "key-load.json"
    /// The name of the file in a folder of results, if the plan was run as well.
    public static let loopbackFileName = "key-load-loopback.json"

    /// The format's version.
    public var schema = Self.currentSchema
    /// The command line that repeats it.
    public var command: [String]
    /// How many clients there were.
    public var clientCount: UInt64
    /// Over how many seconds dispersed requests were spread.
    public var windowSeconds: UInt64
    /// How many seconds before it appeared the key was announced.
    public var announcedSeconds: UInt64
    /// Over how many seconds the refreshes of the clients' playlists were spread.
    public var refreshSeconds: UInt64
    /// How many requests the server answered in a second.
    public var capacityPerSecond: UInt64
    /// How long an answer took for a single client.
    public var roundTripMilliseconds: UInt64
    /// What all chance followed from.
    public var seed: UInt64
    /// How many seconds of the plan passed in one of the run's, or `nil` if nothing was run.
    public var speed: UInt64?
    /// A cell for each way.
    public var cells: [Cell]

    private enum CodingKeys: String, CodingKey {
        case schema, command, windowSeconds, announcedSeconds, refreshSeconds, capacityPerSecond
        case roundTripMilliseconds, seed, speed, cells
        case clientCount = "clients"
    }

    /// Creates a record.
    public init(
        command: [String], clientCount: UInt64, windowSeconds: UInt64, announcedSeconds: UInt64,
        refreshSeconds: UInt64, capacityPerSecond: UInt64, roundTripMilliseconds: UInt64, seed: UInt64,
        speed: UInt64?, cells: [Cell]
    ) {
        self.command = command
        self.clientCount = clientCount
        self.windowSeconds = windowSeconds
        self.announcedSeconds = announcedSeconds
        self.refreshSeconds = refreshSeconds
        self.capacityPerSecond = capacityPerSecond
        self.roundTripMilliseconds = roundTripMilliseconds
        self.seed = seed
        self.speed = speed
        self.cells = cells
    }

    /// The fewest requests a second that all clients can be spread to: clients ÷ window; `nil` without a window.
    public var idealPerSecond: Double? {
        windowSeconds > 0 ? Double(clientCount) / Double(windowSeconds) : nil
    }

    /// A peak over ``idealPerSecond``.
    public func peakToIdeal(_ figures: Figures) -> Double? {
        idealPerSecond.map { Double(figures.peakPerSecond) / $0 }
    }

    /// What a machine may add to times; where a run differs and it adds more, that is no fault of the simulation.
    public static let maxLagNanoseconds: UInt64 = 50_000_000

    /// Whether the machine of the run was too slow, or too busy, for it to say anything against the simulation.
    public var isMachineTooSlow: Bool {
        cells.contains { $0.agrees == false }
            && cells.contains { ($0.lagNanoseconds ?? 0) >= Self.maxLagNanoseconds }
    }

    /// When clients asked.
    public enum Way: String, Codable, CaseIterable, Hashable, Sendable {
        /// When their playlist named the key.
        case onDemand
        /// When their playlist announced it.
        case preloaded
        /// At a time of their own between the two.
        case dispersed
    }

    /// One way.
    public struct Cell: Codable, Hashable, Sendable {
        /// When clients asked.
        public var way: Way
        /// What was simulated.
        public var simulated: Figures
        /// What was run, or `nil`.
        public var run: Figures?
        /// Whether the two agree, or `nil` if nothing was run.
        public var agrees: Bool?
        /// What the machine that ran it added to times, in nanoseconds of the plan.
        public var lagNanoseconds: UInt64?

        /// Creates a cell.
        public init(
            way: Way, simulated: Figures, run: Figures? = nil, agrees: Bool? = nil, lagNanoseconds: UInt64? = nil
        ) {
            self.way = way
            self.simulated = simulated
            self.run = run
            self.agrees = agrees
            self.lagNanoseconds = lagNanoseconds
        }
    }

    /// What became of a plan.
    public struct Figures: Codable, Hashable, Sendable {
        /// The max number of requests that reached the server within any second, retries included.
        public var peakPerSecond: UInt64
        /// All requests.
        public var requestCount: UInt64
        /// Those that were sent again.
        public var retryCount: UInt64
        /// Clients that got the key.
        public var answeredCount: UInt64
        /// Clients that had to wait for it with a picture to show.
        public var lateCount: UInt64
        /// Clients that got none.
        public var gaveUpCount: UInt64
        /// How late the key was for the median client; `nil` if that got none.
        public var p50Nanoseconds: UInt64?
        /// The 99th percentile of lateness; `nil` if that client got no key.
        public var p99Nanoseconds: UInt64?
        /// The 99.9th percentile of lateness; `nil` if that client got no key.
        public var p999Nanoseconds: UInt64?
        /// How many seconds a point of ``requestsPerSecond`` stands for.
        public var secondsPerPoint: UInt64
        /// Requests in each second from the key's announcement on; of several seconds, the most.
        public var requestsPerSecond: [UInt64]

        /// More points than this are joined.
        public static let maxPoints = 300

        private enum CodingKeys: String, CodingKey {
            case peakPerSecond, p50Nanoseconds, p99Nanoseconds, p999Nanoseconds, secondsPerPoint, requestsPerSecond
            case requestCount = "requests"
            case retryCount = "retries"
            case answeredCount = "answered"
            case lateCount = "late"
            case gaveUpCount = "gaveUp"
        }

        /// Creates figures; of the requests in each second, ``requestsPerSecond`` keeps at maximum ``maxPoints`` points.
        public init(
            peakPerSecond: UInt64, requestCount: UInt64, retryCount: UInt64, answeredCount: UInt64, lateCount: UInt64,
            gaveUpCount: UInt64, p50Nanoseconds: UInt64?, p99Nanoseconds: UInt64?, p999Nanoseconds: UInt64?,
            perSecond: [UInt64]
        ) {
            self.peakPerSecond = peakPerSecond
            self.requestCount = requestCount
            self.retryCount = retryCount
            self.answeredCount = answeredCount
            self.lateCount = lateCount
            self.gaveUpCount = gaveUpCount
            self.p50Nanoseconds = p50Nanoseconds
            self.p99Nanoseconds = p99Nanoseconds
            self.p999Nanoseconds = p999Nanoseconds
            let step = max(1, (perSecond.count + Self.maxPoints - 1) / Self.maxPoints)
            secondsPerPoint = UInt64(step)
            requestsPerSecond = stride(from: 0, to: perSecond.count, by: step).map { start in
                perSecond[start..<min(start + step, perSecond.count)].max() ?? 0
            }
        }
    }
}

/// The load on a live stream's key server when the key changes: simulated, and measured in a real run if there was one.
public struct KeyLoadRecord: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-key-load-1"
    /// The name of the file in a folder of results, for a simulation alone.
    public static let fileName = "key-load.json"
    /// The name of the file in a folder of results, for a simulation with a run.
    public static let loopbackFileName = "key-load-loopback.json"

    /// The format's version.
    public var schema = Self.currentSchema
    /// The command line that repeats the simulation.
    public var command: [String]
    /// The number of clients.
    public var clientCount: UInt64
    /// The time over which dispersed requests were spread, in seconds.
    public var windowSeconds: UInt64
    /// The time from the key's announcement to its appearance, in seconds.
    public var announcedSeconds: UInt64
    /// The time over which the refreshes of the clients' playlists were spread, in seconds.
    public var refreshSeconds: UInt64
    /// The number of requests that the server answered in a second.
    public var capacityPerSecond: UInt64
    /// The time that an answer took on an idle server, in milliseconds.
    public var roundTripMilliseconds: UInt64
    /// The seed of all random numbers.
    public var seed: UInt64
    /// The number of seconds of the plan that passed in one second of the run; `nil` if nothing was run.
    public var speed: UInt64?
    /// The cells, one for each mode.
    public var cells: [Cell]

    private enum CodingKeys: String, CodingKey {
        case schema, command, windowSeconds, announcedSeconds, refreshSeconds, capacityPerSecond
        case roundTripMilliseconds, seed, speed, cells
        case clientCount = "clients"
    }

    /// A record; for a simulation alone, `speed` is `nil`.
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

    /// The lowest request rate to which all clients can be spread: clients ÷ window; `nil` without a window.
    public var idealPerSecond: Double? {
        windowSeconds > 0 ? Double(clientCount) / Double(windowSeconds) : nil
    }

    /// Returns the ratio of a peak to ``idealPerSecond``; `nil` without a window.
    public func peakToIdeal(_ figures: Figures) -> Double? {
        idealPerSecond.map { Double(figures.peakPerSecond) / $0 }
    }

    /// The lag from which a difference between run and simulation is put down to the machine, in nanoseconds.
    public static let maxLagNanoseconds: UInt64 = 50_000_000

    /// True if the machine was too slow or too busy for the run to disprove the simulation.
    public var isMachineTooSlow: Bool {
        cells.contains { $0.agrees == false }
            && cells.contains { ($0.lagNanoseconds ?? 0) >= Self.maxLagNanoseconds }
    }

    /// The time at which clients ask for the key.
    public enum RequestMode: String, Codable, CaseIterable, Hashable, Sendable {
        /// As soon as their playlist names the key.
        case onDemand
        /// As soon as their playlist announces the key.
        case preloaded
        /// At a random time between announcement and appearance, which each client draws.
        case dispersed
    }

    /// The figures of one mode.
    public struct Cell: Codable, Hashable, Sendable {
        /// The time at which clients asked.
        public var mode: RequestMode
        /// The figures of the simulation.
        public var simulated: Figures
        /// The figures of the run; `nil` if nothing was run.
        public var run: Figures?
        /// True if simulation and run agree; `nil` if nothing was run.
        public var agrees: Bool?
        /// The delay that the machine of the run added to times, in nanoseconds of the plan.
        public var lagNanoseconds: UInt64?

        private enum CodingKeys: String, CodingKey {
            case mode = "way"
            case simulated, run, agrees, lagNanoseconds
        }

        /// A cell; for a simulation alone, only with its figures.
        public init(
            mode: RequestMode, simulated: Figures, run: Figures? = nil, agrees: Bool? = nil,
            lagNanoseconds: UInt64? = nil
        ) {
            self.mode = mode
            self.simulated = simulated
            self.run = run
            self.agrees = agrees
            self.lagNanoseconds = lagNanoseconds
        }
    }

    /// The result of a plan.
    public struct Figures: Codable, Hashable, Sendable {
        /// The max number of requests that reached the server within any second, retries included.
        public var peakPerSecond: UInt64
        /// The number of all requests.
        public var requestCount: UInt64
        /// The number of requests that clients sent again.
        public var retryCount: UInt64
        /// The number of clients that got the key.
        public var answeredCount: UInt64
        /// The number of clients that had to wait for the key with a picture to show.
        public var lateCount: UInt64
        /// The number of clients that gave up without the key.
        public var gaveUpCount: UInt64
        /// The lateness of the key for the median client; `nil` if that client got no key.
        public var p50Nanoseconds: UInt64?
        /// The 99th percentile of lateness; `nil` if that client got no key.
        public var p99Nanoseconds: UInt64?
        /// The 99.9th percentile of lateness; `nil` if that client got no key.
        public var p999Nanoseconds: UInt64?
        /// The number of seconds in a point of ``requestsPerSecond``.
        public var secondsPerPoint: UInt64
        /// The requests in each second from the key's announcement on. If a point has several seconds, it is their max.
        public var requestsPerSecond: [UInt64]

        /// The max number of points; seconds are joined to stay below it.
        public static let maxPoints = 300

        private enum CodingKeys: String, CodingKey {
            case peakPerSecond, p50Nanoseconds, p99Nanoseconds, p999Nanoseconds, secondsPerPoint, requestsPerSecond
            case requestCount = "requests"
            case retryCount = "retries"
            case answeredCount = "answered"
            case lateCount = "late"
            case gaveUpCount = "gaveUp"
        }

        /// The figures of a plan. ``requestsPerSecond`` joins the seconds of `perSecond` into ``maxPoints`` points or
        /// fewer.
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

public import Statistics

/// The times that players wait for their keys: from opening a playlist to its first plaintext byte.
public struct KeyWaitsRecord: Codable, Hashable, Sendable {
    /// The version of this format that the program writes.
    public static let currentSchema = "chunkwise-key-waits-1"
    /// The name of the file in a folder of results.
    public static let fileName = "key-waits.json"

    /// The format's version.
    public var schema = Self.currentSchema
    /// The command line that repeats the measurement.
    public var command: [String]
    /// The machine.
    public var host: RunHeader.Host
    /// The seed of the order within rounds.
    public var seed: UInt64
    /// The number of rounds, each of which measures everything once.
    public var rounds: UInt64
    /// The number of keys of the playlist, one for each segment.
    public var keyCount: UInt64
    /// The length of each segment in bytes.
    public var segmentByteCount: UInt64
    /// The crypto library's name.
    public var backend: String
    /// The cells, one for each source and server; those of a server are together.
    public var cells: [Cell]

    private enum CodingKeys: String, CodingKey {
        case schema, command, host, seed, rounds, segmentByteCount, backend, cells
        case keyCount = "keys"
    }

    package init(
        command: [String], host: RunHeader.Host, seed: UInt64, rounds: UInt64, keyCount: UInt64,
        segmentByteCount: UInt64, backend: String, cells: [Cell]
    ) {
        self.command = command
        self.host = host
        self.seed = seed
        self.rounds = rounds
        self.keyCount = keyCount
        self.segmentByteCount = segmentByteCount
        self.backend = backend
        self.cells = cells
    }

    /// The source of the keys, and the time at which they arrive.
    public enum KeySource: String, Codable, CaseIterable, Hashable, Sendable {
        /// From files.
        case local
        /// From a session that already has them.
        case preloaded
        /// From a session that requests all of them at once when the playlist is opened.
        case batched
        /// From a session that requests each one when it is needed.
        case onDemand
    }

    /// The figures of one source with one server.
    public struct Cell: Codable, Hashable, Sendable {
        /// The source of the keys.
        public var source: KeySource
        /// The time for which the server held back an answer, in milliseconds.
        public var delayMilliseconds: UInt64
        /// The max number of requests between opening and the first byte.
        public var requestCount: UInt64
        /// The samples in nanoseconds, one a round.
        public var samplesNanoseconds: [UInt64]
        /// The median of the samples.
        public var medianNanoseconds: Double
        /// The ratio of the time to that with local keys in the same round.
        public var ratioToLocal: LogInterval

        private enum CodingKeys: String, CodingKey {
            case source = "way"
            case delayMilliseconds, samplesNanoseconds, medianNanoseconds, ratioToLocal
            case requestCount = "requests"
        }

        /// A cell with its samples.
        public init(
            source: KeySource, delayMilliseconds: UInt64, requestCount: UInt64, samplesNanoseconds: [UInt64],
            medianNanoseconds: Double, ratioToLocal: LogInterval
        ) {
            self.source = source
            self.delayMilliseconds = delayMilliseconds
            self.requestCount = requestCount
            self.samplesNanoseconds = samplesNanoseconds
            self.medianNanoseconds = medianNanoseconds
            self.ratioToLocal = ratioToLocal
        }
    }
}

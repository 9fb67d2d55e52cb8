/// What reads cost in many configurations, computed from the requests that the readers make; nothing of it is timed.
package struct ComputedPlan: Sendable {
    /// Where the ciphertext is, as `measure --latency --bandwidth` has it.
    package struct Storage: Hashable, Sendable {
        /// From a request to its answer's first byte, in nanoseconds.
        package var latencyNanoseconds: UInt64
        /// Bytes per second from the first byte on; `nil` for a link that takes no time for them.
        package var bytesPerSecond: UInt64?

        /// Creates a storage.
        package init(latencyNanoseconds: UInt64, bytesPerSecond: UInt64?) {
            self.latencyNanoseconds = latencyNanoseconds
            self.bytesPerSecond = bytesPerSecond
        }
    }

    /// What is to be chosen.
    package struct Configuration: Hashable, Sendable {
        /// The strategy's name.
        package var strategy: String
        /// Plaintext bytes of a chunk; `nil` where the object is one.
        package var chunkByteCount: UInt64?
        /// How a reader gets from a range to ciphertext.
        package var access: String
        /// The max number of plaintext bytes of a step.
        package var windowByteCount: UInt64

        /// Creates a configuration.
        package init(strategy: String, chunkByteCount: UInt64?, access: String, windowByteCount: UInt64) {
            self.strategy = strategy
            self.chunkByteCount = chunkByteCount
            self.access = access
            self.windowByteCount = windowByteCount
        }
    }

    /// Reads of one length, at offsets that are drawn.
    package struct Seek: Hashable, Sendable {
        /// The length of each read in bytes.
        package var rangeByteCount: UInt64
        /// The median and the 90th percentile of a read's time, in nanoseconds.
        package var medianNanoseconds, slowNanoseconds: UInt64
        /// Requests a read.
        package var requestCount: Double
        /// Ciphertext bytes fetched per plaintext byte delivered.
        package var amplification: Double

        /// Creates the figures of some reads.
        package init(
            rangeByteCount: UInt64, medianNanoseconds: UInt64, slowNanoseconds: UInt64, requestCount: Double,
            amplification: Double
        ) {
            self.rangeByteCount = rangeByteCount
            self.medianNanoseconds = medianNanoseconds
            self.slowNanoseconds = slowNanoseconds
            self.requestCount = requestCount
            self.amplification = amplification
        }
    }

    /// A configuration with what it costs.
    package struct Candidate: Hashable, Sendable {
        /// The configuration.
        package var configuration: Configuration
        /// Opening the object and the first read, in nanoseconds: the median over the reads of the first length.
        package var firstByteNanoseconds: UInt64
        /// Reads of each length.
        package var seeks: [Seek]
        /// Plaintext bytes per second of reading from start to end in windows.
        package var downloadBytesPerSecond: UInt64
        /// The max memory of a reader and its caller's buffer, in bytes.
        package var memoryByteCount: UInt64

        /// Creates a candidate.
        package init(
            configuration: Configuration, firstByteNanoseconds: UInt64, seeks: [Seek], downloadBytesPerSecond: UInt64,
            memoryByteCount: UInt64
        ) {
            self.configuration = configuration
            self.firstByteNanoseconds = firstByteNanoseconds
            self.seeks = seeks
            self.downloadBytesPerSecond = downloadBytesPerSecond
            self.memoryByteCount = memoryByteCount
        }
    }

    /// Where the ciphertext is.
    package var storage: Storage
    /// The object's length in bytes.
    package var objectByteCount: UInt64
    /// The library, and how many bytes a second it was seen to decrypt just now, by the mode's name.
    package var backend: String, cipherBytesPerSecond: [String: UInt64]
    /// The max memory that the user allows; `nil` for any.
    package var memoryBudget: UInt64?
    /// All configurations, in the order of the lists they are made of.
    package var candidates: [Candidate]

    /// Creates a plan.
    package init(
        storage: Storage, objectByteCount: UInt64, backend: String, cipherBytesPerSecond: [String: UInt64],
        memoryBudget: UInt64?, candidates: [Candidate]
    ) {
        self.storage = storage
        self.objectByteCount = objectByteCount
        self.backend = backend
        self.cipherBytesPerSecond = cipherBytesPerSecond
        self.memoryBudget = memoryBudget
        self.candidates = candidates
    }
}

extension ComputedPlan {
    /// What counts as equally soon.
    package static let margin = 0.05

    /// The candidates within the memory budget.
    package var affordable: [Candidate] {
        candidates.filter { candidate in memoryBudget.map { candidate.memoryByteCount <= $0 } ?? true }
    }

    /// The choice: of those whose slow reads of the first length are within 5 % of the soonest, the one that takes least
    /// memory, then fetches least, then downloads fastest, then has the smallest chunk.
    package var choice: Candidate? {
        let affordable = affordable
        guard let soonest = affordable.compactMap(\.slowNanoseconds).min() else { return nil }
        let near = affordable.filter { candidate in
            candidate.slowNanoseconds.map { Double($0) <= Double(soonest) * (1 + Self.margin) } ?? false
        }
        return near.min { $0.rank.lexicographicallyPrecedes($1.rank) }
    }

    /// One step from a candidate: what differs, and the other one.
    package struct Neighbour: Sendable {
        /// What is changed, and to what.
        package enum Change: Hashable, Sendable {
            case chunk(UInt64)
            case window(UInt64)
            case access(String)
            case strategy(String)
        }

        /// What is changed.
        package let change: Change
        /// What comes of it.
        package let candidate: Candidate
    }

    /// The nearest candidates in each direction: the next smaller and larger chunk and window, each other access, and of
    /// each other strategy the one with the nearest chunk.
    ///
    /// - Parameter candidate: Where the steps start.
    /// - Returns: The neighbours, chunks first.
    package func neighbours(of candidate: Candidate) -> [Neighbour] {
        let own = candidate.configuration
        func others(_ isAlike: (Configuration) -> Bool) -> [Candidate] {
            candidates.filter { $0.configuration != own && isAlike($0.configuration) }
        }
        var neighbours: [Neighbour] = []
        func add(_ size: (Configuration) -> UInt64?, _ found: [Candidate], _ change: (UInt64) -> Neighbour.Change) {
            guard let mine = size(own) else { return }
            let sized = found.compactMap { other in size(other.configuration).map { ($0, other) } }
            for next in [
                sized.filter { $0.0 < mine }.max { $0.0 < $1.0 }, sized.filter { $0.0 > mine }.min { $0.0 < $1.0 },
            ] {
                if let next { neighbours.append(Neighbour(change: change(next.0), candidate: next.1)) }
            }
        }
        add(
            \.chunkByteCount,
            others {
                $0.strategy == own.strategy && $0.access == own.access && $0.windowByteCount == own.windowByteCount
            },
            Neighbour.Change.chunk)
        add(
            \.windowByteCount,
            others {
                $0.strategy == own.strategy && $0.access == own.access && $0.chunkByteCount == own.chunkByteCount
            },
            Neighbour.Change.window)
        for other in others({
            $0.strategy == own.strategy && $0.chunkByteCount == own.chunkByteCount
                && $0.windowByteCount == own.windowByteCount
        }) {
            neighbours.append(Neighbour(change: .access(other.configuration.access), candidate: other))
        }
        var seen: Set<String> = [own.strategy]
        for other in candidates where seen.insert(other.configuration.strategy).inserted {
            let alike = candidates.filter {
                $0.configuration.strategy == other.configuration.strategy && $0.configuration.access == own.access
                    && $0.configuration.windowByteCount == own.windowByteCount
            }
            let nearest = alike.min { $0.distance(to: own) < $1.distance(to: own) }
            if let nearest {
                neighbours.append(Neighbour(change: .strategy(nearest.configuration.strategy), candidate: nearest))
            }
        }
        return neighbours
    }
}

extension ComputedPlan.Candidate {
    /// The 90th percentile of the reads of the first length.
    package var slowNanoseconds: UInt64? { seeks.first?.slowNanoseconds }

    fileprivate var rank: [Double] {
        [
            Double(memoryByteCount), seeks.first?.amplification ?? 0, -Double(downloadBytesPerSecond),
            Double(configuration.chunkByteCount ?? 0),
        ]
    }

    /// How many times larger one chunk is than the other; a whole object counts as the same.
    fileprivate func distance(to other: ComputedPlan.Configuration) -> Double {
        guard let mine = configuration.chunkByteCount, let other = other.chunkByteCount else { return 1 }
        return Double(max(mine, other)) / Double(max(1, min(mine, other)))
    }
}

package import Support

/// The cost of reads in many configurations, computed from the requests that the readers make. The reads are not timed.
package struct ComputedPlan: Sendable {
    /// The storage that holds the ciphertext, as in `measure --latency --bandwidth --client`.
    package struct Storage: Hashable, Sendable {
        /// The time from a request to the first byte of its answer, in nanoseconds.
        package var latencyNanoseconds: UInt64
        /// Bytes per second of each connection after the first byte; `nil` for a link that takes no time for them.
        package var bytesPerSecond: UInt64?
        /// The name of the client that sends requests; `nil` for a file that the system has in memory.
        package var client: String?

        package init(latencyNanoseconds: UInt64, bytesPerSecond: UInt64?, client: String?) {
            self.latencyNanoseconds = latencyNanoseconds
            self.bytesPerSecond = bytesPerSecond
            self.client = client
        }
    }

    /// One choice of library, format, key, chunk, access and window.
    package struct Configuration: Hashable, Sendable {
        /// The crypto library.
        package var backend: String
        /// The strategy's name.
        package var strategy: String
        /// The length of the chunks' key in bytes.
        package var keyByteCount: Int
        /// The cipher, unless it is AES in a mode.
        package var cipher: String?
        /// The length of a chunk as the strategy's parameter has it: in plaintext bytes, or in ciphertext bytes for
        /// Tink's segments. `nil` if the object is one chunk.
        package var chunkByteCount: UInt64?
        /// The way in which a reader gets from a range to ciphertext.
        package var access: AccessPolicy
        /// The max number of plaintext bytes of a step.
        package var windowByteCount: UInt64

        /// The key's name in texts.
        package var keyName: String { KeyName.text(cipher, byteCount: keyByteCount) }

        package init(
            backend: String, strategy: String, keyByteCount: Int, cipher: String? = nil, chunkByteCount: UInt64?,
            access: AccessPolicy, windowByteCount: UInt64
        ) {
            self.backend = backend
            self.strategy = strategy
            (self.keyByteCount, self.cipher) = (keyByteCount, cipher)
            self.chunkByteCount = chunkByteCount
            self.access = access
            self.windowByteCount = windowByteCount
        }
    }

    /// The costs of reads of one length at random offsets, by a reader that keeps what its access policy says.
    package struct Seek: Hashable, Sendable {
        /// The length of each read in bytes.
        package var rangeByteCount: UInt64
        /// The median and the 90th percentile of a read's time, in nanoseconds.
        package var medianNanoseconds, slowNanoseconds: UInt64
        /// The 90th percentile of a reader that has kept nothing, as after a start, in nanoseconds.
        package var coldNanoseconds: UInt64
        /// The mean number of requests a read.
        package var requestCount: Double
        /// Ciphertext bytes fetched per plaintext byte delivered.
        package var amplification: Double

        package init(
            rangeByteCount: UInt64, medianNanoseconds: UInt64, slowNanoseconds: UInt64, coldNanoseconds: UInt64,
            requestCount: Double, amplification: Double
        ) {
            self.rangeByteCount = rangeByteCount
            self.medianNanoseconds = medianNanoseconds
            self.slowNanoseconds = slowNanoseconds
            self.coldNanoseconds = coldNanoseconds
            self.requestCount = requestCount
            self.amplification = amplification
        }
    }

    /// A change of a ciphertext that a format's readers may notice.
    package enum Notice: String, CaseIterable, Hashable, Sendable {
        /// A changed byte in a chunk.
        case change
        /// A chunk in the place of another one.
        case move
        /// A chunk of another object.
        case otherFile = "other file"
        /// A missing end.
        case cut
    }

    /// The facts of a format that are the same for all readers.
    package struct Layout: Hashable, Sendable {
        /// The changes that a reader of this format notices.
        package var notices: Set<Notice>
        /// The ciphertext's length in bytes.
        package var storedByteCount: UInt64
        /// The max length of a plaintext in bytes; `nil` if there is none below 2⁶⁴.
        package var maxByteCount: UInt64?

        package init(notices: Set<Notice>, storedByteCount: UInt64, maxByteCount: UInt64?) {
            (self.notices, self.storedByteCount, self.maxByteCount) = (notices, storedByteCount, maxByteCount)
        }
    }

    /// A configuration with its costs.
    package struct Candidate: Hashable, Sendable {
        /// The configuration.
        package var configuration: Configuration
        /// The facts of the format.
        package var layout: Layout
        /// The median time to open the object and do the first read of the first length, over places, in nanoseconds.
        package var firstByteNanoseconds: UInt64
        /// The costs of reads, one element a length; empty for an object without bytes.
        package var seeks: [Seek]
        /// Plaintext bytes per second when the object is read from start to end in windows.
        package var downloadBytesPerSecond: UInt64
        /// The max memory of a reader, its client and its caller's buffer, in bytes.
        package var memoryByteCount: UInt64

        package init(
            configuration: Configuration, layout: Layout, firstByteNanoseconds: UInt64, seeks: [Seek],
            downloadBytesPerSecond: UInt64, memoryByteCount: UInt64
        ) {
            self.configuration = configuration
            self.layout = layout
            self.firstByteNanoseconds = firstByteNanoseconds
            self.seeks = seeks
            self.downloadBytesPerSecond = downloadBytesPerSecond
            self.memoryByteCount = memoryByteCount
        }
    }

    /// The speed of a library's decryption, as it was measured.
    package struct Rate: Hashable, Sendable {
        /// The library.
        package var backend: String
        /// The mode's name; for a cipher that is not AES, the cipher's name.
        package var mode: String
        /// The length of the key in bytes.
        package var keyByteCount: Int
        /// The cipher, unless it is AES in a mode.
        package var cipher: String?
        /// The bytes of a call: a chunk or a window.
        package var callByteCount: UInt64
        /// Bytes per second.
        package var bytesPerSecond: UInt64

        /// The cipher and its key in texts.
        package var cipherName: String {
            let key = KeyName.text(cipher, byteCount: keyByteCount)
            return cipher == nil ? "\(key) \(mode)" : key
        }

        package init(
            backend: String, mode: String, keyByteCount: Int, cipher: String? = nil, callByteCount: UInt64,
            bytesPerSecond: UInt64
        ) {
            self.backend = backend
            self.mode = mode
            (self.keyByteCount, self.cipher) = (keyByteCount, cipher)
            self.callByteCount = callByteCount
            self.bytesPerSecond = bytesPerSecond
        }
    }

    /// A list of lengths that the user asked for, and that the plan left out or shortened because the object is
    /// shorter.
    package enum Note: Hashable, Sendable {
        /// Chunks or windows of these lengths are left out; the name is `chunks` or `windows`.
        case leftOut(name: String, [UInt64])
        /// All lengths are longer than the object, and this length stands for them.
        case all(name: String, UInt64)
        /// Reads of these lengths read the whole object.
        case whole([UInt64])
        /// These strategies were asked for, and have no figures; each with the reason.
        case notComputed([String])
    }

    /// The storage that holds the ciphertext.
    package var storage: Storage
    /// The object's length in bytes.
    package var objectByteCount: UInt64
    /// The speeds of the libraries, measured just before.
    package var rates: [Rate]
    /// The max memory that the user allows, in bytes; `nil` for any.
    package var memoryBudget: UInt64?
    /// True if only formats that notice changes may be chosen.
    package var wantsIntegrity: Bool
    /// The lengths that the user asked for, and that the plan left out or shortened.
    package var notes: [Note]
    /// All configurations, in the order of the lists that they are made of.
    package var candidates: [Candidate]

    package init(
        storage: Storage, objectByteCount: UInt64, rates: [Rate], memoryBudget: UInt64?, wantsIntegrity: Bool,
        notes: [Note] = [], candidates: [Candidate]
    ) {
        self.storage = storage
        self.objectByteCount = objectByteCount
        self.rates = rates
        self.memoryBudget = memoryBudget
        self.wantsIntegrity = wantsIntegrity
        self.notes = notes
        self.candidates = candidates
    }
}

extension ComputedPlan {
    /// The part of a time by which two times may differ and still count as equal.
    package static let margin = 0.05

    /// Returns whether a candidate is within the memory budget.
    package func isAffordable(_ candidate: Candidate) -> Bool {
        memoryBudget.map { candidate.memoryByteCount <= $0 } ?? true
    }

    /// The candidates among which the plan chooses: those within the memory budget, and only those that notice changes
    /// if the user wants that.
    package var eligible: [Candidate] { candidates.filter(isEligible) }

    /// The chosen candidate.
    ///
    /// First come the candidates whose cold 90th percentile of the first length is within 5 % of the fastest one's. Of
    /// these, the plan chooses the one that needs the least memory, then fetches the fewest bytes, then downloads
    /// fastest, then has the smallest chunk.
    package var choice: Candidate? { Self.choice(among: eligible) }

    /// The choice if changes need not be noticed: the best of the candidates that do not notice them. `nil` if there is
    /// none, or if the user does not want integrity.
    package var unguardedChoice: Candidate? {
        guard wantsIntegrity, choice != nil else { return nil }
        return Self.choice(among: candidates.filter { isAffordable($0) && !$0.noticesChanges })
    }

    /// The best candidate of each strategy, as if there were no others: first those that the plan may choose, then the
    /// fastest.
    package var choices: [Candidate] {
        var seen: Set<String> = []
        return candidates.map(\.configuration.strategy).filter { seen.insert($0).inserted }.compactMap { strategy in
            let own = candidates.filter { $0.configuration.strategy == strategy }
            return Self.choice(among: own.filter(isAffordable)) ?? Self.choice(among: own)
        }.sorted(by: precedes)
    }

    /// Returns whether a candidate comes before another one in lists of formats.
    private func precedes(_ one: Candidate, _ other: Candidate) -> Bool {
        let (isFirst, isOther) = (isEligible(one), isEligible(other))
        return isFirst == isOther ? one.decidingNanoseconds < other.decidingNanoseconds : isFirst
    }

    private func isEligible(_ candidate: Candidate) -> Bool {
        isAffordable(candidate) && (!wantsIntegrity || candidate.noticesChanges)
    }

    private static func choice(among candidates: [Candidate]) -> Candidate? {
        guard let soonest = candidates.map(\.decidingNanoseconds).min() else { return nil }
        return candidates.filter { Double($0.decidingNanoseconds) <= Double(soonest) * (1 + margin) }
            .min { $0.rank.lexicographicallyPrecedes($1.rank) }
    }

    /// Returns the libraries with which a configuration does as well as with each other, within the rule's 5 %: in its
    /// reads, its first byte and its downloads. Empty if there is only one library, or if one of them does worse.
    package func equalLibraries(for configuration: Configuration) -> [String] {
        let alike = candidates.filter { candidate in
            var other = candidate.configuration
            other.backend = configuration.backend
            return other == configuration && isEligible(candidate)
        }
        let figures: [(Candidate) -> UInt64] = [
            \.decidingNanoseconds, \.firstByteNanoseconds, \.downloadBytesPerSecond,
        ]
        let areEqual = figures.allSatisfy { figure in
            let values = alike.map { Double(figure($0)) }
            return (values.max() ?? 0) <= (values.min() ?? 0) * (1 + Self.margin)
        }
        return alike.count > 1 && areEqual ? alike.map(\.configuration.backend) : []
    }

    /// A candidate that differs from another one in one step.
    package struct Neighbour: Sendable {
        /// The property that differs, and its value in the neighbour.
        package enum Change: Hashable, Sendable {
            case chunk(UInt64)
            case window(UInt64)
            case access(AccessPolicy)
            case backend(String)
            case strategy(String)
        }

        /// The property that differs.
        package let change: Change
        /// The neighbour.
        package let candidate: Candidate
    }

    /// Returns the nearest candidates in each direction.
    ///
    /// These are the next smaller and larger chunk and window, each other access policy and library, and of each other
    /// strategy the one with the nearest chunk.
    /// - Parameter candidate: The start of the steps.
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
        func differing(_ change: (inout Configuration) -> Void) -> [Candidate] {
            var wanted = own
            change(&wanted)
            return others { other in
                var other = other
                change(&other)
                return other == wanted
            }
        }
        add(\.chunkByteCount, differing { $0.chunkByteCount = nil }, Neighbour.Change.chunk)
        add(\.windowByteCount, differing { $0.windowByteCount = 0 }, Neighbour.Change.window)
        for other in differing({ $0.access = .block }) {
            neighbours.append(Neighbour(change: .access(other.configuration.access), candidate: other))
        }
        for other in differing({ $0.backend = "" }) {
            neighbours.append(Neighbour(change: .backend(other.configuration.backend), candidate: other))
        }
        var seen: Set<String> = [own.strategy]
        var nearest: [Candidate] = []
        for other in candidates where seen.insert(other.configuration.strategy).inserted {
            let alike = candidates.filter {
                let one = $0.configuration
                return one.strategy == other.configuration.strategy && one.windowByteCount == own.windowByteCount
                    && (one.access == own.access || one.access == .block)
            }
            if let found = alike.min(by: { $0.distance(to: own) < $1.distance(to: own) }) { nearest.append(found) }
        }
        return neighbours
            + nearest.sorted(by: precedes).map {
                Neighbour(change: .strategy($0.configuration.strategy), candidate: $0)
            }
    }
}

extension ComputedPlan.Candidate {
    /// Says whether a reader notices that the ciphertext was changed.
    package var noticesChanges: Bool { layout.notices.contains(.change) }

    /// The figure that is compared first, in nanoseconds: the 90th percentile of the reads of the first length by a
    /// reader that has kept nothing. For an object without bytes, it is the time to open it.
    package var decidingNanoseconds: UInt64 { seeks.first?.coldNanoseconds ?? firstByteNanoseconds }

    fileprivate var rank: [Double] {
        [
            Double(memoryByteCount), seeks.first?.amplification ?? 0, -Double(downloadBytesPerSecond),
            Double(configuration.chunkByteCount ?? 0),
        ]
    }

    /// Returns the ratio of the larger chunk to the smaller one. A whole object counts as the same length; another
    /// access or key length adds a little, another library a lot.
    fileprivate func distance(to other: ComputedPlan.Configuration) -> Double {
        chunkRatio(to: other) + (configuration.access == other.access ? 0 : 0.001)
            + (configuration.keyByteCount == other.keyByteCount ? 0 : 0.0001)
            + (configuration.backend == other.backend ? 0 : 1e12)
    }

    private func chunkRatio(to other: ComputedPlan.Configuration) -> Double {
        guard let mine = configuration.chunkByteCount, let other = other.chunkByteCount else { return 1 }
        return Double(max(mine, other)) / Double(max(1, min(mine, other)))
    }
}

package import ByteSources
package import RandomAccess
package import Results
import Statistics
package import Subject
import SubjectProtocol

/// What a plan is computed from; every list is multiplied out.
package struct PlanInputs: Sendable {
    /// A crypto library, and what it takes.
    package struct Library: Sendable {
        /// Its name.
        package var name: String
        /// The copies that it makes of what is decrypted at once.
        package var copyCount: UInt64
        /// What it takes to decrypt with it.
        package var rates: DecryptionRates

        /// Creates a library.
        package init(name: String, copyCount: UInt64, rates: DecryptionRates) {
            (self.name, self.copyCount, self.rates) = (name, copyCount, rates)
        }
    }

    /// The object's length in bytes.
    package var objectByteCount: UInt64
    /// How far away the ciphertext is; `nil` for a file that the system has in memory.
    package var link: RemoteLink?
    /// What asks for it.
    package var client: RemoteClient
    /// The strategies' names.
    package var strategies: [String]
    /// The lengths of AES keys in bytes; a strategy with a length of its own has that. 16, where it can be, for none.
    package var keyByteCounts: [Int]
    /// Plaintext bytes of a chunk of `cbc-chunked`, ciphertext bytes of a segment of Tink's.
    package var chunkByteCounts: [UInt64]
    /// How readers get from a range to ciphertext; authenticated chunks have one way only, and so has one chain.
    package var accesses: [AccessPolicy]
    /// The max number of plaintext bytes of a step.
    package var windowByteCounts: [UInt64]
    /// The lengths of reads in bytes, the one that decides first.
    package var rangeByteCounts: [UInt64]
    /// The libraries.
    package var libraries: [Library]
    /// The max memory of a reader and its caller's buffer; `nil` for any.
    package var memoryBudget: UInt64?
    /// Whether only formats are chosen that notice changes.
    package var wantsIntegrity: Bool
    /// What offsets are drawn from.
    package var seed: UInt64

    /// Creates inputs.
    package init(
        objectByteCount: UInt64, link: RemoteLink?, client: RemoteClient, strategies: [String],
        keyByteCounts: [Int] = [], chunkByteCounts: [UInt64], accesses: [AccessPolicy], windowByteCounts: [UInt64],
        rangeByteCounts: [UInt64], libraries: [Library], memoryBudget: UInt64?, wantsIntegrity: Bool, seed: UInt64
    ) {
        self.objectByteCount = objectByteCount
        self.link = link
        self.client = client
        self.strategies = strategies
        self.keyByteCounts = keyByteCounts
        self.chunkByteCounts = chunkByteCounts
        self.accesses = accesses
        self.windowByteCounts = windowByteCounts
        self.rangeByteCounts = rangeByteCounts
        self.libraries = libraries
        self.memoryBudget = memoryBudget
        self.wantsIntegrity = wantsIntegrity
        self.seed = seed
    }

    /// The ciphers and keys that libraries have to be rated at.
    package static func ciphers(strategies: [String], keyByteCounts: [Int]) -> Set<DecryptionRates.KeyedCipher> {
        Set(
            strategies.flatMap { name in
                keys(of: name, keyByteCounts).map {
                    DecryptionRates.KeyedCipher(Strategy.cipher(ofName: name), keyByteCount: $0)
                }
            })
    }

    fileprivate static func keys(of strategy: String, _ wanted: [Int]) -> [Int] {
        let known = StrategyParameters.keyByteCounts(of: strategy)
        let taken = wanted.filter(known.contains)
        return taken.isEmpty ? [known.contains(16) ? 16 : known[0]] : taken
    }
}

extension ComputedPlan {
    /// Computes what reads cost in each configuration.
    ///
    /// - Parameter inputs: What is asked.
    /// - Throws: `DecryptionError` for lengths that cannot be.
    package init(_ inputs: PlanInputs) throws(DecryptionError) {
        let (inputs, notes) = inputs.fitted
        var candidates: [Candidate] = []
        var rates: [Rate] = []
        for library in inputs.libraries {
            for layout in try inputs.layouts() {
                candidates += try inputs.candidates(layout, library)
                rates += inputs.rates(layout, library)
            }
        }
        self.init(
            storage: Storage(
                latencyNanoseconds: inputs.link?.latencyNanoseconds ?? 0,
                bytesPerSecond: inputs.link?.bytesPerSecond,
                client: inputs.link == nil ? nil : inputs.client.rawValue),
            objectByteCount: inputs.objectByteCount, rates: Self.unique(rates), memoryBudget: inputs.memoryBudget,
            wantsIntegrity: inputs.wantsIntegrity, notes: notes, candidates: candidates)
    }

    private static func unique(_ rates: [Rate]) -> [Rate] {
        var seen: Set<Rate> = []
        return rates.filter { seen.insert($0).inserted }
    }
}

/// A strategy with a length of chunks and of keys.
private struct PlannedLayout {
    let strategy: Strategy
    /// The chunk's length as the strategy's parameter has it.
    let chunkByteCount: UInt64?
    let keyByteCount: Int

    /// Whether windows change what reads of a length ask for: not where chunks are read whole.
    func hasWindows(_ access: AccessPolicy) -> Bool {
        strategy.chunkFormat == nil && (strategy.chunkByteCount == nil || access.granularityIsBlock)
    }
}

extension AccessPolicy {
    /// Whether only the blocks that cover a range are read.
    fileprivate var granularityIsBlock: Bool { self == .block || self == .freshBuffers }
}

extension PlanInputs {
    /// The reads of one length that are drawn: as many as their bytes allow to be copied in no time.
    private static let (maxReads, maxReadByteCount) = (1000 as UInt64, 64 << 20 as UInt64)
    /// Those of a reader that has kept nothing.
    private static let maxColdReads = 300
    /// From start to end, what comes after so much is like what came before.
    private static let downloadByteCount: UInt64 = 64 << 20

    /// The same with lengths that an object of this length can have, and what was changed.
    fileprivate var fitted: (PlanInputs, notes: [ComputedPlan.Note]) {
        var fitted = self
        var notes: [ComputedPlan.Note] = []
        func fit(_ counts: [UInt64], _ name: String) -> [UInt64] {
            let (long, short) = (counts.filter { $0 > objectByteCount }, counts.filter { $0 <= objectByteCount })
            guard let shortest = long.min() else { return short }
            notes.append(short.isEmpty ? .all(name: name, shortest) : .leftOut(name: name, long))
            return short.isEmpty ? [shortest] : short
        }
        if strategies.contains(where: { Self.lengthParameter(of: $0) != nil }) {
            fitted.chunkByteCounts = fit(chunkByteCounts, "chunks")
        }
        fitted.windowByteCounts = fit(windowByteCounts, "windows")
        fitted.rangeByteCounts = []
        for count in rangeByteCounts.map({ min($0, objectByteCount) })
        where count > 0 && !fitted.rangeByteCounts.contains(count) {
            fitted.rangeByteCounts.append(count)
        }
        let long = rangeByteCounts.filter { $0 > objectByteCount }
        if !long.isEmpty, objectByteCount > 0 { notes.append(.whole(long)) }
        return (fitted, notes)
    }

    private static func lengthParameter(of strategy: String) -> StrategyParameters.Parameter? {
        let known = StrategyParameters.textParameters(of: strategy) ?? []
        return [StrategyParameters.Parameter.chunkByteCount, .segmentByteCount].first(where: known.contains)
    }

    /// The strategies with each of their keys and chunks.
    fileprivate func layouts() throws(DecryptionError) -> [PlannedLayout] {
        var layouts: [PlannedLayout] = []
        for name in strategies {
            let known = StrategyParameters.textParameters(of: name) ?? []
            let size = Self.lengthParameter(of: name)
            for key in Self.keys(of: name, keyByteCounts) {
                for chunk in size == nil ? [0] : chunkByteCounts {
                    var parameters = StrategyParameters(name: name)
                    for parameter in known {
                        guard let usual = StrategyParameters.usualText(of: parameter, in: name) else { continue }
                        _ = parameters.read(usual, for: parameter)
                    }
                    if parameters.iv == nil, known.contains(.iv) { parameters.iv = Block(bigEndianValue: 0).bytes }
                    if size == .chunkByteCount { parameters.chunkByteCount = chunk }
                    if size == .segmentByteCount { parameters.segmentByteCount = chunk }
                    if parameters.derivedKeyByteCount != nil { parameters.derivedKeyByteCount = key }
                    let strategy = try parameters.strategy()
                    layouts.append(
                        PlannedLayout(
                            strategy: strategy, chunkByteCount: size == nil ? strategy.chunkByteCount : chunk,
                            keyByteCount: key))
                }
            }
        }
        return layouts
    }

    /// How fast a library decrypts a layout: a chunk at once, or each window.
    fileprivate func rates(_ layout: PlannedLayout, _ library: Library) -> [ComputedPlan.Rate] {
        let cipher = DecryptionRates.KeyedCipher(layout.strategy.cipher, keyByteCount: layout.keyByteCount)
        let calls = layout.strategy.chunkFormat.map { [$0.chunkByteCount] } ?? windowByteCounts
        return calls.map { count in
            // What is in a chunk beside plaintext is no other length.
            let call = layout.strategy.chunkFormat == nil ? count : layout.chunkByteCount ?? count
            return ComputedPlan.Rate(
                backend: library.name, mode: layout.strategy.cipher.mode, keyByteCount: layout.keyByteCount,
                callByteCount: call, bytesPerSecond: library.rates.bytesPerSecond(cipher, byteCount: call))
        }
    }

    /// A layout with each access and window.
    fileprivate func candidates(
        _ layout: PlannedLayout, _ library: Library
    ) throws(DecryptionError) -> [ComputedPlan.Candidate] {
        let strategy = layout.strategy
        let costs = try ReadCosts(
            strategy: strategy, plaintextByteCount: objectByteCount, keyByteCount: layout.keyByteCount,
            in: ReadCosts.Surroundings(link: link, client: client, rates: library.rates))
        // Authenticated chunks are opened whole in any case, and the latest one is kept.
        let hasChoice = strategy.chunkByteCount != nil && strategy.chunkFormat == nil
        var candidates: [ComputedPlan.Candidate] = []
        for access in hasChoice ? accesses : [.block] {
            var known: (seeks: [ComputedPlan.Seek], firstByte: UInt64)?
            for window in windowByteCounts {
                let configuration = ReaderConfiguration(
                    access: access, windowByteCount: Int(clamping: window), threadCount: 1)
                let reader = try costs.reader(configuration)
                let (seeks, firstByte) = if let known { known } else { try self.seeks(costs, reader) }
                if !layout.hasWindows(access) { known = (seeks, firstByte) }
                let longest = max(rangeByteCounts.max() ?? 0, window)
                let memory = configuration.boundByteCount(
                    bufferByteCount: min(longest, objectByteCount), chunkByteCount: strategy.chunkByteCount,
                    plaintextByteCount: objectByteCount, isAuthenticated: strategy.chunkFormat != nil,
                    copiesInLibrary: library.copyCount,
                    requestByteCount: link == nil ? DistantSource.nearRequestByteCount : DistantSource.requestByteCount)
                let held = link == nil ? 0 : client.heldByteCount(objectByteCount: objectByteCount)
                candidates.append(
                    ComputedPlan.Candidate(
                        configuration: ComputedPlan.Configuration(
                            backend: library.name, strategy: strategy.name, keyByteCount: layout.keyByteCount,
                            chunkByteCount: layout.chunkByteCount, access: access.rawValue, windowByteCount: window),
                        noticesChanges: strategy.chunkFormat != nil, firstByteNanoseconds: firstByte, seeks: seeks,
                        downloadBytesPerSecond: try download(reader, strategy.chunkByteCount ?? 0, window),
                        memoryByteCount: memory + held))
            }
        }
        return candidates
    }

    /// Reads of each length at places that are drawn, and the time to the first byte.
    private func seeks(
        _ costs: ReadCosts, _ reader: ReadCosts.Reader
    ) throws(DecryptionError) -> (seeks: [ComputedPlan.Seek], firstByte: UInt64) {
        var seeks: [ComputedPlan.Seek] = []
        var firstByte = costs.opening.nanoseconds
        for range in rangeByteCounts {
            let count = max(20, min(Self.maxReads, Self.maxReadByteCount / max(1, range)))
            let reads = try Workload.random(rangeByteCount: range, seed: seed, readCount: count).reads(
                plaintextByteCount: objectByteCount)
            let cold = try reader.costs(of: reads.prefix(Self.maxColdReads), isCold: true).map(\.nanoseconds)
            if seeks.isEmpty { firstByte += percentile(tenthsOfPercent: 500, of: cold) ?? 0 }
            // What a reader keeps is there from an earlier read.
            _ = try reader.costs(of: reads.suffix(1))
            let each = try reader.costs(of: reads)
            let times = each.map(\.nanoseconds)
            let fetched = each.reduce(0) { $0 + $1.fetchedByteCount }
            seeks.append(
                ComputedPlan.Seek(
                    rangeByteCount: range, medianNanoseconds: percentile(tenthsOfPercent: 500, of: times) ?? 0,
                    slowNanoseconds: percentile(tenthsOfPercent: 900, of: times) ?? 0,
                    coldNanoseconds: percentile(tenthsOfPercent: 900, of: cold) ?? 0,
                    requestCount: Double(each.reduce(0) { $0 + $1.requestCount }) / Double(max(1, each.count)),
                    amplification: Double(max(0, fetched)) / Double(max(1, reads.totalByteCount))))
        }
        return (seeks, firstByte)
    }

    /// Plaintext bytes per second from start to end.
    private func download(
        _ reader: ReadCosts.Reader, _ chunkByteCount: UInt64, _ windowByteCount: UInt64
    ) throws(DecryptionError) -> UInt64 {
        guard objectByteCount > 0 else { return 0 }
        let length = min(objectByteCount, max(2 * chunkByteCount, 16 * windowByteCount, Self.downloadByteCount))
        let windows = ReadList.windows(byteCount: min(windowByteCount, length), plaintextByteCount: length)
        reader.forget()
        let times = try reader.costs(of: windows).map { Double($0.nanoseconds) }
        let half = times.count / 2
        let all = times.reduce(0, +)
        let second = times[half...].reduce(0, +)
        // The rest comes as the second half did.
        let share = Double(times.count - half) / Double(times.count)
        let rest = Double(objectByteCount - length) / (Double(length) * share)
        return UInt64(Double(objectByteCount) * 1e9 / max(1, all + rest * second))
    }
}

package import ByteSources
package import RandomAccess
package import Results
import Statistics
package import Subject
import SubjectProtocol

/// What a plan is computed from; every list is multiplied out.
package struct PlanInputs: Sendable {
    /// The object's length in bytes.
    package var objectByteCount: UInt64
    /// How far away the ciphertext is.
    package var link: RemoteLink
    /// The strategies' names.
    package var strategies: [String]
    /// Plaintext bytes of a chunk of `cbc-chunked`, ciphertext bytes of a segment of Tink's.
    package var chunkByteCounts: [UInt64]
    /// How readers get from a range to ciphertext; authenticated chunks have one way only, and so has one chain.
    package var accesses: [AccessPolicy]
    /// The max number of plaintext bytes of a step.
    package var windowByteCounts: [UInt64]
    /// The lengths of reads in bytes, the one that decides first.
    package var rangeByteCounts: [UInt64]
    /// What a request costs that waits for nothing, in nanoseconds: a call of the kernel.
    package var callNanoseconds: UInt64 = 0
    /// The library; bytes per second by mode; the copies that it makes of what is decrypted at once.
    package var backend: String, cipherBytesPerSecond: [CipherMode: UInt64], copiesInLibrary: UInt64
    /// The max memory of a reader and its caller's buffer; `nil` for any.
    package var memoryBudget: UInt64?
    /// What offsets are drawn from.
    package var seed: UInt64

    /// Creates inputs.
    package init(
        objectByteCount: UInt64, link: RemoteLink, strategies: [String], chunkByteCounts: [UInt64],
        accesses: [AccessPolicy], windowByteCounts: [UInt64], rangeByteCounts: [UInt64], backend: String,
        cipherBytesPerSecond: [CipherMode: UInt64], copiesInLibrary: UInt64, memoryBudget: UInt64?, seed: UInt64
    ) {
        self.objectByteCount = objectByteCount
        self.link = link
        self.strategies = strategies
        self.chunkByteCounts = chunkByteCounts
        self.accesses = accesses
        self.windowByteCounts = windowByteCounts
        self.rangeByteCounts = rangeByteCounts
        self.backend = backend
        self.cipherBytesPerSecond = cipherBytesPerSecond
        self.copiesInLibrary = copiesInLibrary
        self.memoryBudget = memoryBudget
        self.seed = seed
    }
}

extension ComputedPlan {
    /// Computes what reads cost in each configuration.
    ///
    /// - Parameter inputs: What is asked.
    /// - Throws: `DecryptionError` for lengths that cannot be.
    package init(_ inputs: PlanInputs) throws(DecryptionError) {
        var candidates: [Candidate] = []
        for strategy in try inputs.layouts() {
            let costs = try ReadCosts(strategy: strategy, plaintextByteCount: inputs.objectByteCount)
            // Authenticated chunks are opened whole in any case, and the latest one is kept.
            let hasChoice = strategy.chunkByteCount != nil && strategy.chunkFormat == nil
            for access in hasChoice ? inputs.accesses : [.block] {
                for window in inputs.windowByteCounts {
                    candidates.append(try inputs.candidate(costs, strategy, access, windowByteCount: window))
                }
            }
        }
        self.init(
            storage: Storage(
                latencyNanoseconds: inputs.link.latencyNanoseconds, bytesPerSecond: inputs.link.bytesPerSecond),
            objectByteCount: inputs.objectByteCount, backend: inputs.backend,
            cipherBytesPerSecond: Dictionary(
                uniqueKeysWithValues: inputs.cipherBytesPerSecond.map { ($0.key.rawValue, $0.value) }),
            memoryBudget: inputs.memoryBudget, candidates: candidates)
    }
}

extension PlanInputs {
    /// The reads of one length that are drawn: as many as their bytes allow to be copied in no time.
    private static let (maxReads, maxReadByteCount) = (1000 as UInt64, 64 << 20 as UInt64)

    /// The strategies with each of their chunks.
    fileprivate func layouts() throws(DecryptionError) -> [Strategy] {
        var layouts: [Strategy] = []
        for name in strategies {
            let known = StrategyParameters.textParameters(of: name) ?? []
            let size = [StrategyParameters.Parameter.chunkByteCount, .segmentByteCount].first(where: known.contains)
            for chunk in size == nil ? [0] : chunkByteCounts {
                var parameters = StrategyParameters(name: name)
                for parameter in known {
                    guard let usual = StrategyParameters.usualText(of: parameter, in: name) else { continue }
                    _ = parameters.read(usual, for: parameter)
                }
                if parameters.iv == nil, known.contains(.iv) { parameters.iv = Block(bigEndianValue: 0).bytes }
                if size == .chunkByteCount { parameters.chunkByteCount = chunk }
                if size == .segmentByteCount { parameters.segmentByteCount = chunk }
                layouts.append(try parameters.strategy())
            }
        }
        return layouts
    }

    fileprivate func candidate(
        _ costs: ReadCosts, _ strategy: Strategy, _ access: AccessPolicy, windowByteCount: UInt64
    ) throws(DecryptionError) -> ComputedPlan.Candidate {
        let configuration = ReaderConfiguration(
            access: access, windowByteCount: Int(clamping: windowByteCount), threadCount: 1)
        let rate = cipherBytesPerSecond[strategy.mode] ?? 1
        func time(_ cost: ReadCosts.Cost) -> UInt64 {
            cost.nanoseconds(link, cipherBytesPerSecond: rate) + cost.requestCount * callNanoseconds
        }
        var seeks: [ComputedPlan.Seek] = []
        var firstByte: UInt64 = 0
        for range in rangeByteCounts {
            let count = max(20, min(Self.maxReads, Self.maxReadByteCount / max(1, range)))
            let reads = try Workload.random(rangeByteCount: range, seed: seed, readCount: count).reads(
                plaintextByteCount: objectByteCount)
            let each = try costs.costs(of: reads, configuration)
            let times = each.map(time)
            let median = percentile(tenthsOfPercent: 500, of: times) ?? 0
            if seeks.isEmpty { firstByte = time(costs.opening) + median }
            seeks.append(
                ComputedPlan.Seek(
                    rangeByteCount: range, medianNanoseconds: median,
                    slowNanoseconds: percentile(tenthsOfPercent: 900, of: times) ?? 0,
                    requestCount: Double(each.reduce(0) { $0 + $1.requestCount }) / Double(max(1, each.count)),
                    amplification: Double(each.reduce(0) { $0 + $1.fetchedByteCount })
                        / Double(max(1, reads.totalByteCount))))
        }
        // From start to end, each step is like the others: some chunks and windows stand for all.
        let chunk = strategy.chunkByteCount ?? 0
        let length = min(objectByteCount, max(2 * chunk, 16 * windowByteCount))
        let windows = ReadList.windows(byteCount: min(windowByteCount, length), plaintextByteCount: length)
        let download = try costs.costs(of: windows, configuration).reduce(0) { $0 + time($1) }
        let longest = max(rangeByteCounts.max() ?? 0, windowByteCount)
        return ComputedPlan.Candidate(
            configuration: ComputedPlan.Configuration(
                strategy: strategy.name, chunkByteCount: strategy.chunkByteCount, access: access.rawValue,
                windowByteCount: windowByteCount),
            firstByteNanoseconds: firstByte, seeks: seeks,
            downloadBytesPerSecond: UInt64(Double(length) * 1e9 / Double(max(1, download))),
            memoryByteCount: configuration.boundByteCount(
                bufferByteCount: min(longest, objectByteCount), chunkByteCount: strategy.chunkByteCount,
                plaintextByteCount: objectByteCount, isAuthenticated: strategy.chunkFormat != nil,
                copiesInLibrary: copiesInLibrary, requestByteCount: DistantSource.requestByteCount))
    }
}

package import ByteSources
package import RandomAccess
package import Results
import Statistics
import Subject
import SubjectProtocol
package import Support

/// The inputs of a computed plan. The plan has all combinations of the lists.
package struct PlanInputs: Sendable {
    /// A crypto library with its costs.
    package struct Library: Sendable {
        /// The name of the library.
        package var name: String
        /// The number of copies that it makes of the bytes of one decryption.
        package var copyCount: UInt64
        /// The rates of decryption.
        package var rates: DecryptionRates

        package init(name: String, copyCount: UInt64, rates: DecryptionRates) {
            (self.name, self.copyCount, self.rates) = (name, copyCount, rates)
        }
    }

    /// A format with the parameters that the user gives.
    package struct Chosen: Hashable, Sendable {
        /// The format.
        package let format: Format
        /// The values of the parameters.
        package let values: [String: Value]
        /// The text of the strategy.
        package let text: String

        /// Parses the parameters of a format: an empty text, or one that begins with the colon.
        ///
        /// - Throws: `DecryptionError.invalidParameter`.
        package init(_ format: Format, written text: Substring = "") throws(DecryptionError) {
            self.format = format
            let given = try format.values(writtenAs: text).values
            let names = format.rules.chunk?.expression.names ?? []
            lengthParameter = format.inputs.first { $0.isSize && names.contains($0.name) && given[$0.name] == nil }
            derivedKey = format.derivedKeyInput.flatMap { given[$0.name] == nil ? $0 : nil }
            let varied = [lengthParameter, derivedKey].compactMap { $0?.name }
            var values = given
            // What belongs to an object and cannot be known here, such as an IV, does not change what reads cost.
            for input in format.inputs where values[input.name] == nil && !varied.contains(input.name) {
                if input.name == Format.Input.ivName {
                    values[input.name] = input.sampleIV
                } else if input.defaultValue == nil {
                    values[input.name] = input.sample
                }
            }
            self.values = values
            self.text = format.reference + text
        }

        /// The parameter that determines the chunk length, if the user does not give it; `nil` if there is none.
        fileprivate let lengthParameter: Format.Input?
        /// The parameter for the length of the chunks' key, if the user does not give it; `nil` if there is none.
        fileprivate let derivedKey: Format.Input?

        /// The strategy with a length in ``lengthParameter`` and a key length.
        fileprivate func strategy(_ length: Value?, keyByteCount: Int) -> Strategy {
            var values = values
            if let lengthParameter { values[lengthParameter.name] = length }
            if let derivedKey { values[derivedKey.name] = .integer(Int128(keyByteCount)) }
            return Strategy(format, values).representative
        }

        /// The wanted key lengths that the format has, or the usual one.
        fileprivate func keys(_ wanted: [Int]) -> [Int] {
            let known = format.usualKeyByteCounts
            let taken = wanted.filter(known.contains)
            return taken.isEmpty ? [known.contains(16) ? 16 : known[0]] : taken
        }
    }

    /// The object's length in bytes.
    package var objectByteCount: UInt64
    /// The link to the ciphertext; `nil` for a file in the page cache.
    package var link: RemoteLink?
    /// The client of the store.
    package var client: RemoteClient
    /// The strategies. An open chunk length takes each possible value of ``chunkByteCounts``.
    package var strategies: [Chosen]
    /// The lengths of AES keys in bytes. A strategy without any of them has its usual length: 16 if possible.
    package var keyByteCounts: [Int]
    /// The lengths of chunks in bytes, or the values of the parameter that determines them.
    package var chunkByteCounts: [UInt64]
    /// The access policies of readers. Authenticated chunks have only one, and so does a single chain.
    package var accesses: [AccessPolicy]
    /// The windows: the maximum number of plaintext bytes of a step.
    package var windowByteCounts: [UInt64]
    /// The lengths of reads in bytes. The first one decides.
    package var rangeByteCounts: [UInt64]
    /// The libraries.
    package var libraries: [Library]
    /// The maximum memory of a reader with its caller's buffer in bytes; `nil` for any.
    package var memoryBudget: UInt64?
    /// True to choose only among formats that detect changes.
    package var wantsIntegrity: Bool
    /// The seed of offsets.
    package var seed: UInt64

    package init(
        objectByteCount: UInt64, link: RemoteLink?, client: RemoteClient, strategies: [Chosen],
        keyByteCounts: [Int] = [], chunkByteCounts: [UInt64], accesses: [AccessPolicy], windowByteCounts: [UInt64],
        rangeByteCounts: [UInt64], libraries: [Library], memoryBudget: UInt64?, wantsIntegrity: Bool, seed: UInt64
    ) {
        (self.objectByteCount, self.link, self.client) = (objectByteCount, link, client)
        (self.strategies, self.keyByteCounts, self.chunkByteCounts) = (strategies, keyByteCounts, chunkByteCounts)
        (self.accesses, self.windowByteCounts, self.rangeByteCounts) = (accesses, windowByteCounts, rangeByteCounts)
        (self.libraries, self.memoryBudget) = (libraries, memoryBudget)
        (self.wantsIntegrity, self.seed) = (wantsIntegrity, seed)
    }

    /// The ciphers and key lengths for which libraries need rates.
    package static func ciphers(strategies: [Chosen], keyByteCounts: [Int]) -> Set<DecryptionRates.KeyedCipher> {
        Set(
            strategies.flatMap { chosen in
                chosen.keys(keyByteCounts).compactMap { key in
                    try? ReadCosts.cipher(
                        of: chosen.strategy(chosen.lengthParameter?.sample, keyByteCount: key), keyByteCount: key)
                }
            })
    }
}

extension ComputedPlan {
    /// Computes the costs of reads in each configuration.
    ///
    /// - Parameter inputs: The inputs.
    /// - Throws: `DecryptionError` for impossible lengths.
    package init(_ inputs: PlanInputs) throws(DecryptionError) {
        var (inputs, notes) = inputs.fitted
        var candidates: [Candidate] = []
        var rates: [Rate] = []
        var failures: [String: DecryptionError] = [:]
        var planned: [(text: String, layouts: [PlannedLayout])] = []
        for chosen in inputs.strategies {
            do throws(DecryptionError) {
                planned.append((chosen.text, try inputs.layouts(chosen)))
            } catch {
                failures[chosen.text] = error
            }
        }
        for library in inputs.libraries {
            for (text, layouts) in planned {
                do throws(DecryptionError) {
                    var own: [Candidate] = []
                    for layout in layouts { own += try inputs.candidates(layout, library) }
                    candidates += own
                    rates += layouts.flatMap { inputs.rates($0, library) }
                } catch {
                    // The first library is the one that was meant; the others stand in.
                    failures[text] = failures[text] ?? error
                }
            }
        }
        for strategy in candidates.map(\.configuration.strategy) { failures[strategy] = nil }
        let missing = inputs.strategies.compactMap { chosen in failures[chosen.text].map { (chosen.text, $0) } }
        if candidates.isEmpty, let (_, failure) = missing.first { throw failure }
        if !missing.isEmpty { notes.append(.notComputed(missing.map { "\($0) (\($1))" })) }
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

/// A strategy with a chunk length and a key length.
private struct PlannedLayout {
    let strategy: Strategy
    /// The text of the strategy.
    let text: String
    /// The chunk's length in the strategy's parameter.
    let chunkByteCount: UInt64?
    let keyByteCount: Int
    /// The cipher of the chunks, with the length of their key.
    let cipher: DecryptionRates.KeyedCipher

    /// Returns whether windows change the requests of reads. They do not if the reader reads whole chunks.
    func hasWindows(_ access: AccessPolicy) -> Bool {
        !strategy.isAuthenticated && (strategy.chunkByteCount == nil || !access.readsWholeChunks)
    }
}

extension Strategy {
    /// The facts of the format, for an object with a ciphertext length.
    fileprivate func stored(_ byteCount: UInt64) throws(DecryptionError) -> ComputedPlan.Layout {
        let facts = try facts()
        let noticed: [(ComputedPlan.Notice, Bool)] = [
            (.change, isAuthenticated), (.move, facts.isIndexBound), (.otherFile, facts.isObjectBound),
            (.cut, facts.isEndBound),
        ]
        return ComputedPlan.Layout(
            notices: Set(noticed.filter(\.1).map(\.0)), storedByteCount: byteCount,
            maxByteCount: facts.maxPlaintextByteCount)
    }
}

extension PlanInputs {
    /// The maximum number of random reads of one length, and the maximum of their bytes, which are copied quickly.
    private static let (maxReads, maxReadByteCount) = (1000 as UInt64, 64 << 20 as UInt64)
    /// The maximum number of reads of a reader without kept plaintext.
    private static let maxColdReads = 300
    /// The computed part of a download. The speed no longer changes after this number of bytes.
    private static let downloadByteCount: UInt64 = 64 << 20
    /// The maximum length of an authenticated chunk, which a reader holds as a whole.
    private static let maxHeldByteCount: UInt64 = 256 << 20

    /// The inputs with only those lengths that an object of this length can have, and notes on the changes.
    fileprivate var fitted: (PlanInputs, notes: [ComputedPlan.Note]) {
        var fitted = self
        var notes: [ComputedPlan.Note] = []
        func fit(_ counts: [UInt64], _ name: String) -> [UInt64] {
            let (long, short) = (counts.filter { $0 > objectByteCount }, counts.filter { $0 <= objectByteCount })
            guard let shortest = long.min() else { return short }
            notes.append(short.isEmpty ? .all(name: name, shortest) : .leftOut(name: name, long))
            return short.isEmpty ? [shortest] : short
        }
        if strategies.contains(where: { $0.lengthParameter != nil }) {
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

    /// A strategy with each of its keys and chunks.
    fileprivate func layouts(_ chosen: Chosen) throws(DecryptionError) -> [PlannedLayout] {
        var layouts: [PlannedLayout] = []
        let size = chosen.lengthParameter
        for key in chosen.keys(keyByteCounts) {
            var lengths: [Value?] = [nil]
            if let size {
                lengths = chunkByteCounts.map { Value.integer(Int128($0)) }
                // If the parameter has a default, lengths that do not fit are for other formats.
                if size.defaultValue != nil {
                    lengths.removeAll { (try? chosen.strategy($0, keyByteCount: key).validate()) == nil }
                }
                if lengths.isEmpty { lengths = [nil] }
            }
            for length in lengths {
                let strategy = chosen.strategy(length, keyByteCount: key)
                try strategy.validate()
                var chunkByteCount = strategy.chunkByteCount
                if let size, case .integer(let count)? = strategy[size.name] {
                    chunkByteCount = UInt64(clamping: count)
                }
                layouts.append(
                    PlannedLayout(
                        strategy: strategy, text: chosen.text, chunkByteCount: chunkByteCount, keyByteCount: key,
                        cipher: try ReadCosts.cipher(of: strategy, keyByteCount: key)))
            }
        }
        return layouts
    }

    /// The rates at which a library decrypts a layout: a chunk per call, or each window.
    fileprivate func rates(_ layout: PlannedLayout, _ library: Library) -> [ComputedPlan.Rate] {
        let cipher = layout.cipher
        let isAuthenticated = layout.strategy.isAuthenticated
        // Uses the chunk length in the parameter, even if a chunk has other bytes than plaintext.
        let calls = isAuthenticated ? layout.chunkByteCount.map { [$0] } ?? windowByteCounts : windowByteCounts
        return calls.map { call in
            ComputedPlan.Rate(
                backend: library.name, mode: cipher.cipher.mode, keyByteCount: cipher.keyByteCount,
                cipher: cipher.cipher.nameBesideAES,
                callByteCount: call, bytesPerSecond: library.rates.bytesPerSecond(cipher, byteCount: call))
        }
    }

    /// The candidates for a layout, one for each access and window.
    fileprivate func candidates(
        _ layout: PlannedLayout, _ library: Library
    ) throws(DecryptionError) -> [ComputedPlan.Candidate] {
        let strategy = layout.strategy
        guard library.rates.points[layout.cipher] != nil else {
            throw .unsupported("\(layout.cipher.cipher.rawValue) in \(library.name)")
        }
        guard
            !strategy.isAuthenticated
                || min(strategy.chunkByteCount ?? .max, objectByteCount) <= Self.maxHeldByteCount
        else {
            throw .unsupported("chunks over \(Self.maxHeldByteCount >> 20) MiB, each of which a read takes whole")
        }
        // Each chunk takes a step of the simulation, so that there would be millions of them.
        guard strategies.count == 1 || strategy.chunkByteCount.map({ $0 > UInt64(Block.byteCount) }) ?? true else {
            throw .unsupported("chunks of a cipher block beside other formats")
        }
        // The object is as long as was asked for, or a little longer if the format has units.
        let unit = max(1, strategy.geometry?.plaintextUnitByteCount ?? 1)
        let costs = try ReadCosts(
            strategy: strategy, plaintextByteCount: (objectByteCount + unit - 1) / unit * unit,
            keyByteCount: layout.keyByteCount,
            in: ReadCosts.Environment(link: link, client: client, rates: library.rates))
        let stored = try strategy.stored(costs.ciphertextByteCount)
        // Readers always open whole authenticated chunks, and keep the latest one.
        let hasChoice = strategy.chunkByteCount != nil && !strategy.isAuthenticated
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
                    plaintextByteCount: objectByteCount, isAuthenticated: strategy.isAuthenticated,
                    copiesInLibrary: library.copyCount,
                    requestByteCount: link == nil ? DistantSource.nearRequestByteCount : DistantSource.requestByteCount)
                let held = link == nil ? 0 : client.heldByteCount(objectByteCount: objectByteCount)
                candidates.append(
                    ComputedPlan.Candidate(
                        configuration: ComputedPlan.Configuration(
                            backend: library.name, strategy: layout.text, keyByteCount: layout.cipher.keyByteCount,
                            cipher: layout.cipher.cipher.nameBesideAES,
                            chunkByteCount: layout.chunkByteCount, access: access, windowByteCount: window),
                        layout: stored, firstByteNanoseconds: firstByte, seeks: seeks,
                        downloadBytesPerSecond: try download(reader, strategy.chunkByteCount ?? 0, window),
                        memoryByteCount: memory + held))
            }
        }
        return candidates
    }

    /// Computes reads of each length at random offsets, and the time to the first byte.
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
            // A first read fills the plaintext that the reader keeps.
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

    /// Computes the plaintext bytes per second of a read from start to end.
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
        // The rest has the speed of the second half.
        let share = Double(times.count - half) / Double(times.count)
        let rest = Double(objectByteCount - length) / (Double(length) * share)
        return UInt64(Double(objectByteCount) * 1e9 / max(1, all + rest * second))
    }
}

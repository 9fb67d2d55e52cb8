import ByteSources
import Glibc
import RandomAccess
import Results
import Subject
import SubjectProtocol
import Support

/// Reads one entry of a plan: every combination of its values is a cell.
struct PlanEntryReader {
    let entry: PlanMapping
    let knownBackends: [String]
    let missingBackends: [String: String]
    /// Whether a name is of a backend that another process loads.
    let isForeign: (String) -> Bool
    /// What is measured beside the backends that it names.
    let addedBackends: [String]
    let defaultBackend: String?
    /// An object of the user's, in place of one that is made.
    let object: PlanObject?
    let traces: [String: PlayerTrace]

    /// The members whose lists are multiplied out, the outermost first; backends are the innermost.
    private static let multiplied =
        ["strategy"] + PlanObject.parameterKeys + [
            "key-size", "object-size", "source", "reuse", "read-ahead", "cold", "latency", "bandwidth",
            "client", "access", "reads", "window", "workload", "threads",
        ]

    private static let keys = ["backend", "rounds", "label"] + multiplied

    /// Reads the entry.
    ///
    /// A combination that cannot be is left out where each of its values has a place in another one: a parameter has none
    /// in the strategies of the list that do not have it.
    ///
    /// - Parameters:
    ///   - defaultObjectByteCount: The object's length where the entry says none.
    ///   - left: Takes the backends that are named beside others and are not there, with the reasons.
    /// - Returns: Its cells.
    /// - Throws: `PlanError`, also if none of the backends is there.
    func cells(defaultObjectByteCount: UInt64, leftOut left: inout [String: String]) throws(PlanError) -> [Cell] {
        try entry.allow(Self.keys)
        if object != nil { try entry.refuse(PlanObject.keys, "of an object that is given") }
        let named = try backendNames()
        let backends = named.filter { missingBackends[$0] == nil } + addedBackends
        if backends.isEmpty, let backend = named.first, let reason = missingBackends[backend] {
            throw entry.error("backend", "backend \(backend) is not there: \(reason)")
        }
        left.merge(missingBackends.filter { named.contains($0.key) }) { $1 }
        let label = try entry.text("label")
        let lists = try lists()
        var places = PlanPlaces(lists + [("backend", named.filter { missingBackends[$0] == nil })])
        var cells: [Cell] = []
        for choice in PlanChoice.all(of: lists) {
            do throws(PlanError) {
                let (base, unplaced) = try cell(choice, defaultByteCount: defaultObjectByteCount)
                var isPlaced = false
                for backend in backends {
                    var cell = base
                    (cell.backend, cell.label) = (backend, label)
                    if MeasuredProgram.command(of: backend) != nil, let obstacle = MeasuredProgram.obstacle(to: cell) {
                        let error = entry.error("backend", "\(backend) with \(obstacle)")
                        if named.contains(backend) { places.note(error, at: choice.values + [("backend", backend)]) }
                        isPlaced = isPlaced || !named.contains(backend)
                        continue
                    }
                    isPlaced = true
                    places.fill([("backend", backend)])
                    cells.append(cell)
                }
                for (key, error) in unplaced { places.note(error, at: choice.values.filter { $0.key == key }) }
                if isPlaced { places.fill(choice.values.filter { unplaced[$0.key] == nil }) }
            } catch {
                places.note(error, at: choice.values)
            }
        }
        try places.requireAll()
        return cells
    }

    /// The lists of the members that the entry has, numbers of threads spelt out.
    private func lists() throws(PlanError) -> [(key: String, values: [String])] {
        var lists: [(key: String, values: [String])] = []
        for key in Self.multiplied {
            guard let texts = try entry.texts(key) else { continue }
            lists.append((key, key == "threads" ? Self.threadCounts(texts) : texts))
        }
        return lists
    }

    /// Makes the cell of a combination, without backend and label.
    ///
    /// - Returns: The cell, and the members that have no place in it, each with the reason.
    private func cell(
        _ choice: PlanChoice, defaultByteCount: UInt64
    ) throws(PlanError) -> (cell: Cell, unplaced: [String: PlanError]) {
        var unplaced: [String: PlanError] = [:]
        let object = try planned(choice, defaultByteCount: defaultByteCount, unplaced: &unplaced)
        let access = try one(
            of: AccessPolicy.allCases.map(\.rawValue), choice, "access", fallback: AccessPolicy.block.rawValue)
        if object.strategy == PlaylistRequest.strategyName {
            try require(access == AccessPolicy.block.rawValue, "access", access, "block with \(object.strategy)")
            try require(
                object.source == .file || object.source == .generated, "source", object.source.rawValue,
                "file or generated with \(object.strategy)")
        }
        let window = choice["window"] ?? "256KiB"
        let windowByteCount = try entry.size(window, key: "window", minimum: 1)
        try require(windowByteCount <= Workload.largestRead, "window", window, "at most 256MiB")
        let parsed = try parse(choice, objectByteCount: object.byteCount, windowByteCount: windowByteCount)
        let threads = choice["threads"] ?? "1"
        let threadCount = Int(threads) ?? 0
        try require((1...256).contains(threadCount), "threads", threads, "a number from 1 to 256, or curve")
        try require(
            BufferLimit.allows(threads: threadCount, windowByteCount: windowByteCount), "threads", threads,
            BufferLimit.expectation)
        let remote = try remote(choice, object.source)
        var cell = Cell(
            backend: "", strategy: object.strategy, windowByteCount: windowByteCount, workload: parsed.text,
            readCount: parsed.readCount, access: access, threads: threadCount, keyByteCount: object.keyByteCount,
            objectByteCount: object.byteCount, source: try sourceName(choice, object.source, unplaced: &unplaced))
        cell.adopt(object.parameters)
        cell.isCold = try isCold(choice, object.source)
        cell.remoteLatencyNanoseconds = remote?.latency
        cell.remoteBytesPerSecond = remote?.bandwidth
        cell.remoteClient = try client(choice, object.strategy, hasStore: remote != nil)?.rawValue
        return (cell, unplaced)
    }

    /// Numbers of threads, `curve` spelt out: the powers of two up to the CPUs that there are, these, and twice as many.
    private static func threadCounts(_ texts: [String]) -> [String] {
        texts.flatMap { text -> [String] in
            guard text == "curve" else { return [text] }
            let cpuCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            let powers = sequence(first: 1) { $0 * 2 }.prefix { $0 < cpuCount }
            return (Array(powers) + [cpuCount, min(2 * cpuCount, 256)]).map(String.init)
        }
    }

    /// How many cells the entry makes, or more than `maximum` if they are more: before any of them is made.
    func cellCount(atMost maximum: Int) throws(PlanError) -> Int {
        var count = 1
        for key in ["backend"] + Self.multiplied {
            let factor = try entry.texts(key)?.count ?? 1
            guard factor <= maximum, count * factor <= maximum else { return maximum + 1 }
            count *= factor
        }
        return count
    }

    private func require(
        _ condition: Bool, _ key: String, _ value: String, _ expected: String
    ) throws(PlanError) {
        guard condition else { throw entry.error(key, "\(key) \(value): expected \(expected)") }
    }

    private func backendNames() throws(PlanError) -> [String] {
        guard let names = try entry.texts("backend") ?? defaultBackend.map({ [$0] }) else {
            throw entry.error("backend", "no backend: expected one of \(knownBackends.joined(separator: ", "))")
        }
        for name in names {
            try require(
                knownBackends.contains(name) || isForeign(name), "backend", URLText.redacted(name),
                "one of \(knownBackends.joined(separator: ", "))")
        }
        return names
    }

    private func one(
        of known: [String], _ choice: PlanChoice, _ key: String, fallback: String
    ) throws(PlanError) -> String {
        let value = choice[key] ?? fallback
        try require(known.contains(value), key, URLText.redacted(value), "one of \(known.joined(separator: ", "))")
        return value
    }

    private func parse(
        _ choice: PlanChoice, objectByteCount: UInt64, windowByteCount: UInt64
    ) throws(PlanError) -> (text: String, readCount: Int?) {
        let workload = choice["workload"] ?? CellWorkload.sequential.description
        guard let parsed = CellWorkload(workload) else {
            throw entry.error("workload", "workload \(workload): expected \(CellWorkload.expectation)")
        }
        if case .trace(let name) = parsed {
            guard let trace = traces[name] else {
                throw entry.error("workload", "workload \(workload): expected the name of a file in data/traces")
            }
            try require(
                trace.minByteCount <= objectByteCount, "workload", workload,
                "an object-size of at least \(trace.minByteCount) bytes, found \(objectByteCount)")
            guard let reads = trace.reads(objectByteCount: objectByteCount, windowByteCount: windowByteCount) else {
                throw entry.error(
                    "window", "window \(windowByteCount): expected at most \(PlayerTrace.maxReads) reads")
            }
            return (parsed.description, reads.count)
        }
        guard case .random(let rangeByteCount) = parsed else { return (parsed.description, nil) }
        try require(
            rangeByteCount <= objectByteCount, "workload", workload,
            "ranges within the object's \(objectByteCount) bytes")
        guard let reads = choice["reads"] else { return (parsed.description, CellWorkload.defaultReadCount) }
        return (parsed.description, try entry.integer(reads, key: "reads", 1...1_000_000))
    }

    /// The object that is given, or the one that a combination asks for.
    private func planned(
        _ choice: PlanChoice, defaultByteCount: UInt64, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> PlannedObject {
        if let object { return PlannedObject(object) }
        let strategy = try one(of: StrategyParameters.textNames, choice, "strategy", fallback: "cbc-continuous")
        let source = try one(
            of: ObjectKind.allCases.map(\.rawValue), choice, "source", fallback: ObjectKind.file.rawValue)
        let byteCount =
            try choice["object-size"].map { text throws(PlanError) in
                try entry.size(text, key: "object-size", minimum: 0)
            } ?? defaultByteCount
        let parameters = try parameters(strategy, choice, unplaced: &unplaced)
        try require(
            byteCount % 16 == 0 || parameters.padding != Padding.none, "object-size", "\(byteCount)",
            "a multiple of 16 bytes, since padding is none")
        return PlannedObject(
            strategy: strategy, parameters: parameters, keyByteCount: try keyByteCount(strategy, choice),
            byteCount: byteCount, source: ObjectKind(rawValue: source) ?? .file)
    }

    /// The parameters of a strategy; those of others have no place in it.
    private func parameters(
        _ strategy: String, _ choice: PlanChoice, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> StrategyParameters {
        let known = StrategyParameters.textParameters(of: strategy) ?? []
        var made = StrategyParameters(name: strategy)
        made.iv = Cell.iv
        var (keys, lengthKey): (Set, String) = (["key-size"], "strategy")
        for parameter in known where parameter != .iv {
            let key = key(of: parameter, choice, unplaced: &unplaced)
            keys.insert(key)
            guard let text = choice[key] ?? StrategyParameters.usualText(of: parameter, in: strategy) else {
                throw entry.error("strategy", "strategy \(strategy): expected a \(key) with it")
            }
            if parameter == .chunkByteCount || parameter == .segmentByteCount { lengthKey = key }
            try require(
                made.read(text, for: parameter), key, URLText.redacted(text),
                StrategyParameters.textExpectation(of: parameter, in: strategy))
        }
        for key in PlanObject.parameterKeys where !keys.contains(key) && unplaced[key] == nil {
            guard let text = choice[key] else { continue }
            unplaced[key] = entry.error(key, "\(key) \(text): expected no \(key) for \(strategy)")
        }
        if strategy != PlaylistRequest.strategyName {
            do throws(DecryptionError) {
                _ = try made.strategy()
            } catch {
                throw entry.error(lengthKey, "\(lengthKey): \(error)")
            }
        }
        return made
    }

    /// The key under which a parameter stands: `chunk-size` is that of segments as well, and `key-size` that of derived
    /// keys, unless these have their own.
    private func key(
        of parameter: StrategyParameters.Parameter, _ choice: PlanChoice, unplaced: inout [String: PlanError]
    ) -> String {
        let shared: [StrategyParameters.Parameter: String] = [
            .segmentByteCount: "chunk-size", .derivedKeyByteCount: "key-size",
        ]
        guard let key = shared[parameter], choice[key] != nil else { return parameter.textName }
        guard choice[parameter.textName] != nil else { return key }
        unplaced[key] = entry.error(key, "\(key) beside \(parameter.textName): expected one of them")
        return parameter.textName
    }

    private func keyByteCount(_ strategy: String, _ choice: PlanChoice) throws(PlanError) -> Int {
        let known = StrategyParameters.keyByteCounts(of: strategy)
        guard StrategyParameters.textParameters(of: strategy)?.contains(.derivedKeyByteCount) != true else {
            return known[0]
        }
        // Bits, as the ciphers are named after them.
        let bits = known.map { "\($0 * 8)" }
        let text = try one(of: bits, choice, "key-size", fallback: bits[0])
        return known[bits.firstIndex(of: text) ?? 0]
    }

    /// What cells say of their source: of a server also whether connections are kept (`reuse`), and how many ranges are
    /// under way at once (`read-ahead`).
    private func sourceName(
        _ choice: PlanChoice, _ source: ObjectKind, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> String {
        var remoteObject = object?.remoteObject ?? RemoteObject(url: "\(source.rawValue)://")
        for key in ["reuse", "read-ahead"] {
            guard let text = choice[key], !source.isServed else { continue }
            unplaced[key] = entry.error(
                key, "\(key) \(text): expected it with source http or https, found \(source.rawValue)")
        }
        guard source.isServed else { return source.rawValue }
        if let text = choice["reuse"] {
            guard let keeps = ["yes": true, "true": true, "no": false, "false": false][text] else {
                throw entry.error("reuse", "reuse \(text): expected yes or no")
            }
            remoteObject.keepsConnections = keeps
        }
        if let text = choice["read-ahead"] {
            guard let depth = Int(text), (0...64).contains(depth) else {
                throw entry.error("read-ahead", "read-ahead \(text): expected 0 to 64")
            }
            remoteObject.readAheadDepth = depth
        }
        return remoteObject.sourceName
    }

    /// The simulated remote store, where the entry has one: `latency`, `bandwidth`, or both.
    private func remote(
        _ choice: PlanChoice, _ source: ObjectKind
    ) throws(PlanError) -> (latency: UInt64, bandwidth: UInt64?)? {
        let (latency, bandwidth) = (choice["latency"], choice["bandwidth"])
        guard latency != nil || bandwidth != nil else { return nil }
        guard source == .file || source == .generated else {
            let key = latency == nil ? "bandwidth" : "latency"
            throw entry.error(
                key, "\(key) with source \(source.rawValue): expected source file or generated, to put the store around"
            )
        }
        let nanoseconds = latency.map { TimeText.nanoseconds($0) } ?? 0
        guard let nanoseconds, nanoseconds <= TimeText.longestLatency else {
            throw entry.error("latency", "latency \(latency ?? ""): expected \(TimeText.latencyExpectation)")
        }
        guard let bandwidth else { return (nanoseconds, nil) }
        guard let bytesPerSecond = TimeText.bytesPerSecond(bandwidth) else {
            throw entry.error("bandwidth", "bandwidth \(bandwidth): expected \(TimeText.bandwidthExpectation)")
        }
        return (nanoseconds, bytesPerSecond)
    }

    /// The client that asks the store; `nil` without one.
    private func client(
        _ choice: PlanChoice, _ strategy: String, hasStore: Bool
    ) throws(PlanError) -> RemoteClient? {
        let text = choice["client"]
        guard hasStore else {
            guard let text else { return nil }
            throw entry.error("client", "client \(text): expected it with latency or bandwidth")
        }
        let isPlaylist = strategy == PlaylistRequest.strategyName
        let known = isPlaylist ? [.serial] : RemoteClient.allCases
        guard let text else { return isPlaylist ? .serial : .usual }
        guard let client = known.first(where: { $0.rawValue == text }) else {
            let names = known.map(\.rawValue).joined(separator: " or ")
            throw entry.error("client", "client \(text): expected \(names)" + (isPlaylist ? " with \(strategy)" : ""))
        }
        return client
    }

    /// Whether files are dropped from the page cache before each iteration; `nil` if they are not.
    private func isCold(_ choice: PlanChoice, _ source: ObjectKind) throws(PlanError) -> Bool? {
        guard let text = choice["cold"] else { return nil }
        guard let isCold = ["yes": true, "true": true, "no": false, "false": false][text] else {
            throw entry.error("cold", "cold \(text): expected yes or no")
        }
        guard !isCold || source == .file else {
            throw entry.error("cold", "cold \(text): expected it with source file, found \(source.rawValue)")
        }
        return isCold ? true : nil
    }
}

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

    private static let keys =
        ["backend", "strategy"] + PlanObject.parameterKeys + [
            "window", "workload", "reads", "access", "threads", "key-size", "object-size", "source", "reuse",
            "read-ahead", "cold", "latency", "bandwidth", "client", "rounds", "label",
        ]

    /// Reads the entry.
    ///
    /// - Parameters:
    ///   - defaultObjectByteCount: The object's length where the entry says none.
    ///   - left: Takes the backends that are named beside others and are not there, with the reasons.
    /// - Returns: Its cells.
    /// - Throws: `PlanError`, also if none of the backends is there.
    func cells(defaultObjectByteCount: UInt64, leftOut left: inout [String: String]) throws(PlanError) -> [Cell] {
        try entry.allow(Self.keys)
        if object != nil { try entry.refuse(PlanObject.keys, "of an object that is given") }
        let named = try choices(
            "backend", known: knownBackends, fallback: defaultBackend.map { [$0] }, alsoTakes: isForeign)
        let backends = named.filter { missingBackends[$0] == nil } + addedBackends
        if backends.isEmpty, let backend = named.first, let reason = missingBackends[backend] {
            throw entry.error("backend", "backend \(backend) is not there: \(reason)")
        }
        left.merge(missingBackends.filter { named.contains($0.key) }) { $1 }
        let access = try single("access", known: AccessPolicy.allCases.map(\.rawValue), fallback: "block")
        let object = try planned(defaultByteCount: defaultObjectByteCount)
        if object.strategy == PlaylistRequest.strategyName {
            try require(access == AccessPolicy.block.rawValue, "access", access, "block with \(object.strategy)")
            try require(
                object.source == .file || object.source == .generated, "source", object.source.rawValue,
                "file or generated with \(object.strategy)")
        }
        let label = try entry.text("label")
        let sourceName = try sourceName(object.source)
        let remote = try remote(object.source)
        let client = try client(object.strategy, hasStore: remote != nil)
        let isCold = try isCold(object.source)

        var cells: [Cell] = []
        for parameters in object.parameters {
            for window in try entry.texts("window") ?? ["256KiB"] {
                let windowByteCount = try entry.size(window, key: "window", minimum: 1)
                try require(windowByteCount <= Workload.largestRead, "window", window, "at most 256MiB")
                for workload in try entry.texts("workload") ?? ["sequential"] {
                    let parsed = try parse(
                        workload, objectByteCount: object.byteCount, windowByteCount: windowByteCount)
                    for threads in Self.threadCounts(try entry.texts("threads") ?? ["1"]) {
                        let threadCount = Int(threads) ?? 0
                        try require(
                            (1...256).contains(threadCount), "threads", threads, "a number from 1 to 256, or curve")
                        try require(
                            BufferLimit.allows(threads: threadCount, windowByteCount: windowByteCount), "threads",
                            threads, BufferLimit.expectation)
                        for backend in backends {
                            var cell = Cell(
                                backend: backend, strategy: object.strategy, windowByteCount: windowByteCount,
                                workload: parsed.text,
                                readCount: parsed.readCount, access: access, threads: threadCount,
                                keyByteCount: object.keyByteCount, objectByteCount: object.byteCount,
                                source: sourceName,
                                label: label)
                            cell.adopt(parameters)
                            cell.isCold = isCold
                            cell.remoteLatencyNanoseconds = remote?.latency
                            cell.remoteBytesPerSecond = remote?.bandwidth
                            cell.remoteClient = client?.rawValue
                            if MeasuredProgram.command(of: backend) != nil,
                                let obstacle = MeasuredProgram.obstacle(to: cell)
                            {
                                guard named.contains(backend) else { continue }
                                throw entry.error("backend", "\(backend) with \(obstacle)")
                            }
                            cells.append(cell)
                        }
                    }
                }
            }
        }
        return cells
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
        for key in ["backend", "window", "workload", "threads"] + PlanObject.parameterKeys {
            let factor = try entry.texts(key)?.count ?? 1
            guard factor <= maximum, count * factor <= maximum else { return maximum + 1 }
            count *= factor
        }
        return count
    }

    func require(
        _ condition: Bool, _ key: String, _ value: String, _ expected: String
    ) throws(PlanError) {
        guard condition else { throw entry.error(key, "\(key) \(value): expected \(expected)") }
    }

    private func choices(
        _ key: String, known: [String], fallback: [String]?, alsoTakes: (String) -> Bool = { _ in false }
    ) throws(PlanError) -> [String] {
        guard let values = try entry.texts(key) ?? fallback else {
            throw entry.error(key, "no \(key): expected one of \(known.joined(separator: ", "))")
        }
        for value in values {
            try require(
                known.contains(value) || alsoTakes(value), key, URLText.redacted(value),
                "one of \(known.joined(separator: ", "))")
        }
        return values
    }

    func single(_ key: String, known: [String], fallback: String) throws(PlanError) -> String {
        let values = try choices(key, known: known, fallback: [fallback])
        try require(values.count == 1, key, values.joined(separator: ", "), "a single value")
        return values[0]
    }

    private func parse(
        _ workload: String, objectByteCount: UInt64, windowByteCount: UInt64
    ) throws(PlanError) -> (text: String, readCount: Int?) {
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
        return (parsed.description, try entry.integer("reads", default: CellWorkload.defaultReadCount, 1...1_000_000))
    }

    /// The object that is given, or the one that the entry asks for.
    func planned(defaultByteCount: UInt64) throws(PlanError) -> PlannedObject {
        if let object { return PlannedObject(object) }
        let strategy = try single("strategy", known: StrategyParameters.textNames, fallback: "cbc-continuous")
        let source = try single(
            "source", known: ObjectKind.allCases.map(\.rawValue), fallback: ObjectKind.file.rawValue)
        let byteCount = try entry.size("object-size", default: defaultByteCount, minimum: 0)
        let parameters = try parameters(strategy)
        try require(
            byteCount % 16 == 0 || !parameters.contains { $0.padding == Padding.none }, "object-size", "\(byteCount)",
            "a multiple of 16 bytes, since padding is none")
        return PlannedObject(
            strategy: strategy, parameters: parameters, keyByteCount: try keyByteCount(strategy), byteCount: byteCount,
            source: ObjectKind(rawValue: source) ?? .file)
    }

    /// A strategy's parameters, once for each length of chunks or segments that is listed.
    private func parameters(_ strategy: String) throws(PlanError) -> [StrategyParameters] {
        let known = StrategyParameters.textParameters(of: strategy) ?? []
        var made = [StrategyParameters(name: strategy)]
        made[0].iv = Cell.iv
        var (keys, lengthKey): (Set, String) = (["key-size"], "strategy")
        for parameter in known where parameter != .iv {
            let key = try key(of: parameter, in: known)
            keys.insert(key)
            let usual = StrategyParameters.usualText(of: parameter, in: strategy)
            guard let texts = try entry.texts(key) ?? usual.map({ [$0] }) else {
                throw entry.error("strategy", "strategy \(strategy): expected a \(key) with it")
            }
            let isLength = parameter == .chunkByteCount || parameter == .segmentByteCount
            if isLength { lengthKey = key }
            try require(texts.count == 1 || isLength, key, texts.joined(separator: ", "), "a single value")
            var read: [StrategyParameters] = []
            for text in texts {
                for var parameters in made {
                    let expected = StrategyParameters.textExpectation(of: parameter, in: strategy)
                    try require(parameters.read(text, for: parameter), key, URLText.redacted(text), expected)
                    read.append(parameters)
                }
            }
            made = read
        }
        for key in PlanObject.parameterKeys where !keys.contains(key) {
            guard let texts = try entry.texts(key) else { continue }
            try require(false, key, texts[0], "no \(key) for \(strategy)")
        }
        for parameters in made where strategy != PlaylistRequest.strategyName {
            do throws(DecryptionError) {
                _ = try parameters.strategy()
            } catch {
                throw entry.error(lengthKey, "\(lengthKey): \(error)")
            }
        }
        return made
    }

    /// The key under which a parameter stands: older plans say `chunk-size` of segments as well, and `key-size` of derived
    /// keys.
    private func key(
        of parameter: StrategyParameters.Parameter, in known: [StrategyParameters.Parameter]
    ) throws(PlanError) -> String {
        let older: [StrategyParameters.Parameter: String] = [
            .segmentByteCount: "chunk-size", .derivedKeyByteCount: "key-size",
        ]
        guard let older = older[parameter], entry.line(of: older) != nil else { return parameter.textName }
        guard entry.line(of: parameter.textName) == nil else {
            throw entry.error(older, "\(older) beside \(parameter.textName): expected one of them")
        }
        return older
    }

    private func keyByteCount(_ strategy: String) throws(PlanError) -> Int {
        let known = StrategyParameters.keyByteCounts(of: strategy)
        guard StrategyParameters.textParameters(of: strategy)?.contains(.derivedKeyByteCount) != true else {
            return known[0]
        }
        // Bits, as the ciphers are named after them.
        let bits = known.map { "\($0 * 8)" }
        let text = try single("key-size", known: bits, fallback: bits[0])
        return known[bits.firstIndex(of: text) ?? 0]
    }

    /// What cells say of their source: of a server also whether connections are kept (`reuse`), and how many ranges are
    /// under way at once (`read-ahead`).
    func sourceName(_ source: ObjectKind) throws(PlanError) -> String {
        var remoteObject = object?.remoteObject ?? RemoteObject(url: "\(source.rawValue)://")
        for key in ["reuse", "read-ahead"] {
            guard let text = try entry.text(key), !source.isServed else { continue }
            throw entry.error(key, "\(key) \(text): expected it with source http or https, found \(source.rawValue)")
        }
        guard source.isServed else { return source.rawValue }
        if let text = try entry.text("reuse") {
            guard let keeps = ["yes": true, "true": true, "no": false, "false": false][text] else {
                throw entry.error("reuse", "reuse \(text): expected yes or no")
            }
            remoteObject.keepsConnections = keeps
        }
        if let text = try entry.text("read-ahead") {
            guard let depth = Int(text), (0...64).contains(depth) else {
                throw entry.error("read-ahead", "read-ahead \(text): expected 0 to 64")
            }
            remoteObject.readAheadDepth = depth
        }
        return remoteObject.sourceName
    }

    /// The simulated remote store, where the entry has one: `latency`, `bandwidth`, or both.
    func remote(_ source: ObjectKind) throws(PlanError) -> (latency: UInt64, bandwidth: UInt64?)? {
        let latency = try entry.text("latency")
        let bandwidth = try entry.text("bandwidth")
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
    private func client(_ strategy: String, hasStore: Bool) throws(PlanError) -> RemoteClient? {
        let text = try entry.text("client")
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
    func isCold(_ source: ObjectKind) throws(PlanError) -> Bool? {
        guard let text = try entry.text("cold") else { return nil }
        guard let isCold = ["yes": true, "true": true, "no": false, "false": false][text] else {
            throw entry.error("cold", "cold \(text): expected yes or no")
        }
        guard !isCold || source == .file else {
            throw entry.error("cold", "cold \(text): expected it with source file, found \(source.rawValue)")
        }
        return isCold ? true : nil
    }
}

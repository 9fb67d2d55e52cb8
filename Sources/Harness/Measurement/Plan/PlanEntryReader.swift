import ByteSources
import Glibc
import RandomAccess
import Results
import Subject
import SubjectProtocol
import Support

/// A reader of one entry of a plan. Every combination of its values is a cell.
struct PlanEntryReader {
    let entry: PlanMapping
    /// The reader of the plan, with the values for all entries.
    let reader: PlanReader
    let traces: [String: PlayerTrace]
    /// The values of the strategies' parameters, by their names in a strategy's text.
    let parameters: PlanMapping?

    /// The members whose lists are combined, the outermost loop first. Backends are the innermost loop.
    private static let multiplied = [
        "key-size", "object-size", "source", "reuse", "read-ahead", "cold", "latency", "bandwidth",
        "client", "access", "reads", "window", "workload", "threads",
    ]

    private static let keys = ["backend", "rounds", "label", "strategy", "parameters"] + multiplied

    /// Reads the entry.
    ///
    /// An impossible combination is left out if each of its values occurs in another one. For example, a parameter does
    /// not occur in strategies of the list that do not have it.
    ///
    /// - Parameters:
    ///   - defaultObjectByteCount: The object's length if the entry has none.
    ///   - left: Receives the missing backends of an entry that also names others, with the reasons.
    ///   - strategies: Receives the strategies of the cells, by their texts.
    /// - Returns: The cells.
    /// - Throws: `PlanError`, also if all backends are missing.
    func cells(
        defaultObjectByteCount: UInt64, leftOut left: inout [String: String], strategies: inout [String: Strategy]
    ) throws(PlanError) -> [Cell] {
        try entry.allow(Self.keys)
        if reader.object != nil { try entry.refuse(PlanObject.keys, "of an object that is given") }
        let named = try backendNames()
        let backends = named.filter { reader.missingBackends[$0] == nil } + reader.addedBackends
        if backends.isEmpty, let backend = named.first, let reason = reader.missingBackends[backend] {
            throw entry.error("backend", "backend \(backend) is not there: \(reason)")
        }
        left.merge(reader.missingBackends.filter { named.contains($0.key) }) { $1 }
        let label = try entry.text("label")
        let lists = try lists()
        var places = PlanPlaces(lists + [("backend", named.filter { reader.missingBackends[$0] == nil })])
        var cells: [Cell] = []
        for choice in PlanChoice.all(of: lists) {
            do throws(PlanError) {
                let (base, strategy, unplaced) = try cell(choice, defaultByteCount: defaultObjectByteCount)
                strategies[base.strategy] = strategy
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
                    places.fill([("backend", backend)])
                    if let reason = reader.lacks(backend, strategy) {
                        left[backend] = reason
                        places.note(entry.error("backend", "\(backend): \(reason)"), at: choice.values)
                        continue
                    }
                    isPlaced = true
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

    /// The lists of the entry's members, with all numbers of threads. The keys of parameters are their names with
    /// ``parameterPrefix`` before them.
    private func lists() throws(PlanError) -> [(key: String, values: [String])] {
        var lists: [(key: String, values: [String])] = []
        if let texts = try entry.texts("strategy") { lists.append(("strategy", texts)) }
        for name in parameters?.keys ?? [] {
            guard let texts = try parameters?.texts(name) else { continue }
            lists.append((Self.parameterPrefix + name, texts))
        }
        for key in Self.multiplied {
            guard let texts = try entry.texts(key) else { continue }
            lists.append((key, key == "threads" ? Self.threadCounts(texts) : texts))
        }
        return lists
    }

    /// The prefix for the keys of parameters among the entry's own members.
    private static let parameterPrefix = "parameters."

    /// Makes the cell of a combination, without backend and label.
    ///
    /// - Returns: The cell, its strategy, and the members that cannot occur in it, each with the reason.
    private func cell(
        _ choice: PlanChoice, defaultByteCount: UInt64
    ) throws(PlanError) -> (cell: Cell, strategy: Strategy, unplaced: [String: PlanError]) {
        var unplaced: [String: PlanError] = [:]
        let object = try planned(choice, defaultByteCount: defaultByteCount, unplaced: &unplaced)
        let access = try one(of: AccessPolicy.allCases, choice, "access", fallback: .block, name: \.rawValue)
        let strategy = object.strategy.name
        if strategy == PlaylistRequest.strategyName {
            try require(access == .block, "access", access.rawValue, "block with \(strategy)")
            try require(
                object.source == .file || object.source == .generated, "source", object.source.rawValue,
                "file or generated with \(strategy)")
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
        let server = try server(choice, object.source, unplaced: &unplaced)
        var cell = Cell(
            backend: "", strategy: strategy, windowByteCount: windowByteCount, workload: parsed.text,
            readCount: parsed.readCount, access: access, threads: threadCount, keyByteCount: object.keyByteCount,
            objectByteCount: object.byteCount, source: server?.source ?? object.source.rawValue)
        cell.connection = server?.connection
        cell.adopt(object.strategy)
        cell.isCold = try isCold(choice, object.source)
        cell.remoteLatencyNanoseconds = remote?.latency
        cell.remoteBytesPerSecond = remote?.bandwidth
        cell.remoteClient = try client(choice, strategy, hasStore: remote != nil)?.rawValue
        return (cell, object.strategy, unplaced)
    }

    /// The numbers of threads. `curve` becomes the powers of two below the number of CPUs, the number of CPUs, and
    /// twice that.
    private static func threadCounts(_ texts: [String]) -> [String] {
        texts.flatMap { text -> [String] in
            guard text == "curve" else { return [text] }
            let cpuCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            let powers = sequence(first: 1) { $0 * 2 }.prefix { $0 < cpuCount }
            return (Array(powers) + [cpuCount, min(2 * cpuCount, 256)]).map(String.init)
        }
    }

    /// The number of cells of the entry, computed before any cell is made. Returns a greater number than `maximum` for
    /// all numbers above it.
    func cellCount(atMost maximum: Int) throws(PlanError) -> Int {
        var count = 1
        for factor in [try entry.texts("backend")?.count ?? 1] + (try lists().map(\.values.count)) {
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
        guard let names = try entry.texts("backend") ?? reader.defaultBackend.map({ [$0] }) else {
            throw entry.error("backend", "no backend: expected one of \(reader.knownBackends.joined(separator: ", "))")
        }
        for name in names {
            try require(
                reader.knownBackends.contains(name) || reader.isForeign(name), "backend", URLText.redacted(name),
                "one of \(reader.knownBackends.joined(separator: ", "))")
        }
        return names
    }

    private func one<Value>(
        of known: [Value], _ choice: PlanChoice, _ key: String, fallback: Value, name: (Value) -> String
    ) throws(PlanError) -> Value {
        guard let text = choice[key] else { return fallback }
        guard let value = known.first(where: { name($0) == text }) else {
            let names = known.map(name).joined(separator: ", ")
            throw entry.error(key, "\(key) \(URLText.redacted(text)): expected one of \(names)")
        }
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

    /// The user's object, or the one that a combination describes.
    private func planned(
        _ choice: PlanChoice, defaultByteCount: UInt64, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> PlanObject {
        if let object = reader.object { return object }
        let source = try one(of: ObjectKind.allCases, choice, "source", fallback: .file, name: \.rawValue)
        let byteCount =
            try choice["object-size"].map { text throws(PlanError) in
                try entry.size(text, key: "object-size", minimum: 0)
            } ?? defaultByteCount
        let strategy = try strategy(choice, unplaced: &unplaced)
        if let expected = try? strategy.expectation(ofPlaintext: byteCount) {
            throw entry.error("object-size", "object-size \(byteCount): expected \(expected)")
        }
        return PlanObject(
            strategy: strategy, keyByteCount: try keyByteCount(strategy, choice),
            byteCount: byteCount, source: source)
    }

    /// The strategy of a combination, with its parameters. Parameters that it does not have go into `unplaced`.
    private func strategy(
        _ choice: PlanChoice, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> Strategy {
        let text = choice["strategy"] ?? Format.usualName
        let word = String(text.prefix { $0 != ":" })
        let format: Format
        do {
            format = try reader.describedFormat(word) ?? Format.measured(word)
        } catch {
            throw entry.error("strategy", "strategy \(URLText.redacted(text)): \(error)")
        }
        var written = text.dropFirst(word.count)
        for (key, value) in choice.values where key.hasPrefix(Self.parameterPrefix) {
            let name = String(key.dropFirst(Self.parameterPrefix.count))
            let names = format.inputs.map(\.optionName).filter { $0 != Format.Input.ivName }
            guard names.contains(name) else {
                unplaced[key] = parameters?.error(
                    name,
                    "parameter \(name): expected "
                        + (names.isEmpty ? "none" : "one of \(names.joined(separator: ", "))") + " for \(format.name)")
                continue
            }
            written += "\(written.isEmpty ? ":" : ",")\(name)=\(value)"
        }
        do throws(DecryptionError) {
            let strategy = try Strategy(measured: format, written: Substring(written))
            guard strategy.outer.isEmpty else {
                throw .invalidParameter(
                    name: "strategy", value: text, expected: "an object that is made here, with nothing around it")
            }
            return strategy
        } catch {
            // The error has the place of the wrong parameter if the mapping of parameters has it.
            guard case .invalidParameter(let name, _, _) = error, let parameters, parameters.keys.contains(name) else {
                throw entry.error("strategy", "strategy \(URLText.redacted(text)): \(error)")
            }
            throw parameters.error(name, "\(error)")
        }
    }

    private func keyByteCount(_ strategy: Strategy, _ choice: PlanChoice) throws(PlanError) -> Int {
        let known = strategy.keyByteCounts
        // In bits, as in the names of the ciphers.
        return try one(of: known, choice, "key-size", fallback: known[0]) { "\($0 * 8)" }
    }

    /// The server with the reuse of connections (`reuse`) and the number of ranges in flight (`read-ahead`); `nil` for
    /// another source.
    private func server(
        _ choice: PlanChoice, _ source: ObjectKind, unplaced: inout [String: PlanError]
    ) throws(PlanError) -> RemoteObject? {
        var remoteObject = reader.object?.remoteObject ?? RemoteObject(url: "\(source.rawValue)://")
        for key in ["reuse", "read-ahead"] {
            guard let text = choice[key], !source.isServed else { continue }
            unplaced[key] = entry.error(
                key, "\(key) \(text): expected it with source http or https, found \(source.rawValue)")
        }
        guard source.isServed else { return nil }
        if let text = choice["reuse"] {
            remoteObject.keepsConnections = try answer(text, "reuse")
        }
        if let text = choice["read-ahead"] {
            guard let depth = Int(text), (0...64).contains(depth) else {
                throw entry.error("read-ahead", "read-ahead \(text): expected 0 to 64")
            }
            remoteObject.readAheadDepth = depth
        }
        return remoteObject
    }

    /// The simulated remote store, for an entry with `latency`, `bandwidth`, or both; `nil` for others.
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

    /// The client of the store; `nil` without a store.
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

    /// True if files are dropped from the page cache before each iteration; `nil` if they are not.
    private func isCold(_ choice: PlanChoice, _ source: ObjectKind) throws(PlanError) -> Bool? {
        guard let text = choice["cold"] else { return nil }
        guard try answer(text, "cold") else { return nil }
        try require(source == .file, "cold", text, "it with source file, found \(source.rawValue)")
        return true
    }

    private func answer(_ text: String, _ key: String) throws(PlanError) -> Bool {
        guard let answer = ["yes": true, "true": true, "no": false, "false": false][text] else {
            throw entry.error(key, "\(key) \(text): expected yes or no")
        }
        return answer
    }
}

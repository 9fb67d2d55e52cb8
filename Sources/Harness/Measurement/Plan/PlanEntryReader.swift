import ByteSources
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
    let defaultBackend: String?
    /// An object of the user's, in place of one that is made.
    let object: PlanObject?
    let traces: [String: PlayerTrace]

    private static let keys = [
        "backend", "strategy", "chunk-size", "iv-rule", "padding", "window", "workload", "reads", "access", "threads",
        "key-size", "object-size", "source", "reuse", "read-ahead", "cold", "latency", "bandwidth", "rounds", "label",
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
        let named = try choices("backend", known: knownBackends, fallback: defaultBackend.map { [$0] })
        let backends = named.filter { missingBackends[$0] == nil }
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
        let isCold = try isCold(object.source)

        var cells: [Cell] = []
        for chunkByteCount in object.chunkByteCounts {
            for window in try entry.texts("window") ?? ["256KiB"] {
                let windowByteCount = try entry.size(window, key: "window", minimum: 1)
                try require(windowByteCount <= Workload.largestRead, "window", window, "at most 256MiB")
                for workload in try entry.texts("workload") ?? ["sequential"] {
                    let parsed = try parse(
                        workload, objectByteCount: object.byteCount, windowByteCount: windowByteCount)
                    for threads in try entry.texts("threads") ?? ["1"] {
                        let threadCount = Int(threads) ?? 0
                        try require((1...256).contains(threadCount), "threads", threads, "a number from 1 to 256")
                        for backend in backends {
                            var cell = Cell(
                                backend: backend, strategy: object.strategy, ivRule: object.ivRule,
                                padding: object.padding, chunkByteCount: chunkByteCount,
                                windowByteCount: windowByteCount, workload: parsed.text,
                                readCount: parsed.readCount, access: access, threads: threadCount,
                                keyByteCount: object.keyByteCount, objectByteCount: object.byteCount,
                                source: sourceName,
                                label: label)
                            cell.isCold = isCold
                            cell.remoteLatencyNanoseconds = remote?.latency
                            cell.remoteBytesPerSecond = remote?.bandwidth
                            cells.append(cell)
                        }
                    }
                }
            }
        }
        return cells
    }

    func require(
        _ condition: Bool, _ key: String, _ value: String, _ expected: String
    ) throws(PlanError) {
        guard condition else { throw entry.error(key, "\(key) \(value): expected \(expected)") }
    }

    private func choices(_ key: String, known: [String], fallback: [String]?) throws(PlanError) -> [String] {
        guard let values = try entry.texts(key) ?? fallback else {
            throw entry.error(key, "no \(key): expected one of \(known.joined(separator: ", "))")
        }
        for value in values {
            try require(known.contains(value), key, URLText.shown(value), "one of \(known.joined(separator: ", "))")
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
}

extension PlanEntryReader {
    /// The object that is given, or the one that the entry asks for.
    func planned(defaultByteCount: UInt64) throws(PlanError) -> PlannedObject {
        if let object { return PlannedObject(object) }
        let strategy = try single(
            "strategy", known: Strategy.names + [PlaylistRequest.strategyName], fallback: "cbc-continuous")
        let source = try single(
            "source", known: ObjectKind.allCases.map(\.rawValue), fallback: ObjectKind.file.rawValue)
        let byteCount = try entry.size("object-size", default: defaultByteCount, minimum: 0)
        return PlannedObject(
            strategy: strategy, chunkByteCounts: try chunks(strategy), ivRule: try ivRule(strategy),
            padding: try padding(strategy, byteCount), keyByteCount: try keyByteCount(strategy), byteCount: byteCount,
            source: ObjectKind(rawValue: source) ?? .file)
    }

    private func has(_ parameter: StrategyParameters.Parameter, _ strategy: String) -> Bool {
        StrategyParameters.parameters(of: strategy)?.contains(parameter) ?? false
    }

    private func chunks(_ strategy: String) throws(PlanError) -> [UInt64?] {
        if has(.segmentByteCount, strategy) { return try segments() }
        if strategy == PlaylistRequest.strategyName { return try playlistSegments() }
        if has(.context, strategy) {
            if let texts = try entry.texts("chunk-size") {
                try require(false, "chunk-size", texts[0], "no chunk-size for \(strategy), whose chunks have 16KiB")
            }
            return [ChunkFormat.cobblestone(keyByteCount: 16, context: []).chunkByteCount]
        }
        guard let texts = try entry.texts("chunk-size") else {
            try require(!has(.chunkByteCount, strategy), "strategy", strategy, "a chunk-size with it")
            return [nil]
        }
        try require(has(.chunkByteCount, strategy), "chunk-size", texts[0], "no chunk-size for \(strategy)")
        var sizes: [UInt64?] = []
        for text in texts {
            let size = try entry.size(text, key: "chunk-size", minimum: 16)
            try require(size % 16 == 0, "chunk-size", text, "a multiple of 16 bytes")
            sizes.append(size)
        }
        return sizes
    }

    /// The plaintext bytes of a playlist's segments.
    private func playlistSegments() throws(PlanError) -> [UInt64?] {
        var sizes: [UInt64?] = []
        for text in try entry.texts("chunk-size") ?? ["1MiB"] {
            let size = try entry.size(text, key: "chunk-size", minimum: 1 << 10)
            try require(size <= 1 << 32, "chunk-size", text, "at most 4GiB")
            sizes.append(size)
        }
        return sizes
    }

    /// Tink's segments are said with their tags, as its templates are named.
    private func segments() throws(PlanError) -> [UInt64?] {
        var sizes: [UInt64?] = []
        for text in try entry.texts("chunk-size") ?? ["4KiB"] {
            let size = try entry.size(text, key: "chunk-size", minimum: 64)
            try require(size <= 1 << 28, "chunk-size", text, "at most 256MiB")
            sizes.append(size - UInt64(ChunkFormat.tagByteCount))
        }
        return sizes
    }

    private func ivRule(_ strategy: String) throws(PlanError) -> String? {
        let rules = IVRule.allCases.map(\.rawValue)
        guard has(.ivRule, strategy) else {
            if let text = try entry.text("iv-rule") {
                try require(false, "iv-rule", text, "no iv-rule for \(strategy)")
            }
            return nil
        }
        return try single("iv-rule", known: rules, fallback: "sequence")
    }

    private func padding(_ strategy: String, _ objectByteCount: UInt64) throws(PlanError) -> String? {
        if !has(.padding, strategy) {
            if let text = try entry.text("padding") {
                try require(false, "padding", text, "no padding for \(strategy)")
            }
            return nil
        }
        let padding = try single("padding", known: Padding.allCases.map(\.rawValue), fallback: "pkcs7")
        try require(
            padding == "pkcs7" || objectByteCount % 16 == 0, "object-size", "\(objectByteCount)",
            "a multiple of 16 bytes, since padding is none")
        return padding
    }

    private func keyByteCount(_ strategy: String) throws(PlanError) -> Int {
        let known =
            switch strategy {
            case "cobblestone-128": ["128"]
            case "cobblestone-256": ["256"]
            case "tink-aes-gcm-hkdf": ["128", "256"]
            case PlaylistRequest.strategyName: ["128"]
            default: ["128", "192", "256"]
            }
        // Bits, as the ciphers are named after them.
        return switch try single("key-size", known: known, fallback: known[0]) {
        case "128": 16
        case "192": 24
        default: 32
        }
    }
}

extension PlanEntryReader {
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
        guard source != .mmap else {
            let key = latency == nil ? "bandwidth" : "latency"
            throw entry.error(
                key, "\(key) with source mmap: expected source file or generated, a remote store has no pages")
        }
        let nanoseconds = latency.map(TimeText.nanoseconds) ?? 0
        guard let nanoseconds, nanoseconds <= TimeText.longestLatency else {
            throw entry.error("latency", "latency \(latency ?? ""): expected \(TimeText.latencyExpectation)")
        }
        guard let bandwidth else { return (nanoseconds, nil) }
        guard let bytesPerSecond = TimeText.bytesPerSecond(bandwidth) else {
            throw entry.error("bandwidth", "bandwidth \(bandwidth): expected \(TimeText.bandwidthExpectation)")
        }
        return (nanoseconds, bytesPerSecond)
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

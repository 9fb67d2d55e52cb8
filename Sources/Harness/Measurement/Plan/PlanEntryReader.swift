import ByteSources
import RandomAccess
import Results
import SubjectProtocol

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

    func cells(defaultObjectByteCount: UInt64) throws(PlanError) -> [Cell] {
        try entry.allow(Self.keys)
        if object != nil { try entry.refuse(PlanObject.keys, "of an object that is given") }
        let backends = try choices("backend", known: knownBackends, fallback: defaultBackend.map { [$0] })
        for backend in backends {
            guard let reason = missingBackends[backend] else { continue }
            throw entry.error("backend", "backend \(backend) is not there: \(reason)")
        }
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

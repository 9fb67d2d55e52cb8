import Results

/// The catalogue of figures: an entry a figure.
extension Figure {
    /// All figures that forms go through, in the order of the columns of results.csv.
    static let all = configuration + timing + latencies + usage + firstBytes + memory + reads + playback + outcome

    private static let configuration = [
        Figure("name", "Name", .word, in: .json) { Value($0.cell.id) },
        backend, strategy, chunk, window, workload,
        Figure("readCount", "Reads", .count, in: .json) { Value($0.cell.readCount) },
        access, threads,
        Figure("keyByteCount", "Key", .bytes, in: .files) { Value($0.cell.keyByteCount) },
        Figure("objectByteCount", "Object", .size, in: .files) { Value($0.cell.objectByteCount) },
        Figure("source", "Source", .word, in: .files) { Value($0.cell.sourceName) },
        Figure("cold", "Cold", .word, in: .files) { Value($0.cell.isCold == true) },
        Figure("remoteLatencyNanoseconds", "Latency of the store", .nanoseconds, in: .files) {
            Value($0.cell.remoteLatencyNanoseconds)
        },
        Figure("remoteBytesPerSecond", "Bandwidth of the store", .bytesPerSecond, in: .files) {
            Value($0.cell.remoteBytesPerSecond)
        },
        Figure("remoteClient", "Client of the store", .word, in: .files) { Value($0.cell.remoteClient) },
        Figure("label", "Label", .word, in: .files) { Value($0.cell.label) },
    ]

    static let cell = Figure(column: "Cell") { Table.Entry($0.cell.name, detail: $0.cell.label) }
    /// The workload, with the series below it.
    static let read = Figure(column: "Read") {
        Table.Entry(
            $0.cell.workload + ($0.isInCache ? " (CPU cache)" : ""),
            detail: [$0.cell.label, Series($0.cell).description].compactMap { $0 }.joined(separator: ": "))
    }
    static let series = Figure(column: "Configuration") { Table.Entry(Series($0.cell).description) }
    static let backend = Figure("backend", "Backend", .word, in: .files) { Value($0.cell.backend) }
    static let strategy = Figure("strategy", "Format", .word, in: .files) { Value($0.cell.strategy) }
    static let chunk = Figure(
        "chunkByteCount", "Chunk", .size, in: .files, entry: { $0.cell.chunkText.map { Table.Entry($0) } },
        value: { Value($0.cell.chunkByteCount) })
    static let window = Figure("windowByteCount", "Window", .size, in: .files) { Value($0.cell.windowByteCount) }
    static let workload = Figure("workload", "Workload", .word, in: .files) { Value($0.cell.workload) }
    static let access = Figure("access", "Access", .word, in: .files) { Value($0.cell.access.rawValue) }
    static let threads = Figure("threads", "Threads", .count, in: .files) { Value($0.cell.threads) }

    private static let timing = [
        status, throughput, limitShare,
        Figure("limit", "Limit", .word, in: .files) { Value($0.limit?.kind.rawValue) },
        Figure("limitBytesPerSecond", "Limit", .bytesPerSecond, in: .json) { Value($0.limit?.bytesPerSecond) },
        rounds, Figure("samples", "Samples", .count) { Value($0.sampleCount) },
    ]

    static let status = Figure(
        "status", "Status", .word, in: .files,
        entry: { Table.Entry($0.statusText, emphasis: $0.isBad ? .bad : .none) }, value: { Value($0.status) })
    static let throughput = Figure(
        "bytesPerSecond", "Throughput", .bytesPerSecond, .more, in: .files,
        exportNames: [.bencher: "throughput"], sample: { $0.speed?.sample },
        entry: { cell in
            cell.speed.map { Table.Entry(ByteCountText.rate($0.bytesPerSecond), detail: $0.rangeText) }
                ?? status.entry(cell)
        }, value: { Value($0.speed?.bytesPerSecond) })
    static let processes = Figure("processes", "Processes", .count, in: []) { Value($0.speed?.sample.count ?? 0) }
    static let limitShare = Figure(
        "limitShare", "Share of limit", .share, .more, in: .files,
        entry: { $0.limit.map { Table.Entry(RatioText.percent($0.share), detail: $0.kind.text) } },
        value: { Value($0.limit?.share) })
    static let rounds = Figure(
        "rounds", "Rounds (samples)", .count,
        entry: { $0.sampleCount == 0 ? nil : Table.Entry("\($0.rounds.count) (\($0.sampleCount))") },
        value: { Value($0.rounds.count) })

    private static let latencies = [latency, latencyP90, latencyP99, latencyP999, latencyMax]

    static let latency = Figure(
        "latencyP50", "median", .nanoseconds, .less, exportNames: [.bencher: "latency", .asv: "time_read"],
        sample: { $0.latencySample }, value: { Value($0.latency?.p50) })
    static let latencyP90 = percentile("latencyP90", "p90", { $0.latency?.p90 }, shown: { $0.latency?.trustedP90 })
    static let latencyP99 = percentile("latencyP99", "p99", { $0.latency?.p99 }, shown: { $0.latency?.trustedP99 })
    static let latencyP999 = percentile(
        "latencyP999", "p99.9", { $0.latency?.p999 }, shown: { $0.latency?.trustedP999 })
    static let latencyMax = Figure("latencyMax", "max", .nanoseconds, .less) { Value($0.latency?.max) }
    static let latencyReadCount = Figure("latencyReadCount", "Reads", .count, in: []) { Value($0.latency?.readCount) }

    /// A percentile, and the value that tables show if the number of reads supports it.
    private static func percentile(
        _ id: String, _ name: String, _ value: @escaping @Sendable (CellSummary) -> UInt64?,
        shown: @escaping @Sendable (CellSummary) -> UInt64?
    ) -> Figure {
        Figure(
            id, name, .nanoseconds, .less,
            entry: { shown($0).map { Table.Entry(DurationText.text(nanoseconds: $0)) } }, value: { Value(value($0)) })
    }

    private static let usage = [
        Figure("userNanoseconds", "CPU user", .nanoseconds, .less, in: [.csv, .usage]) {
            Value($0.usage?.userNanoseconds)
        },
        Figure("systemNanoseconds", "CPU system", .nanoseconds, .less, in: [.csv, .usage]) {
            Value($0.usage?.systemNanoseconds)
        },
        Figure("minorFaults", "Minor faults", .count, .less, in: [.csv, .usage]) { Value($0.usage?.minorFaults) },
        Figure("majorFaults", "Major faults", .count, .less, in: [.csv, .usage]) { Value($0.usage?.majorFaults) },
        Figure("voluntarySwitches", "Switches", .count, .less, in: [.csv, .usage]) {
            Value($0.usage?.voluntarySwitches)
        },
        Figure("involuntarySwitches", "Forced switches", .count, .less, in: [.csv, .usage]) {
            Value($0.usage?.involuntarySwitches)
        },
        Figure("instructions", "Instructions", .count, .less) { Value($0.usage?.instructions) },
        Figure("cycles", "Cycles", .count, .less) { Value($0.usage?.cycles) },
        Figure("cyclesPerByte", "Cycles per byte", .number, .less, in: .usage) { Value($0.perByte(\.cycles)) },
        Figure("instructionsPerByte", "Instructions per byte", .number, .less, in: .usage) {
            Value($0.perByte(\.instructions))
        },
        Figure("cpuNanosecondsPerByte", "CPU ns/byte", .number, .less, in: [.files, .usage, .terminal]) {
            Value($0.perByte { $0.userNanoseconds &+ $0.systemNanoseconds })
        },
        Figure("residentByteCount", "Still in memory", .bytes, .less, in: [.json, .usage]) {
            Value($0.residentByteCount)
        },
    ]

    private static let firstBytes = [firstByte, firstByteP90, firstByteMax]

    static let firstByte = Figure(
        "firstByteP50", "median", .nanoseconds, .less, sample: { $0.firstByteSample },
        value: { Value($0.firstByte?.p50) })
    static let firstByteP90 = percentile(
        "firstByteP90", "p90", { $0.firstByte?.p90 }, shown: { $0.firstByte?.trustedP90 })
    static let firstByteMax = Figure("firstByteMax", "max", .nanoseconds, .less) { Value($0.firstByte?.max) }
    static let firstByteReadCount = Figure("firstByteReadCount", "Opened", .count, in: []) {
        Value($0.firstByte?.readCount)
    }

    private static let memory = [
        Figure("baselineByteCount", "Baseline", .bytes) { Value($0.memory?.baselineByteCount) },
        peak, growth,
        Figure("boundByteCount", "Bound", .bytes) { Value($0.memory?.boundByteCount) },
        processPeak, cgroupPeak,
    ]

    static let peak = Figure("peakByteCount", "Peak", .bytes, .less) { Value($0.memory?.peakByteCount) }
    static let growth = Figure(
        "growthByteCount", "Memory growth", .growth, .less,
        exportNames: [.bencher: "memory-growth", .asv: "mem_growth"], sample: { $0.memorySample },
        value: { Value($0.memory?.growthByteCount) })
    static let processPeak = Figure(
        "processPeakByteCount", "Process", .bytes, .less,
        entry: { $0.memory.map { Table.Entry(ByteCountText.measured($0.absolutePeakByteCount)) } },
        value: { Value($0.memory?.processPeakByteCount) })
    static let cgroupPeak = Figure("cgroupPeakByteCount", "Cgroup", .bytes, .less) {
        Value($0.memory?.cgroup?.peakByteCount)
    }

    private static let reads = [
        fetched, decrypted, requests, workingSet,
        Figure("isInCache", "In a CPU cache", .word, in: .json) { Value($0.isInCache) },
        Figure("inCache", "In a CPU cache", .word) { Value($0.workingSetByteCount == nil ? nil : $0.isInCache) },
    ]

    static let fetched = Figure("amplificationFetched", "fetched", .ratio, .less) { Value($0.amplification?.fetched) }
    static let decrypted = Figure("amplificationDecrypted", "decrypted", .ratio, .less) {
        Value($0.amplification?.decrypted)
    }
    static let requests = Figure("requestsPerRead", "requests", .number, .less) {
        Value($0.amplification?.requestsPerRead)
    }
    static let workingSet = Figure(
        "workingSetByteCount", "Working set", .size, in: .files,
        entry: { cell in
            cell.workingSetByteCount.map {
                Table.Entry(
                    ByteCountText.size($0) + (cell.isInCache ? " (CPU cache)" : ""),
                    emphasis: cell.isInCache ? .bad : .none)
            }
        }, value: { Value($0.workingSetByteCount) })

    /// The figures of a film's replay.
    static let playback = [
        Figure("playbackBitsPerSecond", "Bit rate", .bitsPerSecond) { Value($0.playback?.bitsPerSecond) },
        Figure("playbackFirstByteNanoseconds", "First byte", .nanoseconds, .less) {
            Value($0.playback?.firstByteNanoseconds)
        },
        Figure("playbackStartNanoseconds", "Start", .nanoseconds, .less) { Value($0.playback?.startNanoseconds) },
        Figure("playbackStallCount", "Stalls", .count, .less) { Value($0.playback?.stallCount) },
        Figure("playbackStallNanoseconds", "Stalled", .nanoseconds, .less) { Value($0.playback?.stallNanoseconds) },
    ]

    private static let outcome = [
        Figure("digest", "SHA-256 of the plaintext", .word, in: .files) { Value($0.digest) },
        failure,
    ]

    static let failure = Figure("failure", "Reason", .word, in: .files) { Value($0.missingReason) }
}

extension CellSummary {
    /// The number of timed iterations.
    var sampleCount: Int { rounds.reduce(0) { $0 + $1.count } }

    /// Returns a figure of all timed iterations per plaintext byte that they delivered.
    func perByte(_ figure: (ProcessUsage) -> UInt64?) -> Double? {
        let delivered = Double(deliveredByteCount ?? 0) * Double(sampleCount)
        return delivered > 0 ? usage.flatMap(figure).map { Double($0) / delivered } : nil
    }
}

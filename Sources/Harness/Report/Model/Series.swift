import Results

/// What cells must share so that a line through them compares windows and backends, and nothing else.
struct Series: Hashable, Sendable {
    var strategy: String
    var ivRule: String?
    var padding: String?
    var chunkByteCount: UInt64?
    var workload: String
    var access: String
    var threads: Int
    var keyByteCount: Int
    var objectByteCount: UInt64
    var source: String
    var isCold: Bool
    var remoteLatencyNanoseconds: UInt64?
    var remoteBytesPerSecond: UInt64?

    /// Takes the members from a cell.
    init(_ cell: Cell) {
        strategy = cell.strategy
        ivRule = cell.ivRule
        padding = cell.padding
        chunkByteCount = cell.chunkByteCount
        workload = cell.workload
        access = cell.access
        threads = cell.threads
        keyByteCount = cell.keyByteCount
        objectByteCount = cell.objectByteCount
        source = cell.source
        isCold = cell.isCold == true
        remoteLatencyNanoseconds = cell.remoteLatencyNanoseconds
        remoteBytesPerSecond = cell.remoteBytesPerSecond
    }

    /// The members in words: `AES-128 cbc-continuous (pkcs7), 256 MiB file, 1 thread`.
    var description: String {
        let details = [ivRule, padding].compactMap { $0 }.joined(separator: ", ")
        return [
            "AES-\(keyByteCount * 8) \(strategy)" + (details.isEmpty ? "" : " (\(details))"),
            chunkByteCount.map { "chunks of \(ByteCountText.size($0))" },
            "\(ByteCountText.size(objectByteCount)) \(origin)",
            access == "block" ? nil : "access \(access)",
            RatioText.count(threads, "thread"), isCold ? "not in the page cache" : nil, remote,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private var origin: String {
        switch source {
        case "generated": "generated object"
        case "mmap": "in a mapped file"
        case let served where served.hasPrefix("http"): "over \(served)"
        default: "in \(source)"
        }
    }

    /// The simulated store in words, or `nil` without one.
    var remote: String? {
        guard let latency = remoteLatencyNanoseconds else { return nil }
        let rate = remoteBytesPerSecond.map { " and " + ByteCountText.rate($0) } ?? ""
        return "behind " + DurationText.text(nanoseconds: latency) + rate
    }
}

extension Cell {
    /// Whether ciphertext is in memory, or computed there, and nothing is waited for.
    var isLocal: Bool { isCold != true && remoteLatencyNanoseconds == nil && !source.hasPrefix("http") }
}

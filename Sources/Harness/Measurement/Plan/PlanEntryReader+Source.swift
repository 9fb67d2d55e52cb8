import ByteSources
internal import Support

extension PlanEntryReader {
    /// What cells say of their source: of a server also whether connections are kept (`reuse`), and how many ranges are
    /// under way at once (`read-ahead`).
    func sourceName(_ source: ObjectKind) throws(PlanError) -> String {
        var place = object?.place ?? RemoteObject(url: "\(source.rawValue)://")
        for key in ["reuse", "read-ahead"] {
            guard let text = try entry.text(key), !source.isServed else { continue }
            throw entry.error(key, "\(key) \(text): expected it with source http or https, found \(source.rawValue)")
        }
        guard source.isServed else { return source.rawValue }
        if let text = try entry.text("reuse") {
            guard let keeps = ["yes": true, "true": true, "no": false, "false": false][text] else {
                throw entry.error("reuse", "reuse \(text): expected yes or no")
            }
            place.keepsConnections = keeps
        }
        if let text = try entry.text("read-ahead") {
            guard let depth = Int(text), (0...64).contains(depth) else {
                throw entry.error("read-ahead", "read-ahead \(text): expected 0 to 64")
            }
            place.readAheadDepth = depth
        }
        return place.sourceName
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

import Results
import Statistics
import Support

extension CellSummary {
    /// The figures of one cell, in a few lines for a terminal.
    package var text: String {
        let allowances = cell.tlsAllowances.joined(separator: ", ")
        let warning = Warning(
            title: "TLS with \(allowances)", message: "the server was not authenticated", advice: "", isSerious: true)
        return TextRenderer.render(
            Document(
                title: cell.name, warnings: allowances.isEmpty ? [] : [warning],
                sections: [.init(blocks: [.facts(textFacts)])]))
    }

    private var textFacts: [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String?) {
            if let value { facts.append((name, value)) }
        }
        add("no figures", missingReason)
        if let speed {
            add(
                "throughput",
                "\(ByteCountText.rate(speed.bytesPerSecond))  (\(speed.interval == nil ? "" : "95 %: ")"
                    + "\(speed.rangeText); \(sampleCount) iterations in \(rounds.count) processes)")
        }
        if let limit {
            let rate = ByteCountText.rate(limit.bytesPerSecond)
            add("share", "\(RatioText.percent(limit.share)) of what \(limit.kind.text) allow, \(rate)")
        }
        add("latency", latency.map { "closed loop: \($0.words)" })
        add("first byte", firstByte?.words)
        if let playback {
            add(
                "playback",
                "at \(BitRateText.text(playback.bitsPerSecond)): first byte after "
                    + "\(DurationText.text(nanoseconds: playback.firstByteNanoseconds)), start after "
                    + "\(DurationText.text(nanoseconds: playback.startNanoseconds)), \(BitRateText.stalls(playback))")
        }
        if let times = passesCachedBelow?.map({ DurationText.text(nanoseconds: $0) }) {
            add(
                "not cold",
                "cached below this system: a first pass took \(times[0]), further ones "
                    + times.dropFirst().joined(separator: ", "))
        }
        add(
            "cold",
            residentByteCount.map { "at most \(ByteCountText.measured($0)) of the file stayed in memory" })
        add("used", usage?.text)
        for figure in [Figure].shown(in: .terminal) { add(figure.name, figure.value(self).map(figure.unit.text)) }
        if let memory {
            let bound = memory.boundByteCount.map { ", bound \(ByteCountText.measured($0))" } ?? ""
            add(
                "peak memory",
                "\(ByteCountText.growth(memory.growthByteCount)) above a baseline of "
                    + "\(ByteCountText.measured(memory.baselineByteCount))\(bound), "
                    + "\(ByteCountText.measured(memory.absolutePeakByteCount)) altogether"
                    + (memory.cgroup.map { ", \(ByteCountText.measured($0.peakByteCount)) in its cgroup" } ?? ""))
            if returnsMemory, let iterationUsage {
                add(
                    "allocator",
                    "takes memory from the system and gives it back: "
                        + "\(SignificantDigits.grouped(iterationUsage.minorFaults)) page faults an iteration"
                        + (iterationUsage.systemShare.map { ", \(RatioText.percent($0)) of CPU time in the kernel" }
                            ?? ""))
            }
        } else if outcome == .measured {
            add("peak memory", "not available: the kernel does not tell")
        }
        if let amplification {
            add(
                "amplification",
                "\(RatioText.times(amplification.fetched)) fetched"
                    + (amplification.decrypted.map { ", \(RatioText.times($0)) decrypted" } ?? "")
                    + (amplification.requestsPerRead.map { ", \(SignificantDigits.text($0)) requests a read" } ?? ""))
        }
        if let workingSetByteCount {
            add(
                "working set",
                ByteCountText.size(workingSetByteCount)
                    + (isInCache ? ": it fits the last CPU cache, and these figures are of that cache" : ""))
        }
        add("plaintext", digest.map { "SHA-256 \($0), as expected" })
        return facts
    }
}

extension ProcessUsage {
    /// The figures in words; unknown ones are called unavailable.
    var text: String {
        func count(_ number: UInt64?) -> String {
            number.map(SignificantDigits.grouped) ?? "unavailable"
        }
        return [
            "CPU \(DurationText.text(nanoseconds: userNanoseconds)) user and "
                + "\(DurationText.text(nanoseconds: systemNanoseconds)) system",
            "page faults \(count(minorFaults)) minor and \(count(majorFaults)) major",
            "switches \(count(voluntarySwitches)) voluntary and \(count(involuntarySwitches)) not",
            "instructions \(count(instructions))", "cycles \(count(cycles))",
        ].joined(separator: ", ")
    }
}

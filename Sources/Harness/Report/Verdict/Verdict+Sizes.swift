import Results

extension Verdict {
    /// Says what 16 MB and 100 MiB cost against the choice, as windows and as chunks.
    static func sizes(_ recommendation: RunRecommendation?, _ summary: RunSummary) -> [String] {
        let chunks = wholeChunks(recommendation, summary)
        guard let recommendation, let choice = recommendation.choice, recommendation.pool.workload == "sequential"
        else { return [chunks].compactMap { $0 } }
        var missing: [String] = []
        var sentences: [String] = []
        for size in [16_000_000, 104_857_600] as [UInt64] where choice.cell.windowByteCount != size {
            let cells = recommendation.pool.cells.filter {
                $0.cell.windowByteCount == size && $0.cell.backend == choice.cell.backend
            }
            let name = ByteCountText.size(size)
            let plain = cells.first { $0.cell.access == "block" && $0.cell.label == nil }
            let fresh = cells.first { $0.cell.access == "fresh-buffers" }
            if plain == nil && fresh == nil { missing.append(name) }
            if let plain {
                let added = fresh.map {
                    "; with new buffers for each, as in article 004, \(difference($0, recommendation))"
                }
                sentences.append("Windows of \(name) \(cost(plain, choice, recommendation))\(added ?? "").")
            } else if let fresh {
                sentences.append(
                    "Windows of \(name) with new buffers for each, as in article 004, \(cost(fresh, choice, recommendation))."
                )
            }
        }
        if !missing.isEmpty {
            sentences.append("Windows of \(list(missing)) were not measured with \(choice.cell.backend).")
        }
        return sentences + [chunks].compactMap { $0 }
    }

    /// What a configuration costs against the choice in throughput, memory and time to first byte.
    private static func cost(
        _ other: CellSummary, _ choice: CellSummary, _ recommendation: RunRecommendation
    ) -> String {
        var parts: [String] = []
        if let memory = other.memory, let less = choice.memory {
            let (text, lessText) = (
                ByteCountText.growth(memory.growthByteCount), ByteCountText.growth(less.growthByteCount)
            )
            parts.append(text == lessText ? "no more memory" : "\(text) of memory instead of \(lessText)")
        }
        if let wait = other.timeToFirstByte, let less = choice.timeToFirstByte {
            parts.append(
                "\(DurationText.text(nanoseconds: wait)) to the first byte instead of \(DurationText.text(nanoseconds: less))"
            )
        }
        let ratio = SpeedRatio(of: other, over: choice, seed: recommendation.summary.results.header.seed)
        guard let ratio else { return "cost \(list(parts))" }
        if ratio.isTie { return "tie with it in throughput" + (parts.isEmpty ? "" : " and cost \(list(parts))") }
        if ratio.ratio >= 1 {
            return "are \(ratio.text) as fast" + (parts.isEmpty ? "" : " and cost \(list(parts))")
        }
        return "cost \(list(["\(ratio.lossText) of that throughput"] + parts))"
    }

    /// The same in fewer words, after a sentence that has said what is compared.
    private static func difference(_ other: CellSummary, _ recommendation: RunRecommendation) -> String {
        guard let choice = recommendation.choice,
            let ratio = SpeedRatio(of: other, over: choice, seed: recommendation.summary.results.header.seed)
        else { return "–" }
        let memory = other.memory.map { " and \(ByteCountText.growth($0.growthByteCount))" } ?? ""
        if ratio.isTie { return "a tie\(memory)" }
        return (ratio.ratio >= 1 ? "\(ratio.text) as fast" : ratio.lossText) + memory
    }

    /// Says what decrypting whole chunks as in article 000 costs a random read.
    private static func wholeChunks(_ recommendation: RunRecommendation?, _ summary: RunSummary) -> String? {
        let backend = recommendation?.choice?.cell.backend
        guard let published = summary.published("article 000", workload: "random", preferring: backend),
            let alternative = summary.alternative(to: published)
        else { return nil }
        let chunk = published.cell.chunkByteCount.map { ByteCountText.size($0) } ?? "the file"
        let read = readSize(published.cell.workload)
        let fetched = published.amplification.map { "fetches \(RatioText.times($0.fetched)) its bytes" }
        let time = published.latency.map { "takes \(DurationText.text(nanoseconds: $0.p50))" }
        let rate = published.speed.map { "delivers \(ByteCountText.rate($0.bytesPerSecond))" }
        let parts = [fetched, time].compactMap { $0 }
        let other: String =
            switch (alternative.latency, alternative.speed) {
            case (let latency?, _) where time != nil: DurationText.text(nanoseconds: latency.p50)
            case (_, let speed?): ByteCountText.rate(speed.bytesPerSecond)
            default: "–"
            }
        let what = list(time == nil ? [fetched, rate].compactMap { $0 } : parts)
        return
            "Where chunks of \(chunk) are decrypted whole, as in article 000, a read of \(read) \(what); by the blocks "
            + "needed \(other)."
    }
}

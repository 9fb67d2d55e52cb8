import Results

extension Verdict {
    /// Says what reading whole chunks as in article 000 costs a random read.
    static func wholeChunks(_ summary: RunSummary) -> String? {
        let backend = summary.best?.cell.backend
        guard let published = summary.published("article 000", workload: "random", preferring: backend),
            let alternative = summary.alternative(to: published)
        else { return nil }
        let chunk = published.cell.chunkByteCount.map { ByteCountText.size($0) + " chunks" } ?? "whole chunks"
        return "Article 000's \(chunk) (\(published.cell.backend), \(published.cell.workload)): "
            + "\(readCost(published, isFirst: true)); by block \(readCost(alternative))."
    }

    /// Says what windows in fresh buffers as in article 004 cost a sequential read.
    static func freshWindows(_ summary: RunSummary) -> String? {
        let backend = summary.best?.cell.backend
        guard let published = summary.published("article 004", workload: "sequential", preferring: backend),
            let speed = published.speed, let alternative = summary.alternative(to: published),
            let other = alternative.speed
        else { return nil }
        let window = ByteCountText.size(published.cell.windowByteCount)
        let better = "\(ByteCountText.size(alternative.cell.windowByteCount)) windows"
        let relation = speed.ties(with: other) ? "a tie with \(better)" : better
        return
            "Article 004's fresh \(window) windows (\(published.cell.backend)): \(streamCost(published, isFirst: true)); "
            + "\(relation): \(streamCost(alternative))."
    }

    private static func readCost(_ summary: CellSummary, isFirst: Bool = false) -> String {
        let parts = [
            summary.amplification.map { RatioText.times($0.fetched) + (isFirst ? " fetched" : "") },
            summary.latency.map { (isFirst ? "median read " : "") + DurationText.text(nanoseconds: $0.p50) },
        ].compactMap { $0 }
        guard parts.isEmpty, let speed = summary.speed else { return parts.joined(separator: ", ") }
        return ByteCountText.rate(speed.bytesPerSecond)
    }

    private static func streamCost(_ summary: CellSummary, isFirst: Bool = false) -> String {
        let parts = [
            summary.speed.map { ByteCountText.rate($0.bytesPerSecond) },
            summary.memory.map { memory in
                let growth = ByteCountText.growth(memory.growthByteCount)
                return (growth.hasPrefix("<") ? growth : "+" + growth) + (isFirst ? " memory" : "")
            },
        ].compactMap { $0 }
        return parts.joined(separator: ", ")
    }
}

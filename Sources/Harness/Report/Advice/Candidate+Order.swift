extension Candidate {
    /// Says which of two candidates that tie is taken: less memory, then a sooner first byte, then a smaller window.
    ///
    /// What is still equal goes by amplification, throughput and `id`, so that the order is total and the same each time.
    static func isPreferred(_ one: Candidate, to other: Candidate) -> Bool {
        if one.comparedMemory != other.comparedMemory { return one.comparedMemory < other.comparedMemory }
        if one.comparedFirstByte != other.comparedFirstByte { return one.comparedFirstByte < other.comparedFirstByte }
        if one.windowByteCount != other.windowByteCount { return one.windowByteCount < other.windowByteCount }
        if one.comparedAmplification != other.comparedAmplification {
            return one.comparedAmplification < other.comparedAmplification
        }
        if one.bytesPerSecond != other.bytesPerSecond { return one.bytesPerSecond > other.bytesPerSecond }
        return one.id < other.id
    }

    /// The candidate with the greatest median; of equals the preferred one.
    package static func fastest(of candidates: [Candidate]) -> Candidate? {
        candidates.min {
            $0.bytesPerSecond != $1.bytesPerSecond
                ? $0.bytesPerSecond > $1.bytesPerSecond : isPreferred($0, to: $1)
        }
    }

    /// The preferred one of those that tie with the fastest.
    package static func choice(of candidates: [Candidate]) -> Candidate? {
        guard let fastest = fastest(of: candidates) else { return nil }
        return candidates.filter { $0.ties(with: fastest) }.min { isPreferred($0, to: $1) }
    }

    /// Says whether this candidate is no worse than another in everything, and better in something.
    ///
    /// Throughputs are compared by their medians; missing figures are the worst. The relation is transitive.
    package func dominates(_ other: Candidate) -> Bool {
        let isNoWorse =
            bytesPerSecond >= other.bytesPerSecond && comparedMemory <= other.comparedMemory
            && comparedFirstByte <= other.comparedFirstByte && comparedAmplification <= other.comparedAmplification
        let isBetter =
            bytesPerSecond > other.bytesPerSecond || comparedMemory < other.comparedMemory
            || comparedFirstByte < other.comparedFirstByte || comparedAmplification < other.comparedAmplification
        return isNoWorse && isBetter
    }

    /// The Pareto front: the candidates that no other one dominates, fastest first.
    ///
    /// Complexity: O(n log n + n × f) for n candidates and f on the front.
    package static func front(of candidates: [Candidate]) -> [Candidate] {
        // In this order whatever dominates a candidate comes before it.
        let sorted = candidates.sorted { one, other in
            if one.bytesPerSecond != other.bytesPerSecond { return one.bytesPerSecond > other.bytesPerSecond }
            if one.comparedMemory != other.comparedMemory { return one.comparedMemory < other.comparedMemory }
            if one.comparedFirstByte != other.comparedFirstByte {
                return one.comparedFirstByte < other.comparedFirstByte
            }
            if one.comparedAmplification != other.comparedAmplification {
                return one.comparedAmplification < other.comparedAmplification
            }
            return isPreferred(one, to: other)
        }
        var front: [Candidate] = []
        for candidate in sorted where !front.contains(where: { $0.dominates(candidate) }) { front.append(candidate) }
        return front
    }
}

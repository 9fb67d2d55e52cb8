internal import Vectors

/// A trait that all failed vectors of a subject have and most others lack, such as a strategy or a key length.
struct CommonTrait {
    /// The number of vectors that were executed and that failed, by trait.
    private var counts: [String: Count] = [:]
    private var total: Count = (0, 0)

    private typealias Count = (executed: Int, failed: Int)

    /// Counts the results of a set of groups.
    mutating func note(_ groups: [VectorGroup], executed: Int, failed: Int) {
        guard groups.count == 1, let group = groups.first else { return }
        total = Self.sum(total, (executed, failed))
        for trait in Self.traits(of: group) {
            counts[trait] = Self.sum(counts[trait, default: (0, 0)], (executed, failed))
        }
    }

    /// Adds up the counts of different vectors.
    static func sum(of parts: some Sequence<CommonTrait>) -> CommonTrait {
        parts.reduce(into: CommonTrait()) { sum, part in
            sum.total = Self.sum(sum.total, part.total)
            sum.counts.merge(part.counts, uniquingKeysWith: Self.sum)
        }
    }

    private static func sum(_ one: Count, _ other: Count) -> Count {
        (one.executed + other.executed, one.failed + other.failed)
    }

    private static func traits(of group: VectorGroup) -> [String] {
        guard group.hasStrategy else { return [group.strategyName] }
        var traits = [group.strategyName, "keys of \(group.key.byteCount) bytes"]
        if let padding = group.strategy.padding { traits.append("padding \(padding.rawValue)") }
        if group.plaintext.byteCount == 0, case .opens = group.opening { traits.append("empty objects") }
        return traits
    }

    /// The rarest trait that all failed vectors have and most executed ones lack, with its counts; `nil` if there is
    /// none.
    var text: String? {
        guard total.failed > 1 else { return nil }
        let common = counts.filter { $0.value.failed == total.failed && 2 * $0.value.executed < total.executed }
        guard let (trait, count) = common.min(by: { ($0.value.executed, $0.key) < ($1.value.executed, $1.key) }) else {
            return nil
        }
        return "\(trait) (\(count.failed) of \(count.executed) of these failed)"
    }
}

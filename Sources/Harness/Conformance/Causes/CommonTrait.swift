internal import Vectors

/// A trait that all failed vectors of a subject have and most others lack, such as a strategy or a key length.
struct CommonTrait {
    /// The number of vectors that were executed and that failed, by trait.
    private var counts: [String: (executed: Int, failed: Int)] = [:]
    private var total = (executed: 0, failed: 0)

    /// Counts the results of a set of groups.
    mutating func note(_ groups: [VectorGroup], executed: Int, failed: Int) {
        guard groups.count == 1, let group = groups.first else { return }
        total = (total.executed + executed, total.failed + failed)
        for trait in Self.traits(of: group) {
            let known = counts[trait, default: (0, 0)]
            counts[trait] = (known.executed + executed, known.failed + failed)
        }
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

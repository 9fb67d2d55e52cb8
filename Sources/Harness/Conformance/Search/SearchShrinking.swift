internal import RandomAccess
internal import Vectors

/// Reduces a case for as long as it still shows a difference.
///
/// It is greedy and deterministic: it takes the first candidate that is smaller and still fails, until there is none or
/// the time is over.
/// - Source: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28 (2), 2002.
struct SearchShrinking {
    /// The max number of cases that are tried.
    var budget = 5000

    /// Shrinks a case.
    ///
    /// - Parameters:
    ///   - searchCase: The case.
    ///   - fails: Returns whether a case shows a difference.
    ///   - goesOn: Returns whether there is time for another case, given the number of those tried.
    /// - Returns: The smallest case found, and whether all smaller cases of its kind were tried.
    func shrink(
        _ searchCase: SearchCase, fails: (SearchCase) -> Bool, while goesOn: (_ tried: Int) -> Bool
    ) -> (smallest: SearchCase, isFinished: Bool) {
        var best = searchCase
        var hasShrunk = true
        var tried = 0
        while hasShrunk {
            hasShrunk = false
            for candidate in Self.candidates(of: best) where candidate.size.lexicographicallyPrecedes(best.size) {
                guard tried < budget, goesOn(tried) else { return (best, false) }
                tried += 1
                if fails(candidate) {
                    best = candidate
                    hasShrunk = true
                    break
                }
            }
        }
        return (best, true)
    }

    private static func candidates(of best: SearchCase) -> [SearchCase] {
        var candidates: [SearchCase] = []
        func add(_ change: (inout SearchCase) -> Void) {
            var candidate = best
            change(&candidate)
            if !candidate.reads.isEmpty || best.reads.isEmpty { candidates.append(candidate) }
        }
        for index in best.reads.indices { add { $0.reads = [$0.reads[index]] } }
        if best.reads.count > 3 {
            add { $0.reads.removeFirst($0.reads.count / 2) }
            add { $0.reads.removeLast($0.reads.count / 2) }
        }
        for index in best.reads.indices { add { $0.reads.remove(at: index) } }
        for index in best.objects.indices where best.objects.count > 1 {
            add { shrunk in
                shrunk.objects.remove(at: index)
                shrunk.reads = shrunk.reads.filter { $0.object != index }.map { read in
                    var read = read
                    if read.object > index { read.object -= 1 }
                    return read
                }
            }
        }
        for (index, object) in best.objects.enumerated() {
            for length in smaller(object.plaintextByteCount) {
                add { $0.objects[index].plaintextByteCount = length }
                // Reads near the end move with it.
                let step = object.plaintextByteCount - length
                add { shrunk in
                    shrunk.objects[index].plaintextByteCount = length
                    for read in shrunk.reads.indices where shrunk.reads[read].object == index {
                        shrunk.reads[read].offset -= min(step, shrunk.reads[read].offset)
                    }
                }
            }
        }
        for (index, read) in best.reads.enumerated() {
            for count in smaller(UInt64(read.count)) { add { $0.reads[index].count = Int(count) } }
            for offset in smaller(read.offset) { add { $0.reads[index].offset = offset } }
            if read.failsFirst { add { $0.reads[index].failsFirst = false } }
        }
        add { $0.setup = ReaderSetup(.cursor(windowByteCount: .max), $0.setup.supply) }
        add { $0.setup = ReaderSetup($0.setup.access) }
        for (index, object) in best.objects.enumerated() {
            for strategy in simpler(object.strategy) { add { $0.objects[index].strategy = strategy } }
            add { $0.objects[index].key = [UInt8](repeating: 0, count: 16) }
            add { $0.objects[index].key = [UInt8](repeating: 0, count: $0.objects[index].key.count) }
            add { $0.objects[index].key = Array($0.objects[index].key.prefix(16)) }
            add { $0.objects[index].seed = 0 }
        }
        return candidates
    }

    /// Returns smaller numbers: 0, round ones, halves, and those that are one or one block less.
    private static func smaller(_ value: UInt64) -> [UInt64] {
        guard value > 0 else { return [] }
        let tries = [0, value / 2, value / 4 * 3, value / 16 * 16, value / 16 / 2 * 16 + value % 16]
        let steps = [1 << 20, 4096, 256, 64, 16, 1].filter { $0 <= value }.map { value - $0 }
        return (tries + steps).filter { $0 < value }
    }

    private static func simpler(_ strategy: Strategy) -> [Strategy] {
        [strategy.chunkByteCount ?? 16, 16].flatMap { chunkByteCount in
            [strategy.iv, Block(bigEndianValue: 0)].flatMap { VectorSet.plain(chunkByteCount: chunkByteCount, iv: $0) }
        }
    }
}

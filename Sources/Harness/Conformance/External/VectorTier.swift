internal import Support
package import Vectors

/// A choice of vectors for slow subjects, such as programs that start a process for each read.
///
/// The rule, which gives the same choice in every run:
///
/// 1. The candidates of each group are, for each set of flags, up to 24 to 48 of its reads, evenly spaced; or its
///    opening, if it has no reads.
/// 2. Each flag, each strategy with its parameters, and each key length of each strategy gets its first candidate of at
///    most 1 MiB. If there is none, it gets its smallest one.
/// 3. The remaining capacity is shared out, the rarest flag first. Each flag gets the same share of the remainder,
///    evenly spaced over its candidates in the order of the groups. Only reads of at most 1 MiB, in chunks of at most 1
///    MiB, take part.
/// 4. Groups whose order of reads matters are not candidates. Up to 20 first reads of each are chosen, so that each
///    read still follows the right one. All reads of the first group in random order are chosen, for faults that show
///    after a thousand reads.
/// 5. Of each object in one chain that stands for one length of all, the first read past the end is chosen. Of each
///    playlist and film, a read of the whole and one of its second half are chosen.
/// 6. Each pair of residues modulo 16, of a read's start and of its length, is chosen once. The choice goes round
///    through the objects of all strategies and key lengths that have every range.
/// 7. All short lists and all long reads are chosen. So are all objects that do not open because of: their padding in
///    one chain; their last chunk; data cut off or added between or in authenticated chunks; their header; a broken
///    playlist or film.
/// 8. A group's opening comes with each of its chosen reads.
/// 9. The choice from each format that is known only by its description is independent. So the choice for a program
///    that names it does not depend on the number of other formats.
package struct VectorTier: Sendable {
    /// The max number of chosen vectors, without formats that are known only by their descriptions. With the reads that
    /// are repeated under faults and the other checks, a subject gets at most 10,000 reads of these.
    package static let largestCount = 7_500
    /// The max number of vectors of each format that is known only by its description.
    package static let largestFormatCount = 600

    /// The indices of the chosen reads, by group; empty for a group that is only opened.
    private var chosen: [Int: Set<Int>] = [:]

    package init(of groups: [VectorGroup], largestCount: Int = Self.largestCount) {
        let formats = Dictionary(grouping: groups.indices) { index in
            let group = groups[index]
            return !group.hasStrategy || VectorSet.isListed(group.strategy.format) ? nil : group.strategyName
        }
        let choices = Parallel.map(Array(formats)) { format, indices in
            let capacity = format == nil ? largestCount : min(Self.largestFormatCount, largestCount)
            return (indices, VectorChoice(of: indices.map { groups[$0] }, capacity: capacity).chosen)
        }
        for (indices, chosen) in choices {
            for (group, reads) in chosen { self.chosen[indices[group]] = reads }
        }
    }

    /// Returns the groups of which any vector was chosen, with the chosen reads.
    ///
    /// - Parameter groups: The groups from which the tier was chosen.
    /// - Returns: Groups of the same names, in order.
    package func chosen(of groups: [VectorGroup]) -> [VectorGroup] {
        groups.indices.filter(contains).map { index in
            groups[index].choosing(reads(of: groups[index], index: index).map(\.read))
        }
    }

    /// Says whether any vector of a group was chosen.
    package func contains(group index: Int) -> Bool { chosen[index] != nil }

    /// The number of chosen reads.
    package var readCount: Int { chosen.values.reduce(0) { $0 + $1.count } }

    /// Returns the chosen reads of a group, with their indices in it.
    package func reads(of group: VectorGroup, index: Int) -> [(number: Int, read: RangeRead)] {
        guard let numbers = chosen[index], let last = numbers.max() else { return [] }
        return group.reads.prefix(last + 1).numbered.filter { numbers.contains($0.number) }
    }
}

/// The choice from some groups, by rules 1 to 8 of ``VectorTier``.
private struct VectorChoice {
    /// A chosen vector.
    private struct Candidate {
        var group: Int
        /// The read's index in its group, or `nil` for the opening.
        var read: Int?
        var flags: [VectorFlag]
        var count: Int
        var isCheap: Bool
    }

    /// The indices of the chosen reads, by group; empty for a group that is only opened.
    private(set) var chosen: [Int: Set<Int>] = [:]
    /// The number of vectors that may still be chosen.
    private var capacity: Int

    init(of groups: [VectorGroup], capacity: Int) {
        self.capacity = capacity
        takeFirstReads(of: groups)
        takeWholes(of: groups)
        takeResidues(of: groups)
        let candidates = groups.enumerated().filter { Self.isFree($0.element) }
            .flatMap { Self.candidates(of: $0.element, index: $0.offset) }
        for index in Self.covering(candidates, groups) { take(candidates[index]) }
        for candidate in candidates {
            let isOpening = candidate.read == nil && candidate.flags.contains(where: Self.openings.contains)
            if isOpening || candidate.flags.contains(.longRead) { take(candidate) }
        }
        shareOut(candidates.filter(\.isCheap))
    }

    private mutating func take(_ candidate: Candidate) { take(candidate.read, of: candidate.group) }

    /// Chooses a read of a group, or only its opening, unless it is already chosen or no capacity is left.
    private mutating func take(_ read: Int?, of group: Int) {
        guard capacity > 0, !isTaken(read, of: group) else { return }
        chosen[group, default: []].formUnion(read.map { [$0] } ?? [])
        capacity -= 1
    }

    private func isTaken(_ read: Int?, of group: Int) -> Bool {
        read.map { chosen[group]?.contains($0) == true } ?? (chosen[group] != nil)
    }

    /// Returns false for groups of which the first reads, or all, are chosen.
    private static func isFree(_ group: VectorGroup) -> Bool {
        !VectorSet.isShortList(group) && !group.flags.contains(where: ordered.contains) && group.interleaving == nil
    }

    /// Chooses short lists, and the first reads of groups whose order matters.
    private mutating func takeFirstReads(of groups: [VectorGroup]) {
        let storm = groups.firstIndex { $0.flags.contains(.seekStorm) }
        for (index, group) in groups.enumerated() where !Self.isFree(group) {
            let isWhole = index == storm || VectorSet.isShortList(group)
            for number in 0..<(isWhole ? group.readCount : min(group.readCount, Self.orderedReadCount)) {
                take(number, of: index)
            }
        }
    }

    /// Chooses the whole and the second half of each playlist and film, and a read past the end of objects of every
    /// length.
    private mutating func takeWholes(of groups: [VectorGroup]) {
        for (index, group) in groups.enumerated() {
            func takeFirst(where isWanted: (RangeRead) -> Bool) {
                if let number = group.reads.firstIndex(where: isWanted) { take(number, of: index) }
            }
            let length = group.plaintext.byteCount
            if !group.hasStrategy {
                for offset in [0, length / 2] {
                    takeFirst { $0.offset == offset && UInt64($0.count) == length - offset }
                }
            } else if group.flags.contains(.everyLength), group.strategy.chunkByteCount == nil {
                takeFirst { $0.flags.contains(.readPastEnd) }
            }
        }
    }

    /// Goes through the 256 pairs of residues, taking the next object that has all ranges for each pair.
    private mutating func takeResidues(of groups: [VectorGroup]) {
        let whole = groups.indices.filter { groups[$0].flags.contains(.exhaustive) && groups[$0].readCount > 2000 }
        guard !whole.isEmpty else { return }
        var wanted: [Int: Set<Int>] = [:]
        for pair in 0..<256 { wanted[whole[pair * 7 % whole.count], default: []].insert(pair) }
        for (group, pairs) in wanted.sorted(by: { $0.key < $1.key }) {
            var left = pairs
            for (number, read) in groups[group].reads.enumerated() where read.count > 0 {
                guard !left.isEmpty else { break }
                guard left.remove(Int(read.offset % 16) * 16 + read.count % 16) != nil else { continue }
                take(number, of: group)
            }
        }
    }

    /// Shares out the remaining capacity, the rarest flag first.
    private mutating func shareOut(_ candidates: [Candidate]) {
        var indicesByFlag: [VectorFlag: [Int]] = [:]
        for (index, candidate) in candidates.enumerated() {
            for flag in Set(candidate.flags) { indicesByFlag[flag, default: []].append(index) }
        }
        let flags = indicesByFlag.sorted { ($0.value.count, $0.key.rawValue) < ($1.value.count, $1.key.rawValue) }
        for (number, (_, indices)) in flags.enumerated() {
            let share = max(1, capacity / (flags.count - number))
            let free = indices.filter { !isTaken(candidates[$0].read, of: candidates[$0].group) }
            let step = max(1, Double(free.count) / Double(share))
            var position = 0.0
            while Int(position) < free.count {
                take(candidates[free[Int(position)]])
                position += step
            }
        }
    }

    /// Classes of bugs that only show in the order of reads.
    private static let ordered: Set<VectorFlag> = [
        .forwardReads, .backwardRead, .repeatedRead, .afterEmptyRead, .afterFailure, .seekStorm,
    ]
    /// Classes of bugs that show when an object is opened, each with few objects.
    private static let openings: Set<VectorFlag> = [
        .paddingByte, .impossibleLastChunk, .truncatedChunks, .trailingData, .headerCheck, .badPlaylist, .missingKey,
        .badSegment, .badFilm,
    ]
    private static let orderedReadCount = 20
    private static let largestCheapByteCount = 1 << 20

    private static func candidates(of group: VectorGroup, index: Int) -> [Candidate] {
        guard group.readCount > 0 else {
            return [Candidate(group: index, read: nil, flags: group.flags, count: 0, isCheap: true)]
        }
        let hasSmallChunks = (group.strategy.chunkByteCount ?? 0) <= UInt64(largestCheapByteCount)
        var spread: [Set<VectorFlag>: Spread] = [:]
        for (number, read) in group.reads.enumerated() {
            let candidate = Candidate(
                group: index, read: number, flags: read.flags, count: read.count,
                isCheap: hasSmallChunks && read.count <= largestCheapByteCount)
            spread[Set(read.flags), default: Spread()].add(candidate)
        }
        return spread.values.flatMap(\.kept).sorted { ($0.read ?? 0) < ($1.read ?? 0) }
    }

    /// Evenly spaced members of a list of unknown length: when it has too many, it drops every other one.
    private struct Spread {
        var kept: [Candidate] = []
        private var step = 1
        private var seen = 0

        mutating func add(_ candidate: Candidate) {
            defer { seen += 1 }
            guard seen % step == 0 else { return }
            kept.append(candidate)
            guard kept.count > 48 else { return }
            kept = kept.indices.filter { $0 % 2 == 0 }.map { kept[$0] }
            step *= 2
        }
    }

    /// Returns a candidate for each flag, each strategy with its parameters, and each key length of each strategy.
    private static func covering(_ candidates: [Candidate], _ groups: [VectorGroup]) -> [Int] {
        var best: [String: Int] = [:]
        for (index, candidate) in candidates.enumerated() {
            let group = groups[candidate.group]
            let traits =
                candidate.flags.map(\.rawValue) + [
                    group.strategyLabel, "\(group.strategyName) \(group.key.byteCount)",
                ]
            for trait in traits {
                guard let known = best[trait].map({ candidates[$0] }) else {
                    best[trait] = index
                    continue
                }
                let isSmaller = candidate.count < known.count && known.count > largestCheapByteCount
                if isSmaller || candidate.isCheap && !known.isCheap { best[trait] = index }
            }
        }
        return Set(best.values).sorted()
    }
}

import BackendRegistry
import RandomAccess
import Testing
import Vectors

@testable import Conformance

@Suite("the tier")
struct VectorTierTests {
    @Test("touches every flag, strategy, parameter and key length, in few reads")
    func coverage() {
        let groups = VectorSet.standard()
        let tier = VectorTier(of: groups)
        var wanted: Set<String> = []
        var found: Set<String> = []
        var count = 0
        for (index, group) in groups.enumerated() {
            let traits = [group.strategyLabel, "\(group.strategyName) \(group.key.byteCount)"]
            wanted.formUnion(traits)
            // Of the exhaustive ranges a few say what flags there are.
            for read in group.reads.prefix(2000) { wanted.formUnion(read.flags.map(\.rawValue)) }
            if group.readCount == 0 { wanted.formUnion(group.flags.map(\.rawValue)) }
            guard tier.contains(group: index) else { continue }
            let reads = tier.reads(of: group, index: index)
            found.formUnion(traits)
            found.formUnion(reads.flatMap { $0.read.flags.map(\.rawValue) })
            if group.readCount == 0 { found.formUnion(group.flags.map(\.rawValue)) }
            count += reads.count
        }
        #expect(wanted.subtracting(found).isEmpty)
        #expect(count == tier.readCount)
        let described = groups.filter { $0.playlist == nil && !VectorSet.isListed($0.strategy.format) }
        let others = Set(described.map(\.strategyName))
        let largest = VectorTier.largestCount + others.count * VectorTier.largestFormatCount
        #expect(others.count > 20 && count <= largest && count > 1000)
        #expect(VectorTier(of: groups).readCount == tier.readCount)
    }

    @Test("a small tier still covers")
    func small() {
        let groups = VectorSet.exhaustive(blockCounts: 1...2) + VectorSet.badPaddings()
        let tier = VectorTier(of: groups, largestCount: 60)
        let opened = groups.indices.filter(tier.contains)
        #expect(tier.readCount <= 60)
        #expect(Set(opened.map { groups[$0].strategyLabel }) == Set(groups.map(\.strategyLabel)))
    }

    @Test("notices every injected fault that a program can have by two vectors at least")
    func injectedFaults() throws {
        let matrix = try #require(
            ChoiceMatrix.run(over: try BackendRegistry.backend(named: "openssl"), groups: VectorSet.standard()))
        #expect(matrix.outcomes.count > 230)
        #expect(matrix.survivors.map { "\($0.mutant.name): \($0.failedCount)" } == [])
    }
}

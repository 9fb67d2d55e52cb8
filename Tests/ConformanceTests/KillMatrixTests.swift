import BackendRegistry
import RandomAccess
import Testing
import Vectors

@testable import Conformance

@Suite("the kill matrix")
struct KillMatrixTests {
    /// A mutant of each family; the program runs them all.
    private static let few = [
        "iv-frozen", "iv-not-restored", "chunk-stops", "window-restarts", "padding-last-byte", "partial-block-cut",
        "past-end-zeros", "offset-35-wraps", "short-read-stacked", "fetch-one-more",
        "key-of-last-opened",
        "fault-ignored", "counter-8-bit", "key-192-as-128", "does-nothing", "unsupported", "right-once",
        "chunk-tag-ignored", "chunk-released-first", "sealed-number-searched", "commitment-ignored",
    ]

    /// What a debug build gets through in time; the program puts all mutants to all of it.
    static let groups = VectorSet.mutation().filter { group in
        guard let format = group.strategy.chunkFormat else {
            return group.readCount < 1100 && !group.flags.contains(.everyLength)
        }
        // A chunk of 16 KiB takes such a build some time: only what the mutants above must fail.
        if case .cobblestone(16, _) = format { return group.flags == [.headerCheck] }
        return format == VectorSet.chunkFormats[2] && [[.chunkTag], [.chunkOrder]].contains(group.flags)
    }

    @Test("mutants of every family are killed by their own flag, and readers without a fault pass")
    func few() throws {
        let mutants = Mutant.all.filter { Self.few.contains($0.name) }
        #expect(mutants.count == Self.few.count)
        let matrix = KillMatrix.run(
            mutants, over: try BackendRegistry.backend(named: "openssl"), groups: Self.groups)
        #expect(matrix.survivors.map(\.mutant.name) == [])
        for control in matrix.controls {
            #expect(control.failed == 0 && control.passed > 0, "\(control.subject): \(control.failures)")
        }
        #expect(matrix.isComplete)
    }

    @Test("a flag is killed for its own bug: the vectors beside it pass")
    func sharp() throws {
        let neighbours: [(mutant: String, flags: [VectorFlag])] = [
            ("offset-36-wraps", [.beyond31Bits, .beyond32Bits, .beyond35Bits]),
            ("offset-31-clips", [.beyond32Bits, .beyond36Bits]), ("counter-64-bit", [.counterCarry32, .counterCarry8]),
            ("iv-zero", [.previousBlock, .counterStart]), ("iv-frozen", [.firstBlock, .counterStart]),
            ("padding-17", [.impossibleLastChunk, .lastBytes]), ("key-of-last-opened", [.repeatedRead, .backwardRead]),
            ("short-read-twice", [.sourceFailure, .minimalFetch, .bufferBounds]),
        ]
        let names = neighbours.map(\.mutant)
        let mutants = Mutant.all.filter { names.contains($0.name) }
        let groups = Self.groups.filter { group in
            neighbours.contains { $0.flags.contains { group.flags.contains($0) } }
        }
        let matrix = KillMatrix.run(mutants, over: try BackendRegistry.backend(named: "openssl"), groups: groups)
        for outcome in matrix.outcomes {
            let others = neighbours.first { $0.mutant == outcome.mutant.name }?.flags ?? []
            #expect(outcome.killedBy.filter { others.contains($0) } == [], "\(outcome.mutant.name)")
        }
    }

    @Test("nothing planted, or a reader that passes nothing, is no success")
    func nothing() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        #expect(!KillMatrix.run([], over: backend, groups: Array(Self.groups.prefix(1))).isComplete)
        #expect(!KillMatrix.run(Array(Mutant.all.prefix(1)), over: backend, groups: []).isComplete)
    }

    @Test("there are at least 40 mutants with distinct names, each described, and each flag stands for one")
    func inventory() {
        #expect(Mutant.all.count >= 40)
        #expect(Set(Mutant.all.map(\.name)).count == Mutant.all.count)
        #expect(Mutant.all.allSatisfy { $0.summary.hasSuffix(".") && !$0.source.isEmpty })
        let flags = Set(Mutant.all.map(\.flag))
        #expect(VectorFlag.allCases.filter { !flags.contains($0) } == [])
    }
}

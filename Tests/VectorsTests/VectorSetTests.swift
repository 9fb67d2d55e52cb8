import RandomAccess
import Testing

@testable import Vectors

@Suite("the standard vectors")
struct VectorSetTests {
    @Test("identifiers are unique, counts are true, every flag is used and explained")
    func inventory() throws {
        let groups = VectorSet.standard()
        #expect(Set(groups.map(\.id)).count == groups.count)
        var flags: Set<VectorFlag> = []
        for group in groups {
            flags.formUnion(group.flags)
            // The exhaustive groups are too many for a debug build; their counts are checked on small objects below.
            guard !group.flags.contains(.exhaustive) else { continue }
            let reads = Array(group.reads)
            #expect(reads.count == group.readCount, "\(group.id)")
            for read in reads { flags.formUnion(read.flags) }
        }
        for flag in VectorFlag.allCases where flag != .knownAnswer { #expect(flags.contains(flag), "\(flag)") }
        #expect(Set(VectorFlag.allCases.map(\.explanation)).count == VectorFlag.allCases.count)
        #expect(VectorFlag.allCases.allSatisfy { !$0.source.isEmpty })
    }

    @Test("exhaustive means every offset and count, and each key length for each strategy")
    func exhaustive() {
        let groups = VectorSet.exhaustive(blockCounts: 0...1)
        for group in groups {
            #expect(group.reads.reduce(0) { count, _ in count + 1 } == group.readCount, "\(group.id)")
            let pairs = Set(group.reads.map { [Int($0.offset), $0.count] })
            let length = Int(group.plaintext.byteCount)
            let isComplete = (0...length).allSatisfy { offset in
                (0...length - offset + 2).allSatisfy { pairs.contains([offset, $0]) }
            }
            #expect(isComplete && pairs.count == group.readCount, "\(group.id)")
        }
        var keys: [Strategy: Set<Int>] = [:]
        for group in VectorSet.exhaustive() { keys[group.strategy, default: []].insert(group.key.byteCount) }
        #expect(keys.count == 7 && keys.values.allSatisfy { $0 == [16, 24, 32] })
    }

    @Test("objects that are not to open do not open for the oracle either, and for the same reason")
    func failures() throws {
        for group in VectorSet.badPaddings() + VectorSet.impossibleLengths() {
            guard case .fails(let name) = group.opening else { continue }
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            do {
                _ = try oracle.plaintextByteCount(of: group.ciphertext)
                Issue.record("\(group.id) opens")
            } catch {
                #expect(ErrorName(error) == name, "\(group.id)")
            }
        }
    }
}

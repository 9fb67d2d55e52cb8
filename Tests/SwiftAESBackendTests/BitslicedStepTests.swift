import RandomAccess
import Testing

@testable import SwiftAESBackend

extension Plane {
    /// The bytes in order.
    var byteArray: [UInt8] { (0..<16).map { bytes[$0] } }
}

/// Calls `body` with planes that hold `bytes`, and returns the bytes that they hold then.
func withPlanes(_ bytes: [UInt8], _ body: (UnsafeMutablePointer<Plane>) -> Void) -> [UInt8] {
    let planes = UnsafeMutablePointer<Plane>.allocate(capacity: bytes.count / 16)
    defer { planes.deallocate() }
    for index in 0..<bytes.count / 16 {
        (planes + index).initialize(
            to: bytes[16 * index..<16 * index + 16].withUnsafeBytes { $0.loadUnaligned(as: Plane.self) })
    }
    body(planes)
    return (0..<bytes.count / 16).flatMap { planes[$0].byteArray }
}

@Suite("the steps of the bitsliced AES")
struct BitslicedStepTests {
    @Test("the circuits are the S-boxes, less {63}", arguments: [0, 128])
    func circuits(first: Int) {
        let input = (0..<128).map { UInt8(first + $0) }
        let boxes = SubstitutionBoxes.shared
        let forward = withPlanes(input) { planes in
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
            SubstitutionCircuits.subBytes(planes)
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
        }
        #expect(forward == input.map { boxes.forward[Int($0)] ^ 0x63 })
        // A round key of {a5} in each byte.
        let key = (0..<8).map { Plane.repeating(0xa5 >> $0 & 1 == 1 ? .max : 0) }
        let inverse = withPlanes(input) { planes in
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
            SubstitutionCircuits.invSubBytes(planes, addingRoundKey: key)
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
        }
        #expect(inverse == input.map { boxes.inverse[Int($0 ^ 0x63)] ^ 0xa5 })
    }

    @Test("a wide batch has the bits of a row in eight planes, the columns in lanes, the blocks in bits")
    func widePlanes() {
        var random = SplitMix(state: 1)
        let blocks = random.bytes(16 * 32)
        let packed = withPlanes(blocks, WideBatch.pack)
        for (row, bit, column, block) in [(0, 0, 0, 0), (1, 7, 2, 31), (3, 4, 3, 8), (2, 1, 1, 17), (3, 7, 3, 31)] {
            let expected = blocks[16 * block + 4 * column + row] >> bit & 1
            let found = packed[16 * (8 * row + bit) + 4 * column + block / 8] >> (block % 8) & 1
            #expect(found == expected, "row \(row), bit \(bit), column \(column), block \(block)")
        }
        #expect(withPlanes(packed, WideBatch.unpack) == blocks)
    }

    @Test("a narrow batch has each bit in a plane, the rows in lanes, the columns in bytes, the blocks in bits")
    func narrowPlanes() {
        var random = SplitMix(state: 2)
        let blocks = random.bytes(16 * 8)
        let packed = withPlanes(blocks, NarrowBatch.pack)
        for (row, bit, column, block) in [(0, 0, 0, 0), (1, 7, 2, 7), (3, 4, 3, 2), (2, 1, 1, 5), (3, 7, 3, 7)] {
            let expected = blocks[16 * block + 4 * column + row] >> bit & 1
            let found = packed[16 * bit + 4 * row + column] >> block & 1
            #expect(found == expected, "row \(row), bit \(bit), column \(column), block \(block)")
        }
        #expect(withPlanes(packed, NarrowBatch.unpack) == blocks)
    }

    @Test("products by {02} and {04} are those of GF(2^8)", arguments: [0, 128])
    func products(first: Int) {
        let input = (0..<128).map { UInt8(first + $0) }
        for (factor, product) in [(UInt8(2), \PlaneByte.timesTwo), (4, \PlaneByte.timesFour)] {
            let found = withPlanes(input) { planes in
                BitTransposition.swapWithinBytes(planes, groupCount: 1)
                PlaneByte(planes)[keyPath: product].store(to: planes)
                BitTransposition.swapWithinBytes(planes, groupCount: 1)
            }
            #expect(found == input.map { GaloisField.multiply($0, factor) }, "{0\(factor)}")
        }
    }

    @Test("round keys are the reference's, with {63} in all bytes but the first round's", arguments: [16, 24, 32])
    func roundKeys(keyByteCount: Int) throws {
        var random = SplitMix(state: 3)
        for _ in 0..<20 {
            let key = try SecretKey(random.bytes(keyByteCount))
            let schedule = KeySchedule(key)
            #expect(BitslicedKeyExpansion.roundCount(keyByteCount: keyByteCount) == schedule.roundCount)
            _ = withPlanes([UInt8](repeating: 0, count: 16 * (9 + schedule.roundCount))) { room in
                BitslicedKeyExpansion.expand(key, room: room)
                for round in 0...schedule.roundCount {
                    let expected = (0..<16).map { schedule.byte($0, ofRound: round) ^ (round == 0 ? 0 : 0x63) }
                    #expect(BitslicedKeyExpansion.roundKey(round, room: room).byteArray == expected, "round \(round)")
                }
            }
        }
    }
}

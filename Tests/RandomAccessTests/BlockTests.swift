import RandomAccess
import Testing

@Suite("blocks as 128-bit numbers")
struct BlockTests {
    /// Adds 1 byte by byte, from the last one.
    private func incremented(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.reversed() {
            bytes[index] &+= 1
            if bytes[index] != 0 { break }
        }
        return bytes
    }

    @Test("adding 1 carries through every byte and wraps", arguments: 0...16)
    func carry(lowBytesOfOnes: Int) throws {
        let bytes =
            [UInt8](repeating: 0x12, count: 16 - lowBytesOfOnes) + [UInt8](repeating: 0xff, count: lowBytesOfOnes)
        #expect(try Block(bytes).advanced(by: 1).bytes == incremented(bytes))
    }

    @Test("adding n is adding 1 n times")
    func sums() throws {
        var bytes = [UInt8](repeating: 0xff, count: 15) + [0x80]
        let start = try Block(bytes)
        for count in 0..<600 {
            #expect(start.advanced(by: UInt64(count)).bytes == bytes)
            bytes = incremented(bytes)
        }
        #expect(start.advanced(by: .max) == start.advanced(by: .max - 1).advanced(by: 1))
    }

    @Test("bytes go in and out at any alignment")
    func alignment() throws {
        let block = try Block(Array(1...16))
        for offset in 0..<16 {
            var room = [UInt8](repeating: 0, count: 48)
            room.withUnsafeMutableBytes { block.store(to: $0, at: offset) }
            #expect(Array(room[offset..<offset + 16]) == Array(1...16))
            #expect(room.reduce(0) { $0 + Int($1) } == 136)
            #expect(room.withUnsafeBytes { Block(loadingFrom: $0, at: offset) } == block)
        }
    }

    @Test("other lengths are no blocks", arguments: [0, 1, 15, 17, 32])
    func lengths(_ byteCount: Int) {
        #expect(throws: DecryptionError.invalidIV(byteCount: byteCount)) {
            try Block([UInt8](repeating: 0, count: byteCount))
        }
    }
}

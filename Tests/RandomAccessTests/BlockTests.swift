import Testing

@testable import RandomAccess

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
            var buffer = [UInt8](repeating: 0, count: 48)
            buffer.withUnsafeMutableBytes { block.store(to: $0, at: offset) }
            #expect(Array(buffer[offset..<offset + 16]) == Array(1...16))
            #expect(buffer.reduce(0) { $0 + Int($1) } == 136)
            #expect(buffer.withUnsafeBytes { Block(loadingFrom: $0, at: offset) } == block)
        }
    }

    @Test("other lengths are no blocks", arguments: [0, 1, 15, 17, 32])
    func lengths(_ byteCount: Int) {
        #expect(throws: DecryptionError.invalidIV(byteCount: byteCount)) {
            try Block([UInt8](repeating: 0, count: byteCount))
        }
    }
}

@Suite("PKCS#7")
struct PKCS7Tests {
    private func naive(_ bytes: [UInt8]) -> Int? {
        let count = Int(bytes[15])
        guard count >= 1, count <= 16 else { return nil }
        return bytes[(16 - count)...].allSatisfy { Int($0) == count } ? count : nil
    }

    @Test("every last byte, with a wrong byte at each position, is judged as by a naive check", arguments: 0...255)
    func allEnds(last: Int) throws {
        let fillings: [UInt8] = [UInt8(last), 0, 1, 0x80, 0xff, UInt8(truncatingIfNeeded: last + 1)]
        for filling in fillings {
            for position in 0..<16 {
                var bytes = [UInt8](repeating: UInt8(last), count: 16)
                if position < 15 { bytes[position] = filling }
                #expect(PKCS7.paddingByteCount(of: try Block(bytes)) == naive(bytes), "\(bytes)")
                // And the other way round: right from the position on, something else before.
                bytes =
                    [UInt8](repeating: filling, count: position) + [UInt8](repeating: UInt8(last), count: 16 - position)
                #expect(PKCS7.paddingByteCount(of: try Block(bytes)) == naive(bytes), "\(bytes)")
            }
        }
    }

    @Test("what is added makes whole blocks, and is never nothing", arguments: 0...33)
    func added(byteCount: Int) {
        let count = PKCS7.paddingByteCount(afterPlaintext: UInt64(byteCount))
        #expect((1...16).contains(count))
        #expect((byteCount + count) % 16 == 0)
    }
}

@Suite("keys do not show")
struct SecretKeyTests {
    struct Holder {
        let key: SecretKey
        let keys: [String: SecretKey]
    }

    @Test("printing, dumping and interpolating show the length only")
    func printing() throws {
        let key = try SecretKey([UInt8](repeating: 0xab, count: 24))
        #expect("\(key)" == "SecretKey(24 bytes)")
        #expect(String(reflecting: key) == "SecretKey(24 bytes)")
        #expect(Mirror(reflecting: key).children.isEmpty)
        var text = ""
        dump(Holder(key: key, keys: ["a": key]), to: &text)
        dump(key, to: &text)
        text += "\(Holder(key: key, keys: ["a": key])) \([key]) \(Optional(key) as Any)"
        for telltale in ["ab", "AB", "171", "storage", "0x"] {
            #expect(!text.contains(telltale), "\(text)")
        }
    }

    @Test("only the lengths of AES keys are taken", arguments: 0...40)
    func lengths(_ byteCount: Int) throws {
        let bytes = [UInt8](repeating: 1, count: byteCount)
        if [16, 24, 32].contains(byteCount) {
            let key = try SecretKey(bytes)
            #expect(key.byteCount == byteCount)
            #expect(key.withUnsafeBytes { Array($0) } == bytes)
        } else {
            #expect(throws: DecryptionError.invalidKey(byteCount: byteCount)) { try SecretKey(bytes) }
        }
    }
}

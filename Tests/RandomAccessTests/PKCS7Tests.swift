import Testing

@testable import RandomAccess

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

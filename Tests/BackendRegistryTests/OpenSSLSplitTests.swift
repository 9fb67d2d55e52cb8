import RandomAccess
import Testing

@testable import OpenSSLBackend

@Suite("inputs that are longer than an `int`")
struct OpenSSLSplitTests {
    @Test(
        "several calls give what one gives", arguments: CipherMode.allCases, [16, 48, 64, 1024])
    func splits(mode: CipherMode, largestCallByteCount: Int) throws {
        let ciphers = try OpenSSLCiphers()
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: .max - 1)
        for direction in CipherDirection.allCases {
            let cipher = try ciphers.cipher(mode: mode, keyByteCount: 16)
            let whole = try OpenSSLContext(cipher: cipher, direction: direction, key: key)
            let split = try OpenSSLContext(
                cipher: cipher, direction: direction, key: key, largestCallByteCount: largestCallByteCount)
            for count in mode == .ctr ? [1, 47, 48, 49, 1000] : [16, 48, 64, 1008] {
                #expect(try split.process(sample(count), iv: iv) == whole.process(sample(count), iv: iv), "\(count)")
                #expect(try split.processInPlace(sample(count), iv: iv) == whole.process(sample(count), iv: iv))
            }
        }
    }
}

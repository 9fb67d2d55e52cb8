import RandomAccess
import Testing

@testable import OpenSSLBackend

@Suite("inputs that are longer than an `int`")
struct OpenSSLSplitTests {
    @Test(
        "several calls give what one gives", arguments: CipherMode.streaming, [16, 48, 64, 1024])
    func splits(mode: CipherMode, largestCallByteCount: Int) throws {
        let ciphers = try OpenSSLCiphers()
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: .max - 1)
        for direction in CipherDirection.allCases {
            let cipher = try ciphers.cipher(mode: mode, keyByteCount: 16)
            let whole = try OpenSSLContext(cipher: cipher, mode: mode, direction: direction, key: key)
            let split = try OpenSSLContext(
                cipher: cipher, mode: mode, direction: direction, key: key, largestCallByteCount: largestCallByteCount)
            for count in mode == .ctr ? [1, 47, 48, 49, 1000] : [16, 48, 64, 1008] {
                #expect(try split.process(sample(count), iv: iv) == whole.process(sample(count), iv: iv), "\(count)")
                #expect(try split.processInPlace(sample(count), iv: iv) == whole.process(sample(count), iv: iv))
            }
        }
    }

    @Test("a context that was used before, also for something that failed, decrypts like a new one")
    func reuse() throws {
        let ciphers = try OpenSSLCiphers()
        let cipher = try ciphers.cipher(mode: .cbc, keyByteCount: 16)
        let key = try SecretKey(sample(16))
        let used = try OpenSSLContext(cipher: cipher, mode: .cbc, direction: .decrypt, key: key)
        for (index, count) in [16, 32, 7, 16, 4096, 24, 48].enumerated() {
            let new = try OpenSSLContext(cipher: cipher, mode: .cbc, direction: .decrypt, key: key)
            let iv = Block(bigEndianValue: UInt128(index) << 120 | 9)
            // Not whole blocks: an error of the caller, which must not show in the next call.
            guard count % 16 == 0 else {
                _ = try? used.process(sample(count), iv: iv)
                continue
            }
            #expect(try used.process(sample(count), iv: iv) == new.process(sample(count), iv: iv), "\(count)")
            #expect(try used.processInPlace(sample(count), iv: iv) == new.processInPlace(sample(count), iv: iv))
        }
    }
}

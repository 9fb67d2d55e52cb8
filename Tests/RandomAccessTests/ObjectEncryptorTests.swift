import BackendRegistry
import ByteSources
import RandomAccess
import Testing

@Suite("writing objects")
struct ObjectEncryptorTests {
    private static let key = [UInt8](0..<32)

    private static func plaintext(_ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
    }

    private func encrypt(
        _ plaintext: [UInt8], strategy: Strategy, backend: String, window: Int = 1 << 18, pieces: [Int]
    ) throws -> [UInt8] {
        let encryptor = try ObjectEncryptor(
            strategy: strategy, backend: BackendRegistry.backend(named: backend), key: SecretKey(Self.key),
            windowByteCount: window)
        var ciphertext: [UInt8] = []
        var (position, index) = (0, 0)
        while position < plaintext.count {
            let count = min(pieces[index % pieces.count], plaintext.count - position)
            try plaintext[position..<position + count].withUnsafeBytes { bytes in
                try encryptor.append(bytes) { ciphertext += $0 }
            }
            position += count
            index += 1
        }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    @Test(
        "what was written is read, whatever the pieces", arguments: BackendRegistry.availableNames,
        ReadPlanTests.strategies)
    func roundTrips(backend: String, strategy: Strategy) throws {
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 64, 95, 96, 97, 500] {
            let length = strategy.padding == Padding.none ? length / 16 * 16 : length
            let plaintext = Self.plaintext(length)
            let whole = try encrypt(plaintext, strategy: strategy, backend: backend, pieces: [max(1, length)])
            for (window, pieces) in [(1, [1]), (16, [3, 40]), (48, [17, 1, 64]), (1 << 18, [7])] {
                let ciphertext = try encrypt(
                    plaintext, strategy: strategy, backend: backend, window: window, pieces: pieces)
                #expect(ciphertext == whole, "\(length) bytes, window \(window), pieces \(pieces)")
            }
            let object = try EncryptedObject(
                source: MemorySource(whole), strategy: strategy,
                backend: BackendRegistry.backend(named: backend), key: SecretKey(Self.key))
            #expect(try object.makeCursor(windowByteCount: 32).read(at: 0, count: .max) == plaintext)
        }
    }

    @Test("without padding, only whole blocks can be written", arguments: [1, 15, 17, 33])
    func unaligned(byteCount: Int) {
        #expect(throws: DecryptionError.unalignedPlaintext(byteCount: UInt64(byteCount))) {
            try encrypt(
                Self.plaintext(byteCount), strategy: .cbcContinuous(iv: Block(bigEndianValue: 0), padding: .none),
                backend: "swift-reference", pieces: [5])
        }
    }

    @Test(
        "the openssl command writes the same",
        .enabled(if: OpenSSLCommand.isInstalled, "the openssl command is not installed"),
        arguments: [0, 1, 16, 33, 5000], Padding.allCases)
    func command(byteCount: Int, padding: Padding) throws {
        let iv = Block(bigEndianValue: .max - 2)
        let plaintext = Self.plaintext(padding == .none ? byteCount / 16 * 16 : byteCount)
        let cbc = try OpenSSLCommand.enc(
            "aes-256-cbc", key: Self.key, iv: iv.bytes, padding: padding == .pkcs7, plaintext)
        let ctr = try OpenSSLCommand.enc("aes-256-ctr", key: Self.key, iv: iv.bytes, padding: false, plaintext)
        for backend in BackendRegistry.availableNames {
            #expect(
                try encrypt(
                    plaintext, strategy: .cbcContinuous(iv: iv, padding: padding), backend: backend, pieces: [999])
                    == cbc)
            #expect(try encrypt(plaintext, strategy: .ctr(iv: iv), backend: backend, pieces: [999]) == ctr)
        }
    }
}

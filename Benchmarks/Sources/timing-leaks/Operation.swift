@_spi(TimingLeaks) import RandomAccess
@_spi(TimingLeaks) import SwiftAESBackend

/// Something whose time must not depend on its input; or, as a control, does.
struct Operation {
    let name: String
    /// The length of an input in bytes.
    let inputByteCount: Int
    /// The input of the fixed class; others are random.
    let fixedInput: [UInt8]
    /// Whether it leaks on purpose, and must be found out.
    var isControl = false
    /// What is made of an input before the time starts.
    var prepare: (UnsafeRawBufferPointer) throws -> Void = { _ in }
    /// What is timed.
    let run: (UnsafeRawBufferPointer) throws -> Void

    /// All that `swift-bitsliced` does with secrets, and what readers and servers compare; and two controls.
    static func all() throws -> [Operation] {
        let zeros = [UInt8](repeating: 0, count: 16)
        let padded = [UInt8](repeating: 3, count: 16)
        return try [
            aes("AES-128 CBC decryption, 8 blocks", .aesCBC, blockCount: 8, keyByteCount: 16),
            aes("AES-256 CTR, 33 blocks", .aesCTR, blockCount: 33, keyByteCount: 32),
            keys("AES-256 key schedule and a block", keyByteCount: 32),
            sealing("ChaCha20-Poly1305, 512 bytes", .chaCha20Poly1305, byteCount: 512),
            sealing("XSalsa20-Poly1305, 512 bytes", .xSalsa20Poly1305, byteCount: 512),
            sealing("AES-128 XTS, 512 bytes", .aesXTS, byteCount: 512),
            sealing("AES-256 OCB, 512 bytes", .aesOCB, byteCount: 512),
            sealing("AES-256 EAX, 512 bytes", .aesEAX, byteCount: 512),
            sealing("AES-256 GCM-SIV, 512 bytes", .aesGCMSIV, byteCount: 512),
            sealing("AES-128 SIV, 512 bytes", .aesSIV, byteCount: 512),
            // The first 16 bytes are the hash key.
            Operation(name: "GHASH, 8 blocks", inputByteCount: 144, fixedInput: [UInt8](repeating: 0, count: 144)) {
                Sink.keep(
                    ghash(
                        key: Block(loadingFrom: $0), UnsafeRawBufferPointer(rebasing: $0[16...])))
            },
            Operation(name: "PKCS #7 check", inputByteCount: 16, fixedInput: padded) {
                Sink.keep(UInt8(truncatingIfNeeded: paddingDifference(in: Block(loadingFrom: $0))))
            },
            comparison("tag comparison, 16 bytes", with: zeros) { isEqualInConstantTime($0, $1) },
            comparison("token comparison, 32 bytes", with: zeros + zeros) { isEqualInConstantTime($0, $1) },
            comparison("control: comparison that ends at a difference", with: zeros + zeros, isControl: true) {
                $0.elementsEqual($1)
            },
            Operation(
                name: "control: PKCS #7 check that ends at a wrong byte", inputByteCount: 16, fixedInput: padded,
                isControl: true
            ) { block in
                let count = Int(block[15])
                Sink.keep((1...16).contains(count) && block.suffix(count).allSatisfy { $0 == block[15] } ? 1 : 0)
            },
        ]
    }

    private static func aes(
        _ name: String, _ cipher: Cipher, blockCount: Int, keyByteCount: Int
    ) throws -> Operation {
        let key = try SecretKey((0..<keyByteCount).map { _ in UInt8.random(in: 0...255) })
        let context = try SwiftBitsliced().makeContext(cipher, .decrypt, key: key)
        let byteCount = 16 * blockCount
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
        guard let start = output.baseAddress else { preconditionFailure("no memory") }
        return Operation(name: name, inputByteCount: byteCount, fixedInput: [UInt8](repeating: 0, count: byteCount)) {
            try context.process($0, into: start, iv: Block(bigEndianValue: 1))
            Sink.keep(output[0])
        }
    }

    private static func keys(_ name: String, keyByteCount: Int) throws -> Operation {
        let backend = SwiftBitsliced()
        var key = try SecretKey([UInt8](repeating: 0, count: keyByteCount))
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
        return Operation(
            name: name, inputByteCount: keyByteCount, fixedInput: [UInt8](repeating: 0, count: keyByteCount),
            prepare: { key = try SecretKey($0) }
        ) { _ in
            let context = try backend.makeContext(.aesCTR, .encrypt, key: key)
            try context.process(inPlace: block, iv: Block(bigEndianValue: 1))
            Sink.keep(block[0])
        }
    }

    /// A message under a key: of an input, the first 32 bytes are the key.
    private static func sealing(_ name: String, _ cipher: Cipher, byteCount: Int) throws -> Operation {
        let backend = SwiftBitsliced()
        let nonce = [UInt8](repeating: 1, count: cipher.nonceByteCount)
        let output = UnsafeMutableRawBufferPointer.allocate(
            byteCount: byteCount + cipher.tagByteCount, alignment: 64)
        guard let start = output.baseAddress else { preconditionFailure("no memory") }
        let zeros = [UInt8](repeating: 0, count: 32 + byteCount)
        var key = try SecretKey(material: zeros[..<32])
        return Operation(
            name: name, inputByteCount: zeros.count, fixedInput: zeros,
            prepare: { key = try SecretKey(material: $0[..<32]) }
        ) { input in
            let context = try backend.makeContext(cipher, .encrypt, key: key)
            try nonce.withUnsafeBytes {
                _ = try context.process(UnsafeRawBufferPointer(rebasing: input[32...]), into: start, nonce: $0)
            }
            Sink.keep(output[output.count - 1])
        }
    }

    private static func comparison(
        _ name: String, with secret: [UInt8], isControl: Bool = false,
        _ isEqual: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Operation {
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: secret.count, alignment: 16)
        kept.copyBytes(from: secret)
        return Operation(
            name: name, inputByteCount: secret.count, fixedInput: secret, isControl: isControl
        ) {
            Sink.keep(isEqual(UnsafeRawBufferPointer(kept), $0) ? 1 : 0)
        }
    }
}

/// Keeps results, so that they are worked out.
enum Sink {
    nonisolated(unsafe) private(set) static var last: UInt8 = 0

    @inline(never)
    static func keep(_ byte: UInt8) { last = byte }

    @inline(never)
    static func keep(_ block: Block) { last = UInt8(truncatingIfNeeded: block.bigEndianValue) }
}

import RandomAccess
import SwiftAESBackend

struct Mirror: CipherBackend {
    let name = "mirror"
    let version = "1.0"
    let ciphers = [CipherSupport(.aesCBC), CipherSupport(.aesCTR)]
    let cpuFeatures: [String] = []

    init() {}

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try MirrorContext(support(of: cipher, key: key), direction, key: key)
    }
}

final class MirrorContext: CipherContext {
    private let support: CipherSupport
    private let schedule: any CipherContext

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        self.support = support
        schedule = try SwiftBitsliced().makeContext(support.cipher, direction, key: key)
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "mirror")
        return try schedule.process(input, into: output, nonce: nonce, associatedData: associatedData)
    }
}

import RandomAccess
import SwiftAESBackend

struct Mirror: CipherBackend {
    let name = "mirror"
    let version = "1.0"
    let keyByteCounts = [16, 24, 32]
    let modes: [CipherMode] = [.cbc, .ctr]
    let cpuFeatures: [String] = []

    init() {}

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        try MirrorContext(mode: mode, direction: direction, key: key)
    }
}

final class MirrorContext: CipherContext {
    private let schedule: any CipherContext

    init(mode: CipherMode, direction: CipherDirection, key: SecretKey) throws(DecryptionError) {
        schedule = try SwiftBitsliced().makeContext(mode: mode, direction: direction, key: key)
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        try schedule.process(input, into: output, iv: iv)
    }
}

import ByteSources
import RandomAccess
import SwiftAESBackend

/// Returns the ranges that a read fetched.
func recorded(_ ciphertext: [UInt8], strategy: Strategy, key: SecretKey) throws -> [Range<UInt64>] {
    let source = RecordingSource(MemorySource(ciphertext), keepsRanges: true)
    let object = try EncryptedObject(source: source, strategy: strategy, backend: SwiftBitsliced(), key: key)
    source.reset()
    _ = try object.makeCursor().read(at: 1000, count: 10)
    let fetched = source.ranges
    return fetched
}

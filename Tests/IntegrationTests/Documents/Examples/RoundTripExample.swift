import ByteSources
import RandomAccess
import SwiftAESBackend

/// Encrypts in memory and reads from the middle.
func roundTrip() throws -> [UInt8] {
    let strategy = try Strategy("cbc-continuous", ["iv": .bytes(Array(0..<16))])
    let key = try SecretKey([UInt8](repeating: 1, count: 16))
    let backend = SwiftBitsliced()

    var ciphertext: [UInt8] = []
    let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
    let plaintext = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
    try encryptor.finish { ciphertext += $0 }

    let object = try EncryptedObject(
        source: MemorySource(ciphertext), strategy: strategy, backend: backend, key: key)
    let cursor = try object.makeCursor(windowByteCount: 4096)
    let bytes = try cursor.read(at: 70_000, count: 20)
    return bytes
}

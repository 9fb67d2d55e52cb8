import ByteSources
import OpenSSLBackend
import RandomAccess

/// A range of a file, as the README shows it.
func readFileRange(key: [UInt8], iv: [UInt8]) throws -> [UInt8] {
    let object = try EncryptedObject(
        source: FileSource(path: "film.enc"), strategy: Strategy("cbc-continuous", ["iv": .bytes(iv)]),
        backend: OpenSSL(), key: SecretKey(key))
    let cursor = try object.makeCursor()
    let bytes = try cursor.read(at: 1_000_000, count: 1000)
    return bytes
}

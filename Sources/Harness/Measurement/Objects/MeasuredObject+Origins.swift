package import ByteSources
package import RandomAccess
import Support
package import SystemPackage
import Vectors

extension MeasuredObject {
    /// An object that is computed where it is read: any length, at no cost.
    ///
    /// - Throws: `DecryptionError` if no object can have this length.
    static func generated(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64
    ) throws(DecryptionError) -> MeasuredObject {
        let seed: UInt64 = 1
        let object = try GeneratedObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        return MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount,
            source: ["generated": ["plaintextByteCount": .integer(plaintextByteCount), "seed": .integer(seed)]],
            expected: OraclePlaintext(
                oracle: object.oracle, ciphertext: object.source, plaintextByteCount: plaintextByteCount))
    }

    /// A file of the user's. What its plaintext must be, the oracle works out.
    ///
    /// - Throws: `DecryptionError` if the file cannot be read, or does not end as the strategy says.
    package static func file(
        _ path: FilePath, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) -> MeasuredObject {
        let source = try FileSource(path: path)
        let oracle = Oracle(strategy: strategy, key: key)
        let plaintextByteCount = try oracle.plaintextByteCount(of: source)
        return MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount,
            source: ["path": .string(path.string)],
            expected: OraclePlaintext(oracle: oracle, ciphertext: source, plaintextByteCount: plaintextByteCount))
    }

    /// An object of the user's on a server. What its plaintext must be, the oracle works out.
    ///
    /// - Parameters:
    ///   - ciphertext: The object, open.
    ///   - place: How subjects open it.
    ///   - strategy: How the ciphertext is laid out.
    ///   - key: The key.
    /// - Returns: The object.
    /// - Throws: `DecryptionError` if it cannot be read, or does not end as the strategy says.
    package static func served(
        _ ciphertext: any ByteSource, at place: RemoteObject, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) -> MeasuredObject {
        let oracle = Oracle(strategy: strategy, key: key)
        let plaintextByteCount = try oracle.plaintextByteCount(of: ciphertext)
        return MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, source: place.json,
            expected: OraclePlaintext(oracle: oracle, ciphertext: ciphertext, plaintextByteCount: plaintextByteCount))
    }
}

/// What the oracle says that a ciphertext decrypts to.
struct OraclePlaintext: ExpectedPlaintext {
    let oracle: Oracle
    let ciphertext: any ByteSource
    let plaintextByteCount: UInt64

    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        try oracle.decrypt(
            ciphertext: ciphertext, plaintextByteCount: plaintextByteCount,
            range: offset..<offset + UInt64(buffer.count), into: buffer)
    }
}

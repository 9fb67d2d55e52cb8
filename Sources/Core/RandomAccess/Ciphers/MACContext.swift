/// A message authentication code under one key, and the library state for computing it; belongs to one thread at a
/// time.
///
/// - Source: FIPS 198-1, section 4 (HMAC).
public protocol MACContext: AnyObject {
    /// Computes the code of a message in three pieces of any length; earlier calls have no effect.
    ///
    /// - Parameters:
    ///   - before: The message's first bytes.
    ///   - data: The bytes behind them.
    ///   - behind: The message's last bytes.
    ///   - code: Space for a digest of the hash function.
    /// - Throws: `DecryptionError.backend` if the library fails.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError)
}

extension CipherBackend {
    /// No hash functions.
    public var hmacFunctions: [HashFunction] { [] }

    /// Refuses all hash functions.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        throw .unsupported("hmac with \(function.rawValue) in \(nameAndVersion)")
    }
}

/// HMAC in plain Swift. It allocates nothing per message.
package final class HMACContext: MACContext {
    /// The states after the block of the key, and the state in use.
    private let inner: Hash
    private let outer: Hash
    private let work: Hash
    private let digestByteCount: Int

    /// The context of a key of any length.
    package init(_ function: HashFunction, key: SecretKey) {
        let code = key.withUnsafeBytes { HMAC(function, key: $0) }
        (inner, outer, work) = (code.inner, code.outer, function.makeHash())
        digestByteCount = function.digestByteCount
    }

    package func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        work.restart(from: inner)
        work.update(before)
        work.update(data)
        work.update(behind)
        work.finish(into: code)
        work.restart(from: outer)
        work.update(UnsafeRawBufferPointer(rebasing: code[..<digestByteCount]))
        work.finish(into: code)
    }
}

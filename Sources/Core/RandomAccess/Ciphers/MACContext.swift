/// A message authentication code under one key, and the state that a library needs to make it; belongs to one thread
/// at a time.
///
/// - Source: FIPS 198-1, section 4 (HMAC).
public protocol MACContext: AnyObject {
    /// Makes the code of a message, which lies in three pieces of any length; nothing is carried over from earlier
    /// calls.
    ///
    /// - Parameters:
    ///   - before: The message's first bytes.
    ///   - data: The bytes behind them.
    ///   - behind: The message's last bytes.
    ///   - code: Space for as many bytes as the hash function's digest has.
    /// - Throws: `DecryptionError.backend` if the library fails.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError)
}

extension CipherBackend {
    /// None.
    public var hmacFunctions: [HashFunction] { [] }

    /// Refuses all hash functions.
    public func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext {
        throw .unsupported("hmac with \(function.rawValue) in \(name)")
    }
}

/// HMAC in plain Swift. It allocates nothing per message.
package final class HMACContext: MACContext {
    /// The states behind the block that the key makes, and the one that is worked on.
    private let inner: Hash
    private let outer: Hash
    private let work: Hash
    private let digestByteCount: Int

    /// Makes the states of a key of any length.
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

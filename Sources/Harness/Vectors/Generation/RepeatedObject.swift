import ByteSources
package import RandomAccess
import Synchronization

/// An object whose plaintext is one byte repeated, in CBC or CTR. Its ciphertext is encrypted as a writer would.
package struct RepeatedObject: Sendable {
    /// The value of the bytes.
    package let byte: UInt8
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64
    /// The ciphertext, computed when it is first read.
    package let source: any ByteSource
    /// The plaintext.
    package let plaintext: GroupPlaintext

    /// The max plaintext length; plaintext and ciphertext are both held in memory.
    package static let maxByteCount: UInt64 = 16 << 20

    /// Describes an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a length above ``maxByteCount``, or one that no ciphertext
    ///   without padding has; `.unsupported` for authenticated chunks.
    package init(
        strategy: Strategy, key: SecretKey, byte: UInt8, plaintextByteCount: UInt64
    ) throws(DecryptionError) {
        try strategy.validate()
        let isAligned = strategy.padding != Padding.none || plaintextByteCount % 16 == 0
        guard plaintextByteCount <= Self.maxByteCount, isAligned else {
            throw .invalidParameter(
                name: "plaintextByteCount", value: "\(plaintextByteCount)",
                expected: "at most \(Self.maxByteCount), and whole blocks where there is no padding")
        }
        guard !strategy.isAuthenticated else { throw .unsupported("repeated bytes in \(strategy.name)") }
        self.byte = byte
        self.plaintextByteCount = plaintextByteCount
        self.plaintext = GroupPlaintext([UInt8](repeating: byte, count: Int(plaintextByteCount)))
        self.source = RepeatedSource(self.plaintext, strategy: strategy, key: key)
    }
}

/// The ciphertext of a plaintext that is held, computed when it is first read.
private final class RepeatedSource: ByteSource {
    let byteCount: UInt64
    private let plaintext: GroupPlaintext
    private let oracle: Oracle
    private let made = Mutex<MemorySource?>(nil)

    init(_ plaintext: GroupPlaintext, strategy: Strategy, key: SecretKey) {
        self.plaintext = plaintext
        self.oracle = Oracle(strategy: strategy, key: key)
        let length = plaintext.byteCount
        guard strategy.padding == .pkcs7 else {
            self.byteCount = length
            return
        }
        let chunk = strategy.chunkByteCount ?? 1 << 62
        let (full, rest) = length.quotientAndRemainder(dividingBy: chunk)
        self.byteCount = full * (chunk + 16) + (rest > 0 || length == 0 ? (rest / 16 + 1) * 16 : 0)
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let source = try made.withLock { (made) throws(DecryptionError) in
            if let made { return made }
            let source = MemorySource(oracle.encrypt(try plaintext.bytes(0..<plaintext.byteCount)))
            made = source
            return source
        }
        return try source.read(at: offset, into: buffers)
    }
}

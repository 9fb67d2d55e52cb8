internal import ByteSources
package import RandomAccess
import Synchronization

/// The plaintext of a group's object: held, or computed where it is asked for.
package final class GroupPlaintext: Sendable {
    private enum Origin: Sendable {
        case bytes([UInt8])
        case oracle(Oracle, any ByteSource)
    }

    /// The plaintext's length in bytes.
    package let byteCount: UInt64

    private let origin: Origin
    /// Digests of large ranges, which every backend is compared with and which cost more than all else.
    private let digests = Mutex<[Range<UInt64>: PlaintextDigest]>([:])

    /// Holds a small plaintext.
    package init(_ bytes: [UInt8]) {
        self.byteCount = UInt64(bytes.count)
        self.origin = .bytes(bytes)
    }

    /// Computes any range with an oracle when it is wanted.
    package init(oracle: Oracle, ciphertext: any ByteSource, byteCount: UInt64) {
        self.byteCount = byteCount
        self.origin = .oracle(oracle, ciphertext)
    }

    /// The same plaintext, computed now and held: for small objects that are read often.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the vector's own source fails.
    package func held() throws(DecryptionError) -> GroupPlaintext {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(byteCount), alignment: 16)
        defer { room.deallocate() }
        try copy(0..<byteCount, into: room)
        return GroupPlaintext(Array(room))
    }

    /// Writes a range, which must lie in the plaintext, to a buffer of the same length.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the vector's own source fails.
    package func copy(_ range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        switch origin {
        case .bytes(let bytes):
            bytes.withUnsafeBytes {
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
        case .oracle(let oracle, let source):
            try oracle.decrypt(ciphertext: source, plaintextByteCount: byteCount, range: range, into: buffer)
        }
    }

    /// A digest of a range; computed once, in pieces.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the vector's own source fails.
    package func digest(of range: Range<UInt64>) throws(DecryptionError) -> PlaintextDigest {
        // The lock is held meanwhile: other threads want the same digest, and would only compute it, too.
        try digests.withLock { (digests) throws(DecryptionError) in
            if let known = digests[range] { return known }
            var digest = PlaintextDigest()
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { room.deallocate() }
            var position = range.lowerBound
            while position < range.upperBound {
                let count = Int(min(UInt64(room.count), range.upperBound - position))
                let piece = UnsafeMutableRawBufferPointer(rebasing: room[..<count])
                try copy(position..<position + UInt64(count), into: piece)
                digest.update(UnsafeRawBufferPointer(piece))
                position += UInt64(count)
            }
            digests[range] = digest
            return digest
        }
    }
}

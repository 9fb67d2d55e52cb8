import ByteSources
package import RandomAccess
internal import Support
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

extension GroupPlaintext {
    /// The SHA-256 of a range that lies in the plaintext, computed in pieces.
    func sha256(of range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        let hash = SHA256Hasher()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, 1 << 20), alignment: 16)
        defer { room.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(UInt64(room.count), range.upperBound - position))
            let piece = UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            try copy(position..<position + UInt64(count), into: piece)
            hash.update(UnsafeRawBufferPointer(piece))
            position += UInt64(count)
        }
        return hash.finish()
    }
}

/// A quick 64-bit digest that notices any change that is no attack: to compare large plaintexts that are both ours.
///
/// Four lanes of word-wise FNV-1a with a rotation; the bytes' total number is part of it.
package struct PlaintextDigest: Hashable, Sendable {
    private var lanes = SIMD4<UInt64>(
        0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4, 0x9ce4_8422_2325_cbf2, 0x2325_cbf2_9ce4_8422)
    private var byteCount: UInt64 = 0

    /// Creates the digest of nothing.
    package init() {}

    /// Creates the digest of a buffer.
    package init(_ bytes: UnsafeRawBufferPointer) {
        update(bytes)
    }

    /// Adds bytes. All pieces but the last must be multiples of 32 bytes long.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(byteCount % 32 == 0, "\(byteCount) bytes before this piece")
        byteCount += UInt64(bytes.count)
        var offset = 0
        while offset + 32 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self))
            offset += 32
        }
        if offset < bytes.count {
            var rest = SIMD4<UInt64>()
            for place in 0..<bytes.count - offset {
                rest[place / 8] |= UInt64(bytes[offset + place]) << UInt64(place % 8 * 8)
            }
            mix(rest)
        }
    }

    private mutating func mix(_ words: SIMD4<UInt64>) {
        lanes = (lanes ^ words) &* SIMD4(repeating: 0x0000_0100_0000_01b3)
        lanes ^= lanes &>> 29
    }
}

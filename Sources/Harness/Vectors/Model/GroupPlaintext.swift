import ByteSources
package import RandomAccess
internal import Support
import Synchronization

/// The plaintext of a group's object, which is held or computed on demand.
package final class GroupPlaintext: Sendable {
    private enum Origin: Sendable {
        case bytes([UInt8])
        case oracle(Oracle, any ByteSource)
    }

    /// The plaintext's length in bytes.
    package let byteCount: UInt64

    private let origin: Origin
    /// The object, which the oracle opens once.
    private let opened = Mutex<OracleObject?>(nil)
    /// The computed pieces of a plaintext that is not long, by number, once for all readers.
    private let pieces = Mutex<[UInt64: [UInt8]]>([:])
    private static let maxComputedByteCount = 8 << 20
    /// Digests of large ranges. Every backend is compared with them, and they are the most costly computation.
    private let digests = Mutex<[Range<UInt64>: PlaintextDigest]>([:])

    package init(_ bytes: [UInt8]) {
        self.byteCount = UInt64(bytes.count)
        self.origin = .bytes(bytes)
    }

    /// Any range is computed with an oracle on demand.
    package init(oracle: Oracle, ciphertext: any ByteSource, byteCount: UInt64) {
        self.byteCount = byteCount
        self.origin = .oracle(oracle, ciphertext)
    }

    /// Returns the same plaintext, computed now and held; for small objects that are read often.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the vector's own source fails.
    package func held() throws(DecryptionError) -> GroupPlaintext {
        GroupPlaintext(try bytes(0..<byteCount))
    }

    /// Returns a range, which must lie in the plaintext.
    package func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        try [UInt8](byteCount: range.count) { (buffer) throws(DecryptionError) in try copy(range, into: buffer) }
    }

    /// Returns the same bytes, without a copy if they are held or lie in one piece.
    package func slice(_ range: Range<UInt64>) throws(DecryptionError) -> ArraySlice<UInt8> {
        switch origin {
        case .bytes(let bytes): return bytes[Int(range.lowerBound)..<Int(range.upperBound)]
        case .oracle(let oracle, let source):
            guard byteCount <= Self.maxComputedByteCount, !range.isEmpty else { return try bytes(range)[...] }
            let length = try Self.pieceByteCount(object(oracle, source))
            let numbers = range.lowerBound / length...(range.upperBound - 1) / length
            var joined: ArraySlice<UInt8> = []
            for number in numbers {
                let start = number * length
                let part = range.clamped(to: start..<start + length)
                let bytes = try piece(start..<min(start + length, byteCount), number)
                let slice = bytes[Int(part.lowerBound - start)..<Int(part.upperBound - start)]
                if numbers.count == 1 { return slice }
                joined += slice
            }
            return joined
        }
    }

    private func piece(_ range: Range<UInt64>, _ number: UInt64) throws(DecryptionError) -> [UInt8] {
        try pieces.withLock { (pieces) throws(DecryptionError) in
            if let known = pieces[number] { return known }
            let bytes = try bytes(range)
            pieces[number] = bytes
            return bytes
        }
    }

    /// The length of a piece: a few chunks at least if they are authenticated, since that takes all of each chunk.
    private static func pieceByteCount(_ object: OracleObject) -> UInt64 {
        let isAuthenticated = object.sizes.tag(isLast: false) != nil || !object.sizes.codes.isEmpty
        let chunkByteCount = isAuthenticated ? min(object.sizes.full, Int128(maxComputedByteCount)) : 0
        return UInt64(min(Int128(maxComputedByteCount), max(1 << 16, 4 * chunkByteCount)))
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
            guard !range.isEmpty else { return }
            try object(oracle, source).decrypt(range, of: source, into: buffer)
        }
    }

    private func object(_ oracle: Oracle, _ source: any ByteSource) throws(DecryptionError) -> OracleObject {
        try opened.withLock { (opened) throws(DecryptionError) in
            if let opened { return opened }
            let object = try oracle.object(source)
            opened = object
            return object
        }
    }

    /// Returns a digest of a range, computed once and in pieces.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the vector's own source fails.
    package func digest(of range: Range<UInt64>) throws(DecryptionError) -> PlaintextDigest {
        // The lock is held meanwhile: other threads want the same digest, and would otherwise compute it, too.
        try digests.withLock { (digests) throws(DecryptionError) in
            if let known = digests[range] { return known }
            var digest = PlaintextDigest()
            try forEachPiece(of: range) { digest.update($0) }
            digests[range] = digest
            return digest
        }
    }

    /// Returns the SHA-256 of a range that lies in the plaintext, computed in pieces.
    func sha256(of range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        let hash = SHA256Hasher()
        try forEachPiece(of: range) { hash.update($0) }
        return hash.finish()
    }

    /// Calls `body` with the pieces of a range, which must lie in the plaintext, of a mebibyte each.
    private func forEachPiece(
        of range: Range<UInt64>, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(DecryptionError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, 1 << 20), alignment: 4096)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(UInt64(buffer.count), range.upperBound - position))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try copy(position..<position + UInt64(count), into: piece)
            body(UnsafeRawBufferPointer(piece))
            position += UInt64(count)
        }
    }
}

/// A fast 64-bit digest that detects accidental changes but not attacks, to compare two large plaintexts of our own.
///
/// It is FNV-1a on words in four lanes, with a rotation. The total number of bytes is part of it.
package struct PlaintextDigest: Hashable, Sendable {
    private var lanes = SIMD4<UInt64>(
        0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4, 0x9ce4_8422_2325_cbf2, 0x2325_cbf2_9ce4_8422)
    private var byteCount: UInt64 = 0

    /// The digest of no bytes.
    package init() {}

    /// The digest of a buffer.
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
            for index in 0..<bytes.count - offset {
                rest[index / 8] |= UInt64(bytes[offset + index]) << UInt64(index % 8 * 8)
            }
            mix(rest)
        }
    }

    private mutating func mix(_ words: SIMD4<UInt64>) {
        lanes = (lanes ^ words) &* SIMD4(repeating: 0x0000_0100_0000_01b3)
        lanes ^= lanes &>> 29
    }
}

extension ByteSource {
    /// Returns some bytes of the source, or all of them.
    package func bytes(_ range: Range<UInt64>? = nil) throws(DecryptionError) -> [UInt8] {
        let range = range ?? 0..<byteCount
        return try [UInt8](byteCount: range.count) { (buffer) throws(DecryptionError) in
            try fetch(at: range.lowerBound, into: buffer)
        }
    }
}

extension Array<UInt8> {
    /// An array of `byteCount` bytes that `fill` writes.
    init(
        byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Void
    ) throws(DecryptionError) {
        var failure: DecryptionError?
        self.init(unsafeUninitializedCapacity: byteCount) { buffer, count in
            do throws(DecryptionError) {
                try fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<byteCount]))
                count = byteCount
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

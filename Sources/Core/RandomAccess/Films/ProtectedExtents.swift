/// The encrypted stretches of a film, in order; all other bytes are plaintext.
///
/// The plaintext has the same length and the same offsets as the film: decryption replaces each encrypted byte in
/// place. A film of two hours has a million stretches: each takes 32 bytes, and is found by binary search.
///
/// - Source: ISO/IEC 23001-7:2016, section 9.
package struct ProtectedExtents: Sendable {
    /// A stretch of one subsample, or of several adjacent ones.
    struct Extent: Sendable {
        /// The first byte.
        let start: UInt64
        /// The length up to the last encrypted byte.
        var byteCount: UInt32
        /// The bytes of the first keystream block that earlier bytes of the sample used.
        let usedByteCount: UInt8
        /// True if the chain continues from a block of an earlier stretch of the sample.
        let isChained: Bool
        /// The scheme's number.
        let scheme: UInt8
        /// The IV or the first counter block; for a continued chain, the offset of the block before.
        let block: Block

        var end: UInt64 { start + UInt64(byteCount) }
        /// The offset at which block numbers start.
        var origin: UInt64 { start - UInt64(usedByteCount) }
        /// The offset of the ciphertext block before the first one.
        var blockBefore: UInt64? { isChained ? UInt64(truncatingIfNeeded: block.bigEndianValue) : nil }
    }

    /// The stretches.
    let extents: [Extent]
    /// The schemes, each with a pattern.
    let schemes: [CommonEncryption]
    /// The ID of each scheme's key; `nil` if a list of samples has none.
    package let keyIDs: [Block?]
    /// The end of the last sample, which a source must reach.
    let end: UInt64

    /// The number of stretches.
    package var count: Int { extents.count }

    /// The max number of stretches: 256 MiB of them, more than any film has.
    package static let maxCount = 1 << 23

    /// The ciphers of all schemes.
    package var ciphers: Set<Cipher> { Set(schemes.map(\.cipher)) }

    /// Returns the index of the first stretch that ends behind an offset.
    ///
    /// - Complexity: O(log n).
    func index(at offset: UInt64) -> Int {
        var (low, high) = (0, extents.count)
        while low < high {
            let middle = (low + high) / 2
            if extents[middle].end <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ProtectedExtents {
    /// Collects the samples of a film.
    package struct Builder {
        private var extents: [Extent] = []
        private var schemes: [CommonEncryption] = []
        private var keyIDs: [Block?] = []
        /// The numbers of the schemes.
        private var numbers: [SchemeOfKey: Int] = [:]
        private var end: UInt64 = 0
        private var isSorted = true
        private var sample = Sample()
        private var sampleCount = 0

        private struct SchemeOfKey: Hashable {
            let scheme: CommonEncryption
            let keyID: Block?
        }

        /// The current sample.
        private struct Sample {
            var (start, position, end) = (UInt64(0), UInt64(0), UInt64(0))
            var iv = Block(bigEndianValue: 0)
            var scheme = 0
            /// The number of protected bytes before the position; with a pattern, of encrypted bytes.
            var byteCount: UInt64 = 0
            /// The end of the last stretch, if any.
            var lastEnd: UInt64?
            var hasSubsamples = false
        }

        package init() {}

        /// Adds a scheme with the ID of its key.
        ///
        /// - Returns: The scheme's number; the existing one if it was added before.
        /// - Throws: `DecryptionError.unsupported` if there are too many.
        package mutating func add(_ scheme: CommonEncryption, keyID: Block? = nil) throws(DecryptionError) -> Int {
            let both = SchemeOfKey(scheme: scheme, keyID: keyID)
            if let number = numbers[both] { return number }
            guard schemes.count < KeySet.maxCount else {
                throw .unsupported("more than \(KeySet.maxCount) keys, schemes and patterns in one film")
            }
            schemes.append(scheme)
            keyIDs.append(keyID)
            numbers[both] = schemes.count - 1
            return schemes.count - 1
        }

        /// Begins a sample. The caller then adds its subsamples, and ends it.
        ///
        /// - Parameters:
        ///   - offset: The sample's first byte.
        ///   - byteCount: Its length in bytes.
        ///   - iv: Its IV; a shorter IV is followed by zeros.
        ///   - scheme: The number of its scheme.
        /// - Throws: `DecryptionError.invalidHeader` for a sample beyond the limit of offsets.
        package mutating func begin(
            at offset: UInt64, byteCount: UInt64, iv: Block, scheme: Int
        ) throws(DecryptionError) {
            let (end, overflow) = offset.addingReportingOverflow(byteCount)
            guard !overflow, end <= SourceLength.max, byteCount <= UInt64(UInt32.max) else {
                throw .invalidHeader(
                    expected: "\(name(at: offset)) of less than 2^32 bytes that ends at \(SourceLength.max) at most")
            }
            sample = Sample(start: offset, position: offset, end: end, iv: iv, scheme: scheme)
            self.end = max(self.end, end)
        }

        /// Adds a subsample of the current sample: clear bytes, and protected ones behind them.
        ///
        /// - Throws: `DecryptionError.invalidHeader` if it ends behind its sample, or if the chain of a `cbc1` sample
        ///   would continue behind a partial block; `.unsupported` if there are too many.
        package mutating func add(clearByteCount: UInt64, protectedByteCount: UInt64) throws(DecryptionError) {
            let left = sample.end - sample.position
            guard clearByteCount <= left, protectedByteCount <= left - clearByteCount else {
                throw .invalidHeader(
                    expected: "subsamples of \(name(at: sample.start)) of \(sample.end - sample.start) bytes together")
            }
            sample.hasSubsamples = true
            let start = sample.position + clearByteCount
            sample.position = start + protectedByteCount
            guard protectedByteCount > 0 else { return }
            let scheme = schemes[sample.scheme]
            if scheme.scheme == .cbc1, sample.byteCount % 16 != 0 {
                throw .invalidHeader(
                    expected: "subsamples of \(name(at: sample.start)) of whole blocks, before the last one")
            }
            let encrypted = scheme.encryptedByteCount(of: protectedByteCount)
            try add(scheme, start, encrypted)
            // With a pattern, only encrypted bytes use keystream.
            sample.byteCount += scheme.scheme == .cens ? scheme.blockCount(before: encrypted) * 16 : protectedByteCount
        }

        private mutating func add(
            _ scheme: CommonEncryption, _ start: UInt64, _ byteCount: UInt64
        ) throws(DecryptionError) {
            guard byteCount > 0 else { return }
            let goesOn = scheme.scheme == .cenc || scheme.scheme == .cbc1
            if goesOn, let last = sample.lastEnd, last == start {
                // Without clear bytes between them, the two form one stretch.
                extents[extents.count - 1].byteCount += UInt32(byteCount)
            } else {
                guard extents.count < ProtectedExtents.maxCount else {
                    throw .unsupported("more than \(ProtectedExtents.maxCount) encrypted stretches in one film")
                }
                if let last = extents.last, start < last.end { isSorted = false }
                let chain = scheme.scheme == .cbc1 ? sample.lastEnd.map { $0 - 16 } : nil
                let block =
                    if let chain { Block(bigEndianValue: UInt128(chain)) } else {
                        scheme.cipher == .aesCTR ? sample.iv.advancedWithoutCarry(by: sample.byteCount / 16) : sample.iv
                    }
                extents.append(
                    Extent(
                        start: start, byteCount: UInt32(byteCount),
                        usedByteCount: scheme.scheme == .cenc ? UInt8(sample.byteCount % 16) : 0,
                        isChained: chain != nil, scheme: UInt8(sample.scheme), block: block))
            }
            sample.lastEnd = start + byteCount
        }

        /// Ends a sample; one without subsamples is protected as a whole.
        ///
        /// - Throws: `DecryptionError.invalidHeader` if its subsamples do not cover it.
        package mutating func finishSample() throws(DecryptionError) {
            if !sample.hasSubsamples { try add(clearByteCount: 0, protectedByteCount: sample.end - sample.start) }
            guard sample.position == sample.end else {
                throw .invalidHeader(
                    expected: "subsamples of \(name(at: sample.start)) of \(sample.end - sample.start) bytes together")
            }
            sampleCount += 1
        }

        /// Returns the collected extents.
        ///
        /// - Throws: `DecryptionError.invalidHeader` if samples overlap.
        package consuming func finish() throws(DecryptionError) -> ProtectedExtents {
            if !isSorted { extents.sort { $0.start < $1.start } }
            var last: Extent?
            for extent in extents {
                guard extent.start >= last?.end ?? 0, extent.blockBefore.map({ $0 + 16 == last?.end }) ?? true else {
                    throw .invalidHeader(
                        expected: "samples that do not overlap, as one does at offset \(extent.start)")
                }
                last = extent
            }
            return ProtectedExtents(extents: extents, schemes: schemes, keyIDs: keyIDs, end: end)
        }

        private func name(at offset: UInt64) -> String { "sample \(sampleCount + 1), at offset \(offset)," }
    }
}

extension ProtectedExtents {
    /// The lengths of keys in bytes. Source: ISO/IEC 23001-7:2016, section 9.1, AES-128.
    package static let keyByteCounts = [16]

    /// Returns the key of each scheme.
    ///
    /// - Throws: `DecryptionError.invalidKeyMaterial` for a key of another length; `KeySetError`.
    func keys(_ given: KeySet) throws(DecryptionError) -> [SecretKey] {
        func refuse(_ error: KeySetError) -> DecryptionError { .layer(AnyLayerError(error)) }
        for key in given.all where !Self.keyByteCounts.contains(key.byteCount) {
            throw .invalidKeyMaterial(byteCount: key.byteCount, expected: "16, for a film")
        }
        switch given {
        case .one(let key):
            var ids: [Block] = []
            for case let id? in keyIDs where !ids.contains(id) { ids.append(id) }
            guard ids.count <= 1 else { throw refuse(.noIDs(ids)) }
            return keyIDs.map { _ in key }
        case .byID(let keys):
            return try keyIDs.map { (id) throws(DecryptionError) in
                guard let id else { throw refuse(.unknownIDs) }
                guard let key = keys[id] else { throw refuse(.missing(id)) }
                return key
            }
        }
    }
}

extension Block {
    /// Returns the counter block of a later block of a sample. The counter is the last 8 bytes, and wraps without a
    /// carry.
    ///
    /// - Source: ISO/IEC 23001-7:2016, section 9.
    func advancedWithoutCarry(by count: UInt64) -> Block {
        let low = UInt64(truncatingIfNeeded: bigEndianValue) &+ count
        return Block(bigEndianValue: (bigEndianValue >> 64) << 64 | UInt128(low))
    }
}

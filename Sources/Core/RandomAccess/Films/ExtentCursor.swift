/// Reads a film: fetches a range with its surroundings in one request, and decrypts its encrypted parts in place.
///
/// It belongs to one thread, and allocates nothing per read.
final class ExtentCursor: RandomAccessDecryptor {
    private let source: any ByteSource
    private let table: ProtectedExtents
    /// The context for each scheme.
    private let contexts: [any CipherContext]
    /// The max number of bytes to decrypt in one call, in whole blocks.
    private let stepByteCount: Int
    /// Space for the bytes before a request that its first block needs, for those behind it that its last block needs,
    /// and for gathered blocks.
    private let scratch: UnsafeMutableRawBufferPointer

    private static let headByteCount = 4096
    private static let gatheredByteCount = 4096

    init(
        _ table: ProtectedExtents, of source: any ByteSource, backend: any CipherBackend, keys: [SecretKey],
        windowByteCount: Int
    ) throws(DecryptionError) {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        (self.source, self.table) = (source, table)
        contexts = try zip(table.schemes, keys).map { (scheme, key) throws(DecryptionError) in
            try backend.makeContext(scheme.cipher, .decrypt, key: key)
        }
        stepByteCount = max(16, windowByteCount / 16 * 16)
        scratch = .allocate(byteCount: Self.headByteCount + 16 + Self.gatheredByteCount, alignment: 16)
    }

    deinit {
        eraseBytes(scratch)
        scratch.deallocate()
    }

    var plaintextByteCount: UInt64 { source.byteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        var delivered = 0
        while delivered < count {
            let taken = min(count - delivered, DistantSource.requestByteCount)
            let start = offset + UInt64(delivered)
            try read(
                start..<start + UInt64(taken),
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + taken]))
            delivered += taken
        }
        return count
    }

    func checkVersion() throws(DecryptionError) { try source.checkVersion() }
}

extension ExtentCursor {
    /// The fetched bytes: the requested ones, and some around them.
    private struct Fetched {
        /// The requested bytes.
        let range: Range<UInt64>
        let body: UnsafeMutableRawBufferPointer
        /// The bytes before and behind them.
        let head: UnsafeMutableRawBufferPointer
        let tail: UnsafeMutableRawBufferPointer
        /// The last decrypted block as ciphertext, and its offset.
        var last: (offset: UInt64, block: Block)?

        /// Copies a block from the fetched bytes; missing bytes become zeros.
        func copyBlock(at offset: UInt64, to target: UnsafeMutableRawBufferPointer) {
            if offset >= range.lowerBound, offset + 16 <= range.upperBound {
                let start = Int(offset - range.lowerBound)
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: body[start..<start + 16]))
                return
            }
            target.initializeMemory(as: UInt8.self, repeating: 0)
            let headStart = range.lowerBound - UInt64(head.count)
            for index in 0..<16 {
                let position = offset + UInt64(index)
                if position < headStart { continue }
                if position < range.lowerBound {
                    target[index] = head[Int(position - headStart)]
                } else if position < range.upperBound {
                    target[index] = body[Int(position - range.lowerBound)]
                } else if position - range.upperBound < UInt64(tail.count) {
                    target[index] = tail[Int(position - range.upperBound)]
                }
            }
        }

        func block(at offset: UInt64) -> Block {
            var space: (UInt64, UInt64) = (0, 0)
            return withUnsafeMutableBytes(of: &space) { space in
                copyBlock(at: offset, to: space)
                return Block(loadingFrom: UnsafeRawBufferPointer(space))
            }
        }

        /// Writes the requested bytes of a block.
        func write(_ block: UnsafeRawBufferPointer, at offset: UInt64, within clip: Range<UInt64>) {
            let (first, end) = (max(offset, clip.lowerBound), min(offset + 16, clip.upperBound))
            guard first < end else { return }
            UnsafeMutableRawBufferPointer(
                rebasing: body[Int(first - range.lowerBound)..<Int(end - range.lowerBound)]
            ).copyMemory(from: UnsafeRawBufferPointer(rebasing: block[Int(first - offset)..<Int(end - offset)]))
        }
    }

    private func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[range])
    }

    /// Returns the blocks of a stretch that overlap a range.
    private func blocks(_ range: Range<UInt64>, of extent: ProtectedExtents.Extent) -> Range<UInt64> {
        let scheme = table.schemes[Int(extent.scheme)]
        let (start, end) = (max(range.lowerBound, extent.start), min(range.upperBound, extent.end))
        guard start < end else { return 0..<0 }
        let first = scheme.blockIndex(at: start - extent.origin)
        return first..<max(first, scheme.blockCount(before: end - extent.origin))
    }

    private func offset(ofBlock index: UInt64, of extent: ProtectedExtents.Extent) -> UInt64 {
        extent.origin + table.schemes[Int(extent.scheme)].offset(ofBlock: index)
    }

    /// Returns the offset of the ciphertext block before a block of CBC; `nil` if the IV takes its place.
    private func blockBefore(_ index: UInt64, of extent: ProtectedExtents.Extent) -> UInt64? {
        index > 0 ? offset(ofBlock: index - 1, of: extent) : extent.blockBefore
    }

    private func isChained(_ extent: ProtectedExtents.Extent) -> Bool {
        table.schemes[Int(extent.scheme)].cipher == .aesCBC
    }

    /// Reads and decrypts the range of one request.
    private func read(
        _ range: Range<UInt64>, into body: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let first = table.index(at: range.lowerBound)
        var end = first
        while end < table.extents.count, table.extents[end].start < range.upperBound { end += 1 }
        var (lower, upper) = (range.lowerBound, range.upperBound)
        var last: (offset: UInt64, block: Block)?
        // CBC decrypts whole blocks, and the first one needs the block before it.
        if first < end, isChained(table.extents[first]) {
            let extent = table.extents[first]
            let blocks = blocks(range, of: extent)
            if !blocks.isEmpty {
                lower = min(lower, offset(ofBlock: blocks.lowerBound, of: extent))
                if let before = blockBefore(blocks.lowerBound, of: extent) {
                    if range.lowerBound <= before + UInt64(Self.headByteCount) {
                        lower = min(lower, before)
                    } else {
                        // Too far away to fetch all bytes in between.
                        let bytes = part(0..<16)
                        try source.fetch(at: before, into: bytes)
                        last = (before, Block(loadingFrom: UnsafeRawBufferPointer(bytes)))
                    }
                }
            }
        }
        if first < end, isChained(table.extents[end - 1]) {
            let extent = table.extents[end - 1]
            let blocks = blocks(range, of: extent)
            if !blocks.isEmpty { upper = max(upper, offset(ofBlock: blocks.upperBound - 1, of: extent) + 16) }
        }
        let tailStart = Self.headByteCount
        var fetched = Fetched(
            range: range, body: body, head: part(0..<Int(range.lowerBound - lower)),
            tail: part(tailStart..<tailStart + Int(upper - range.upperBound)), last: last)
        try source.fetch(at: lower, into: FetchBuffers(head: fetched.head, body: body, tail: fetched.tail))
        for index in first..<end { try decrypt(table.extents[index], &fetched) }
    }

    /// Decrypts the fetched part of a stretch.
    ///
    /// - Source: NIST SP 800-38A, sections 6.2 (CBC) and 6.5 (CTR).
    private func decrypt(
        _ extent: ProtectedExtents.Extent, _ fetched: inout Fetched
    ) throws(DecryptionError) {
        let scheme = table.schemes[Int(extent.scheme)]
        let context = contexts[Int(extent.scheme)]
        let clip = max(fetched.range.lowerBound, extent.start)..<min(fetched.range.upperBound, extent.end)
        let blocks = blocks(fetched.range, of: extent)
        let gathered = part(Self.headByteCount + 16..<Self.headByteCount + 16 + Self.gatheredByteCount)
        var index = blocks.lowerBound
        while index < blocks.upperBound {
            let start = offset(ofBlock: index, of: extent)
            var iv = extent.block.advancedWithoutCarry(by: index)
            // A backend counts with all 16 bytes.
            var countable = UInt64.max
            if scheme.cipher == .aesCBC {
                if let before = blockBefore(index, of: extent) {
                    iv = fetched.last.flatMap { $0.offset == before ? $0.block : nil } ?? fetched.block(at: before)
                } else {
                    iv = extent.block
                }
            } else {
                countable -= max(1, UInt64(truncatingIfNeeded: iv.bigEndianValue)) - 1
            }
            // Adjacent whole blocks within the requested range are decrypted in place.
            let inPlace = scheme.hasPattern || start < clip.lowerBound ? 0 : (clip.upperBound - start) / 16
            let count = min(
                blocks.upperBound - index, countable,
                UInt64(inPlace > 0 ? stepByteCount : min(stepByteCount, gathered.count)) / 16,
                inPlace > 0 ? inPlace : scheme.hasPattern ? .max : 1)
            let lastOffset = offset(ofBlock: index + count - 1, of: extent)
            if scheme.cipher == .aesCBC { fetched.last = (lastOffset, fetched.block(at: lastOffset)) }
            if inPlace > 0 {
                let position = Int(start - fetched.range.lowerBound)
                try context.process(
                    inPlace: UnsafeMutableRawBufferPointer(
                        rebasing: fetched.body[position..<position + Int(count) * 16]), iv: iv)
            } else {
                let bytes = UnsafeMutableRawBufferPointer(rebasing: gathered[..<(Int(count) * 16)])
                for number in 0..<Int(count) {
                    fetched.copyBlock(
                        at: offset(ofBlock: index + UInt64(number), of: extent),
                        to: UnsafeMutableRawBufferPointer(rebasing: bytes[number * 16..<number * 16 + 16]))
                }
                try context.process(inPlace: bytes, iv: iv)
                for number in 0..<Int(count) {
                    fetched.write(
                        UnsafeRawBufferPointer(rebasing: bytes[number * 16..<number * 16 + 16]),
                        at: offset(ofBlock: index + UInt64(number), of: extent), within: clip)
                }
            }
            index += count
        }
    }
}

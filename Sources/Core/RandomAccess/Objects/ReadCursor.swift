/// Reads an object of CBC or CTR block by block: fetches the blocks of a range, and decrypts them into the caller's
/// buffer.
///
/// Fetching and decrypting have separate plans. A read is one request, or one per 8 MiB, over chunks and the padding
/// between them. It is decrypted in windows, which stay in a core's cache.
///
/// A cursor owns its cipher context and a small buffer, belongs to one thread, and allocates nothing per read.
/// Ciphertext is fetched directly into the caller's buffer and decrypted in place; bytes behind padding are moved
/// first. From a ``ViewableSource``, it is decrypted directly into the caller's buffer. A first or last block that is
/// not needed whole, and a short stretch, go through the cursor's own buffer.
public final class ReadCursor: RandomAccessDecryptor {
    /// The object to read.
    public let object: EncryptedObject

    /// The max number of plaintext bytes to decrypt in one step.
    public let windowByteCount: Int

    // Copies of the object's members, because each indirection costs a read of 4 KiB some nanoseconds.
    private let source: any ByteSource
    private let layout: Layout
    private let context: any CipherContext
    /// A view of the ciphertext, if the source can be viewed in place.
    private let view: (any SourceView)?
    /// The max number of plaintext bytes of a step, in whole blocks: a window, or the length of a view if that is less.
    private let stepByteCount: UInt64
    /// The max number of bytes that a request delivers, unless a step is longer.
    private let requestByteCount: Int
    /// Space for the block before a request, for its first and last block if the caller needs only a part of them, and
    /// for ciphertext beyond the length of the plaintext; or for a whole short stretch.
    private let scratch: UnsafeMutableRawBufferPointer

    init(
        object: EncryptedObject, context: any CipherContext, windowByteCount: Int, requestByteCount: Int
    ) throws(DecryptionError) {
        self.object = object
        self.source = object.source
        self.layout = object.layout
        self.context = context
        self.windowByteCount = windowByteCount
        self.view = try (object.source as? any ViewableSource)?.makeView()
        self.requestByteCount = requestByteCount
        // A view includes the block before the step, and whole blocks at its ends.
        self.stepByteCount = Layout.wholeBlocks(min(windowByteCount, view.map { $0.largestByteCount - 48 } ?? .max))
        self.scratch = .allocate(byteCount: Self.bufferByteCount, alignment: 4096)
    }

    deinit {
        eraseBytes(scratch)
        scratch.deallocate()
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { layout.plaintextByteCount }

    /// Reads plaintext; see ``RandomAccessDecryptor/read(at:into:)``.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try layout.clip(offset: offset, count: buffer.count)
        if view == nil, !range.isEmpty, range.count <= Self.shortByteCount {
            let step = layout.firstStep(of: range, windowByteCount: stepByteCount)
            if step.count == range.count {
                try decrypt(short: step, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<step.count]))
                return step.count
            }
        }
        var position = range.lowerBound
        var carry: Carry?
        while position < range.upperBound {
            let request = nextRequest(position..<range.upperBound)
            let start = Int(position - range.lowerBound)
            let output = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + request.plaintext.count])
            carry = try decrypt(request, after: carry, into: output)
            position = request.plaintext.upperBound
        }
        return range.count
    }

    /// Asks the source; see ``RandomAccessDecryptor/checkVersion()``.
    public func checkVersion() throws(DecryptionError) { try source.checkVersion() }
}

/// The requests, and the ciphertext that they fetch.
extension ReadCursor {
    /// A stretch of ciphertext that is fetched, or viewed, in one piece.
    private struct Request {
        /// The plaintext of the request.
        var plaintext: Range<UInt64>
        /// The first step of decryption.
        let first: ReadStep

        /// True if the request has no other step.
        var isOneStep: Bool { first.count == plaintext.count }
    }

    /// Returns the next request of a read: one step, or the request size if that is more.
    ///
    /// - Parameter range: The rest of the read, not empty.
    /// - Returns: A request that starts where `range` does.
    private func nextRequest(_ range: Range<UInt64>) -> Request {
        let first = layout.firstStep(of: range, windowByteCount: stepByteCount)
        var stop = range.lowerBound + UInt64(first.count)
        guard view == nil, stop < range.upperBound, first.count < requestByteCount else {
            return Request(plaintext: range.lowerBound..<stop, first: first)
        }
        let limit = range.lowerBound + UInt64(min(range.count, requestByteCount))
        for _ in 0..<Self.maxChunkCount where stop < limit {
            let chunk = layout.extent(at: stop).plaintext
            var next = min(chunk.upperBound, limit)
            // If a request ended inside a block, that block would be fetched twice.
            if next < min(chunk.upperBound, range.upperBound) { next -= (next - chunk.lowerBound) % 16 }
            guard next > stop else { break }
            stop = next
        }
        return Request(plaintext: range.lowerBound..<stop, first: first)
    }

    /// The max number of chunks of a request. Bytes between chunks are fetched as well, and need a block of the
    /// cursor's buffer each.
    private static let maxChunkCount = 480

    /// The size of the cursor's buffer, two pages: 4 KiB with the blocks around them, or the ends of a request and the
    /// bytes between its chunks.
    private static let bufferByteCount = 8192

    /// The max length of a short step, which fits into the buffer with the block before it and whole blocks at its
    /// ends.
    private static let shortByteCount = bufferByteCount - 48

    private func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[range])
    }

    /// The ciphertext of a request: fetched, or in the source's memory.
    private struct Ciphertext {
        /// The source's memory, including the block before the request if needed; `nil` if the ciphertext was fetched.
        var seen: UnsafeRawBufferPointer?
        /// The offset of `seen`, or of `body`, in the source.
        let offset: UInt64
        /// The first block, if the caller needs only a part of it.
        var head: UnsafeMutableRawBufferPointer
        /// The caller's buffer, behind the plaintext of the head. Each byte of ciphertext lies at its plaintext's
        /// position, or further back by the bytes between chunks.
        let body: UnsafeMutableRawBufferPointer
        /// The ciphertext that did not fit into the body.
        var overflow: UnsafeMutableRawBufferPointer

        /// Returns bytes for a step to decrypt into a buffer: in the source's memory, or in that buffer.
        func bytes(
            _ range: Range<UInt64>, for output: UnsafeMutableRawBufferPointer
        ) -> UnsafeRawBufferPointer {
            if let seen {
                let start = Int(range.lowerBound - offset)
                return UnsafeRawBufferPointer(rebasing: seen[start..<start + range.count])
            }
            guard range.lowerBound >= offset else { return UnsafeRawBufferPointer(head) }
            let start = Int(range.lowerBound - offset)
            let target = UnsafeMutableRawBufferPointer(rebasing: output[..<range.count])
            let split = min(max(start, body.count), start + range.count)
            if split > start, body.baseAddress.map({ $0 + start }) != target.baseAddress {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: body[start..<split]))
            }
            if split < start + range.count {
                let behind = overflow[split - body.count..<start + range.count - body.count]
                UnsafeMutableRawBufferPointer(rebasing: target[(split - start)...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: behind))
            }
            return UnsafeRawBufferPointer(target)
        }
    }

    /// Fetches a request into the output, or returns a view of it.
    ///
    /// - Returns: The ciphertext, and the block before it if needed.
    private func ciphertext(
        of request: Request, withBlockBefore hasBefore: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> (Ciphertext, before: Block?) {
        let first = request.first
        let end =
            request.isOneStep
            ? first.ciphertext.upperBound
            : lastStep(of: request.plaintext).ciphertext.upperBound
        let range = first.ciphertext.lowerBound - (hasBefore ? 16 : 0)..<end
        if let view {
            let seen = try view.bytes(range)
            return (
                Ciphertext(
                    seen: seen, offset: range.lowerBound, head: part(0..<0), body: output, overflow: part(0..<0)),
                hasBefore ? Block(loadingFrom: seen) : nil
            )
        }
        let headByteCount = first.skip > 0 ? Int(min(16, first.ciphertext.upperBound - first.ciphertext.lowerBound)) : 0
        let offset = first.ciphertext.lowerBound + UInt64(headByteCount)
        let body = UnsafeMutableRawBufferPointer(
            rebasing: output[(first.skip > 0 ? min(first.count, 16 - first.skip) : 0)...])
        let ciphertext = Ciphertext(
            offset: offset, head: part(16..<16 + headByteCount), body: body,
            overflow: part(Self.overflowStart..<Self.overflowStart + Int(range.upperBound - offset) - body.count))
        try source.fetch(
            at: range.lowerBound,
            into: FetchBuffers(
                head: part((hasBefore ? 0 : 16)..<16 + headByteCount), body: body, tail: ciphertext.overflow))
        return (ciphertext, hasBefore ? Block(loadingFrom: UnsafeRawBufferPointer(part(0..<16))) : nil)
    }

    private func lastStep(of range: Range<UInt64>) -> ReadStep {
        layout.step(for: range.upperBound - 1..<range.upperBound, in: layout.extent(at: range.upperBound - 1))
    }

    /// The start of the overflow, behind the block before a request, its first block, and its last one.
    private static let overflowStart = 48
}

/// The decryption of requests.
extension ReadCursor {
    /// The last ciphertext block of a request, which is the IV of a request directly behind it.
    private struct Carry {
        var ciphertextEnd: UInt64
        var block: Block
    }

    /// Fetches a request and decrypts it step by step.
    ///
    /// - Source: NIST SP 800-38A, section 6.2: plaintext block *j* is the decrypted ciphertext block *j*, plus
    ///   ciphertext block *j* − 1; section 6.5: or ciphertext block *j* plus the encrypted counter *j*.
    private func decrypt(
        _ request: Request, after carry: Carry?, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Carry {
        let first = request.first
        var knownIV: Block?
        switch first.iv {
        case .value(let value): knownIV = value
        case .precedingBlock, .ofChunk:
            if let carry, carry.ciphertextEnd == first.ciphertext.lowerBound { knownIV = carry.block }
        }
        let (ciphertext, before) = try ciphertext(of: request, withBlockBefore: knownIV == nil, into: output)
        guard var iv = knownIV ?? before else { preconditionFailure("the block before was asked for") }
        var (position, end) = (0, first.ciphertext.upperBound)
        func deliver(_ count: Int, of range: Range<UInt64>, skip: Int, _ cipher: Cipher) throws(DecryptionError) {
            guard count > 0 else { return }
            let target = UnsafeMutableRawBufferPointer(rebasing: output[position..<position + count])
            position += count
            // A block of which the caller needs only a part goes through the cursor's buffer.
            let isDetour = range.count != count
            let plaintext = isDetour ? part(skip > 0 ? 16..<16 + range.count : 32..<32 + range.count) : target
            let input = ciphertext.bytes(range, for: plaintext)
            // Decryption in place destroys the ciphertext, so the next IV is saved first.
            let next = cipher.iv(
                after: iv, blockCount: input.count / 16,
                lastCiphertext: Block(loadingFrom: input, at: input.count - 16))
            if let start = plaintext.baseAddress { try context.process(input, into: start, iv: iv) }
            if isDetour {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: plaintext[skip..<skip + count]))
            }
            iv = next
        }
        var rest = request.plaintext
        while !rest.isEmpty {
            let step =
                position == 0 ? first : layout.firstStep(of: rest, windowByteCount: stepByteCount)
            rest = rest.lowerBound + UInt64(step.count)..<rest.upperBound
            if case .value(let value) = step.iv { iv = value }
            let range = step.ciphertext
            let headCount = step.skip > 0 ? min(step.count, 16 - step.skip) : 0
            let bodyStart = step.skip > 0 ? min(range.lowerBound + 16, range.upperBound) : range.lowerBound
            let bodyAndTailCount = step.count - headCount
            let bodyCount = step.cipher == .aesCBC ? bodyAndTailCount / 16 * 16 : bodyAndTailCount
            let tailStart = bodyStart + UInt64(bodyCount)
            try deliver(headCount, of: range.lowerBound..<bodyStart, skip: step.skip, step.cipher)
            try deliver(bodyCount, of: bodyStart..<tailStart, skip: 0, step.cipher)
            try deliver(bodyAndTailCount - bodyCount, of: tailStart..<range.upperBound, skip: 0, step.cipher)
            end = range.upperBound
        }
        try view?.check()
        return Carry(ciphertextEnd: end, block: iv)
    }

    /// Decrypts a step that fits into the cursor's own buffer: one fetch, one call of the library. Fetching in one
    /// piece and copying is faster here than fetching into several buffers.
    ///
    /// - Parameters:
    ///   - step: A step of at most ``shortByteCount`` bytes.
    ///   - output: Space for `step.count` bytes.
    /// - Throws: `DecryptionError` of the source or the library.
    private func decrypt(
        short step: ReadStep, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let (start, count) = (step.ciphertext.lowerBound, step.ciphertext.count)
        let stretch = part(16..<16 + count)
        let iv: Block
        switch step.iv {
        case .value(let value):
            iv = value
            if count == output.count {
                try source.fetch(at: start, into: output)
                return try context.process(inPlace: output, iv: iv)
            }
            try source.fetch(at: start, into: stretch)
        case .precedingBlock, .ofChunk:
            let fetched = part(0..<16 + count)
            try source.fetch(at: start - 16, into: fetched)
            iv = Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        }
        if count == output.count, let start = output.baseAddress {
            try context.process(UnsafeRawBufferPointer(stretch), into: start, iv: iv)
        } else {
            try context.process(inPlace: stretch, iv: iv)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: stretch[step.skip..<step.skip + step.count]))
        }
    }
}

/// Reads an object of CBC or CTR block by block: fetches what a range needs, decrypts it where the caller wants it.
///
/// What is fetched at once, and what is decrypted at once, are two plans. A read is one request, or one for each 8 MiB,
/// over chunks and the padding between them; it is decrypted in windows, which stay in a core's cache.
///
/// A cursor owns its cipher context and a small buffer, belongs to one thread, and allocates nothing per read. Ciphertext
/// is fetched straight into the caller's buffer and decrypted in place (moved there first where padding came before it),
/// or decrypted there from where the source has it if it is a ``ViewableSource``; a first or last block that is not wanted
/// whole, and short stretches, take a detour through the cursor's own buffer.
public final class ReadCursor: RandomAccessDecryptor {
    /// The object that is read.
    public let object: EncryptedObject

    /// The max number of plaintext bytes that are decrypted in one step.
    public let windowByteCount: Int

    // Copies of what the object has: every step on the way to them costs a read of 4 KiB some nanoseconds.
    private let source: any ByteSource
    private let layout: Layout
    private let context: any CipherContext
    /// Where the ciphertext lies, if it can be looked at there.
    private let view: (any SourceView)?
    /// The max number of plaintext bytes of a step, in whole blocks: a window, or what a view shows at once if that is less.
    private let stepByteCount: UInt64
    /// The max number of bytes that a request delivers, unless a step is longer.
    private let requestByteCount: Int
    /// The block before a request, its first block and its last, which the caller did not ask for whole, and what is longer
    /// than the plaintext; or a short stretch as a whole.
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
        // The block before the step is looked at as well, and whole blocks at its ends.
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

/// What is fetched at once, and where it is then.
extension ReadCursor {
    /// A stretch of ciphertext that is fetched, or looked at, in one piece.
    private struct Request {
        /// The plaintext that it delivers.
        var plaintext: Range<UInt64>
        /// The first step of decryption.
        let first: ReadStep

        /// Whether that is all.
        var isOneStep: Bool { first.count == plaintext.count }
    }

    /// The next request of a read: one step, or as much as is asked for at once if that is more.
    ///
    /// - Parameter range: What is left of the read, not empty.
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
            // A request that ended inside a block would fetch that block twice.
            if next < min(chunk.upperBound, range.upperBound) { next -= (next - chunk.lowerBound) % 16 }
            guard next > stop else { break }
            stop = next
        }
        return Request(plaintext: range.lowerBound..<stop, first: first)
    }

    /// What lies between the chunks of a request is fetched along, and takes a block of the cursor's buffer for each.
    private static let maxChunkCount = 480

    /// 4 KiB and the blocks around them, with which the buffer takes two pages; or the ends of a request and what lies
    /// between its chunks.
    private static let bufferByteCount = 8192

    /// What fits into the buffer with the block before it and whole blocks at its ends.
    private static let shortByteCount = bufferByteCount - 48

    private func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[range])
    }

    /// The ciphertext of a request: where it was fetched to, or where the source has it.
    private struct Ciphertext {
        /// Where the source has it, the block before it included if it was asked for; else `nil`.
        var seen: UnsafeRawBufferPointer?
        /// The offset of `seen`, or of `body`, in the source.
        let offset: UInt64
        /// The block that is not wanted whole, if the request starts with one.
        var head: UnsafeMutableRawBufferPointer
        /// The caller's buffer, behind what the head delivers: each byte of ciphertext lies where its plaintext goes, or
        /// further on by what came between chunks.
        let body: UnsafeMutableRawBufferPointer
        /// What did not fit into the body.
        var overflow: UnsafeMutableRawBufferPointer

        /// Some of the bytes, which a step can decrypt into a buffer: where the source has them, or in that buffer.
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

    /// Fetches a request to where its plaintext goes, or shows it where it lies.
    ///
    /// - Returns: The ciphertext, and the block before it if that was asked for.
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

    /// Behind the block before a request, its first block, and its last one.
    private static let overflowStart = 48
}

/// Decryption.
extension ReadCursor {
    /// The last ciphertext block of a request, which is the IV of one that follows it directly.
    private struct Carry {
        var ciphertextEnd: UInt64
        var block: Block
    }

    /// Fetches a request and decrypts it step by step.
    ///
    /// - Source: NIST SP 800-38A, section 6.2: plaintext block *j* is the decrypted ciphertext block *j*, plus ciphertext
    ///   block *j* − 1; section 6.5: or ciphertext block *j* plus the encrypted counter *j*.
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
            // A block that is not wanted whole takes a detour.
            let isDetour = range.count != count
            let plaintext = isDetour ? part(skip > 0 ? 16..<16 + range.count : 32..<32 + range.count) : target
            let input = ciphertext.bytes(range, for: plaintext)
            // Decryption in place destroys the ciphertext, so the next IV is taken first.
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

    /// Decrypts a step that fits into the cursor's own buffer: one fetch, one call of the library. Fetching in one piece and
    /// copying is faster here than scattering over several buffers.
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

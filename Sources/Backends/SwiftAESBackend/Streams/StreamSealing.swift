import RandomAccess

/// A stream cipher with Poly1305, whose key is the beginning of each message's stream.
///
/// There is no key schedule: each message starts from the key itself. The tag is compared before anything is decrypted,
/// so an unauthentic message never becomes plaintext.
///
/// - Source: RFC 8439, section 2.8; draft-irtf-cfrg-xchacha-03, section 2; Bernstein, "Cryptography in NaCl", 2009,
///   sections 9 and 10.
struct StreamSealing<Stream: StreamCipher>: SealingMode {
    private let key: SecretKey

    init(_ key: SecretKey) { self.key = key }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) -> Block {
        withStream(nonce) { stream in
            var code = stream.code
            stream.apply(to: plaintext, into: output)
            Stream.add(UnsafeRawBufferPointer(start: output, count: plaintext.count), associatedData, to: &code)
            return code.tag
        }
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) -> Block {
        withStream(nonce) { stream in
            var code = stream.code
            Stream.add(ciphertext, associatedData, to: &code)
            let expected = code.tag
            if (expected ^ tag).bigEndianValue == 0 { stream.apply(to: ciphertext, into: output) }
            return expected
        }
    }

    /// Calls `body` with the stream of a message, and erases its blocks afterwards.
    private func withStream(_ nonce: UnsafeRawBufferPointer, _ body: (MessageStream<Stream>) -> Block) -> Block {
        withUnsafeTemporaryAllocation(byteCount: MessageStream<Stream>.batchByteCount, alignment: 16) { batch in
            defer { eraseBytes(batch) }
            return body(MessageStream(key, nonce, batch))
        }
    }
}

/// The stream of one message: first its first four blocks, and the rest on demand.
private struct MessageStream<Stream: StreamCipher> {
    private static var blockByteCount: Int { 64 }
    /// The number of blocks that are computed side by side: four, whose words fill the vectors of a CPU.
    private static var batchBlockCount: Int { 4 }
    static var batchByteCount: Int { batchBlockCount * blockByteCount }

    private let batch: UnsafeMutableRawBufferPointer
    private let key: StreamKey
    private let nonce: UInt128
    private let nonceByteCount: Int

    /// Computes the first blocks in `batch`.
    init(_ key: SecretKey, _ nonce: UnsafeRawBufferPointer, _ batch: UnsafeMutableRawBufferPointer) {
        self.batch = batch
        let key = key.withUnsafeBytes {
            StreamKey(low: $0.loadUnaligned(as: Plane.self), high: $0.loadUnaligned(fromByteOffset: 16, as: Plane.self))
        }
        if nonce.count == 24 {
            // The first 16 bytes derive another key, in a block whose initial state is not added.
            let input = nonce.loadUnaligned(as: Plane.self)
            self.key = Stream.derivedKey(Stream.rounds(Stream.start(key, input: input)))
        } else {
            self.key = key
        }
        let rest = nonce.suffix(nonce.count == 24 ? 8 : nonce.count)
        self.nonce = rest.reversed().reduce(0) { $0 &<< 8 | UInt128($1) }
        self.nonceByteCount = rest.count
        fill(from: 0)
    }

    /// Poly1305 with its key from the first block, which later blocks overwrite.
    var code: Poly1305 { Poly1305(UnsafeRawBufferPointer(rebasing: batch[..<32])) }

    /// Encrypts or decrypts the message, starting with the first blocks, which this consumes.
    func apply(to input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer) {
        let output = UnsafeMutableRawBufferPointer(start: output, count: input.count)
        var (position, counter, start) = (Stream.messageOffset, UInt64(0), 0)
        while start < input.count {
            if position == batch.count {
                counter &+= UInt64(Self.batchBlockCount)
                fill(from: counter)
                position = 0
            }
            let count = min(batch.count - position, input.count - start)
            let whole = count & ~15
            for offset in stride(from: 0, to: whole, by: 16) {
                let mask = batch.loadUnaligned(fromByteOffset: position + offset, as: Plane.self)
                let text = input.loadUnaligned(fromByteOffset: start + offset, as: Plane.self)
                output.storeBytes(of: text ^ mask, toByteOffset: start + offset, as: Plane.self)
            }
            for offset in whole..<count { output[start + offset] = input[start + offset] ^ batch[position + offset] }
            (position, start) = (position + count, start + count)
        }
    }

    /// Computes four blocks of the stream from a given number on.
    @inline(never)
    private func fill(from counter: UInt64) {
        let (start0, start1, start2, start3) = (
            start(counter), start(counter &+ 1), start(counter &+ 2), start(counter &+ 3)
        )
        var (block0, block1, block2, block3) = (start0, start1, start2, start3)
        for _ in 0..<10 {
            Stream.doubleRound(&block0)
            Stream.doubleRound(&block1)
            Stream.doubleRound(&block2)
            Stream.doubleRound(&block3)
        }
        store(block0 &+ start0, 0)
        store(block1 &+ start1, 1)
        store(block2 &+ start2, 2)
        store(block3 &+ start3, 3)
    }

    @inline(__always)
    private func start(_ counter: UInt64) -> StreamState {
        let input = Stream.input(nonce, nonceByteCount: nonceByteCount, counter: counter)
        return Stream.start(key, input: Plane(words: unsafeBitCast(input, to: SIMD4<UInt32>.self)))
    }

    @inline(__always)
    private func store(_ block: StreamState, _ index: Int) {
        batch.storeBytes(of: Stream.rows(block), toByteOffset: Self.blockByteCount * index, as: StreamState.self)
    }
}

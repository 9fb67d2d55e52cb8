import RandomAccess

/// The 16 words of a block of a stream cipher, four in a vector, so that four quarter-rounds run at once.
struct StreamState {
    var a, b, c, d: Plane

    /// Returns the sums of the words of two states.
    @inline(__always)
    static func &+ (left: StreamState, right: StreamState) -> StreamState {
        StreamState(a: left.a &+ right.a, b: left.b &+ right.b, c: left.c &+ right.c, d: left.d &+ right.d)
    }
}

/// The two halves of a key.
struct StreamKey {
    var low, high: Plane
}

/// A stream of blocks of 64 bytes. Each is computed from a key and an input of 16 bytes: a nonce and a counter. The
/// stream begins with a key of Poly1305.
///
/// Words are added, rotated by constants and XORed: no branch and no address depends on them.
protocol StreamCipher {
    /// The position in the stream for the message's first byte.
    static var messageOffset: Int { get }

    /// Returns the initial state of a block.
    static func start(_ key: StreamKey, input: Plane) -> StreamState

    /// Applies two of the 20 rounds.
    static func doubleRound(_ state: inout StreamState)

    /// Returns a state's words in the order of a block's bytes.
    static func rows(_ state: StreamState) -> StreamState

    /// Returns the key that is derived from another key and the first 16 bytes of a 24-byte nonce, given the state
    /// after 20 rounds.
    static func derivedKey(_ state: StreamState) -> StreamKey

    /// Returns the input of a block.
    ///
    /// - Parameters:
    ///   - nonce: A message's nonce, or the last 8 bytes of a 24-byte nonce, as a little-endian number.
    ///   - nonceByteCount: The length of that nonce or part.
    ///   - counter: The number of the block in the stream.
    /// - Returns: Both as a little-endian number.
    static func input(_ nonce: UInt128, nonceByteCount: Int, counter: UInt64) -> UInt128

    /// Adds a ciphertext and its associated data to a code.
    static func add(
        _ ciphertext: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, to code: inout Poly1305)
}

extension StreamCipher {
    /// Returns the state after 20 rounds.
    @inline(__always)
    static func rounds(_ start: StreamState) -> StreamState {
        var state = start
        for _ in 0..<10 { doubleRound(&state) }
        return state
    }
}

/// ChaCha20, and HChaCha20 for longer nonces.
///
/// - Source: RFC 8439, sections 2.1 to 2.3, which define the names used here; draft-irtf-cfrg-xchacha-03, section 2.2.
enum ChaCha20: StreamCipher {
    /// The block with counter 0 is for the code's key alone. Source: RFC 8439, section 2.8.
    static let messageOffset = 64

    /// Returns the initial state; a vector is a row of the matrix.
    @inline(__always)
    static func start(_ key: StreamKey, input: Plane) -> StreamState {
        StreamState(a: .streamConstants, b: key.low, c: key.high, d: input)
    }

    @inline(__always)
    static func doubleRound(_ state: inout StreamState) {
        quarterRounds(&state)
        // Rotates diagonals into columns, and later back.
        state.b = state.b.lanesRotated(by: 1)
        state.c = state.c.lanesRotated(by: 2)
        state.d = state.d.lanesRotated(by: 3)
        quarterRounds(&state)
        state.b = state.b.lanesRotated(by: 3)
        state.c = state.c.lanesRotated(by: 2)
        state.d = state.d.lanesRotated(by: 1)
    }

    /// QUARTERROUND of each column. Source: RFC 8439, section 2.1.
    @inline(__always)
    private static func quarterRounds(_ x: inout StreamState) {
        x.a = x.a &+ x.b
        x.d = (x.d ^ x.a).wordsRotated(by: 16)
        x.c = x.c &+ x.d
        x.b = (x.b ^ x.c).wordsRotated(by: 12)
        x.a = x.a &+ x.b
        x.d = (x.d ^ x.a).wordsRotated(by: 8)
        x.c = x.c &+ x.d
        x.b = (x.b ^ x.c).wordsRotated(by: 7)
    }

    @inline(__always)
    static func rows(_ state: StreamState) -> StreamState { state }

    /// Returns the first and the last row. Source: draft-irtf-cfrg-xchacha-03, section 2.2.
    static func derivedKey(_ state: StreamState) -> StreamKey { StreamKey(low: state.a, high: state.d) }

    /// Returns a counter of 4 bytes and the nonce; an 8-byte nonce has zeros in front. Source: RFC 8439, section 2.3;
    /// draft-irtf-cfrg-xchacha-03, section 2.3.
    @inline(__always)
    static func input(_ nonce: UInt128, nonceByteCount: Int, counter: UInt64) -> UInt128 {
        nonce &<< UInt128(128 - 8 * nonceByteCount) | UInt128(UInt32(truncatingIfNeeded: counter))
    }

    /// Adds both texts, each padded with zeros to 16 bytes, and their lengths. Source: RFC 8439, section 2.8.
    static func add(
        _ ciphertext: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, to code: inout Poly1305
    ) {
        code.add(associatedData, end: .zeros)
        code.add(ciphertext, end: .zeros)
        code.add(UInt128(ciphertext.count) << 64 | UInt128(associatedData.count))
    }
}

/// Salsa20, and HSalsa20 for longer nonces.
///
/// - Source: Bernstein, "The Salsa20 family of stream ciphers", 2007, section 4; "Extending the Salsa20 nonce", 2011,
///   section 2.
enum Salsa20: StreamCipher {
    /// The message uses the rest of the first block. Source: Bernstein, "Cryptography in NaCl", 2009, section 10.
    static let messageOffset = 32

    /// Returns the initial state; a vector is a diagonal of the matrix. Of its words 0 to 15, the constants are 0, 5,
    /// 10 and 15; the other vectors are 4, 9, 14 and 3; 8, 13, 2 and 7; 12, 1, 6 and 11.
    @inline(__always)
    static func start(_ key: StreamKey, input: Plane) -> StreamState {
        let (low, high, input) = (key.low.words, key.high.words, input.words)
        return StreamState(
            a: .streamConstants, b: Plane(words: SIMD4(low[3], input[3], high[3], low[2])),
            c: Plane(words: SIMD4(input[2], high[2], low[1], input[1])),
            d: Plane(words: SIMD4(high[1], low[0], input[0], high[0])))
    }

    @inline(__always)
    static func doubleRound(_ state: inout StreamState) {
        quarterRounds(&state)
        // Turns rows into columns, and later back.
        (state.b, state.c, state.d) = (
            state.d.lanesRotated(by: 1), state.c.lanesRotated(by: 2), state.b.lanesRotated(by: 3)
        )
        quarterRounds(&state)
        (state.b, state.c, state.d) = (
            state.d.lanesRotated(by: 1), state.c.lanesRotated(by: 2), state.b.lanesRotated(by: 3)
        )
    }

    /// The quarter-round of each column, starting at the diagonal. Source: "The Salsa20 family of stream ciphers",
    /// section 4.1.
    @inline(__always)
    private static func quarterRounds(_ x: inout StreamState) {
        x.b = x.b ^ (x.a &+ x.d).wordsRotated(by: 7)
        x.c = x.c ^ (x.b &+ x.a).wordsRotated(by: 9)
        x.d = x.d ^ (x.c &+ x.b).wordsRotated(by: 13)
        x.a = x.a ^ (x.d &+ x.c).wordsRotated(by: 18)
    }

    @inline(__always)
    static func rows(_ state: StreamState) -> StreamState {
        let (a, b, c, d) = (state.a.words, state.b.words, state.c.words, state.d.words)
        return StreamState(
            a: Plane(words: SIMD4(a[0], d[1], c[2], b[3])), b: Plane(words: SIMD4(b[0], a[1], d[2], c[3])),
            c: Plane(words: SIMD4(c[0], b[1], a[2], d[3])), d: Plane(words: SIMD4(d[0], c[1], b[2], a[3])))
    }

    /// Returns the words 0, 5, 10, 15, 6, 7, 8 and 9. Source: "Extending the Salsa20 nonce", section 2.
    static func derivedKey(_ state: StreamState) -> StreamKey {
        let (b, c, d) = (state.b.words, state.c.words, state.d.words)
        return StreamKey(low: state.a, high: Plane(words: SIMD4(d[2], c[3], c[0], b[1])))
    }

    /// Returns an 8-byte nonce and an 8-byte counter. Source: "The Salsa20 family of stream ciphers", section 4.
    @inline(__always)
    static func input(_ nonce: UInt128, nonceByteCount: Int, counter: UInt64) -> UInt128 {
        nonce | UInt128(counter) &<< 64
    }

    /// Adds the ciphertext alone. Source: "Cryptography in NaCl", section 9.
    static func add(
        _ ciphertext: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, to code: inout Poly1305
    ) {
        code.add(ciphertext, end: .mark)
    }
}

extension Plane {
    /// The constant "expand 32-byte k" of both ciphers. Source: RFC 8439, section 2.3.
    @inline(__always)
    fileprivate static var streamConstants: Plane {
        Plane(words: SIMD4(0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574))
    }

    /// Returns the sums of words modulo 2³².
    @inline(__always)
    fileprivate static func &+ (left: Plane, right: Plane) -> Plane {
        Plane(words: left.words &+ right.words)
    }

    /// Returns each word rotated towards its higher bits.
    @inline(__always)
    fileprivate func wordsRotated(by count: UInt32) -> Plane {
        shiftedLeft(by: count) ^ shiftedRight(by: 32 - count)
    }
}

// A whole reader as a plug-in of level 2: `ctr` and `cbc-continuous`, with a small AES of its own.
//
//     ./build                                      makes aes_plugin.so
//     chunkwise verify --plugin "$PWD/aes_plugin.so"
//
// With -D FAULT_IV, each read of CBC starts from the object's IV, where it needs the ciphertext block before it. With
// -D FAULT_PADDING, what looks like padding is stripped from each read. Both are faulty siblings, which must fail.
//
// A trap of Swift's ends the process: the harness notes it as a failure, and starts another one.

import CChunkwisePlugin

/// What ends a function of the table.
struct Failure: Error {
    let result: Int32

    init(_ result: chunkwise_result) { self.result = Int32(result.rawValue) }

    /// Runs the body of a function that returns a `chunkwise_result`.
    static func result(of body: () throws(Failure) -> Void) -> Int32 {
        do throws(Failure) {
            try body()
            return Int32(CHUNKWISE_OK.rawValue)
        } catch {
            return error.result
        }
    }
}

// MARK: - AES

/// AES, from FIPS 197: a key schedule, and blocks. It is only read once it is made, so that threads may share it.
///
/// The tables are looked up by secret bytes, so this is no cipher for secrets on a machine that is shared.
final class AES {
    /// A block, and the state of FIPS 197: byte 4c + r is row r of column c, and column 0 is the first word.
    typealias Block = SIMD4<UInt32>

    /// For decryption, those of FIPS 197, section 5.3.5.
    private let roundKeys, inverseRoundKeys: [Block]
    private let tables = Tables.shared

    /// The S-boxes, and what a byte of row 0 adds to its column: MixColumns behind the S-box, and its inverse.
    private struct Tables {
        let sBox = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        let inverseSBox = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        let mixed = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
        let unmixed = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)

        /// Made once, and there until the process ends.
        nonisolated(unsafe) static let shared = Tables()

        private init() {
            // FIPS 197, section 5.1.1: the inverse in GF(2^8), then an affine map. All elements but 0 are powers of 3.
            var (power, inverse) = (1 as UInt8, 1 as UInt8)
            for _ in 0..<255 {
                sBox[Int(power)] = Self.affine(inverse)
                power = Self.times(power, 3)
                inverse = Self.times(inverse, 0xF6)
            }
            sBox[0] = Self.affine(0)
            for byte in 0..<256 { inverseSBox[Int(sBox[byte])] = UInt8(byte) }
            for byte in 0..<256 {
                mixed[byte] = Self.column(sBox[byte], 2, 1, 1, 3)
                unmixed[byte] = Self.column(inverseSBox[byte], 14, 9, 13, 11)
            }
        }

        /// Multiplies in GF(2^8). FIPS 197, section 4.2.
        static func times(_ left: UInt8, _ right: UInt8) -> UInt8 {
            var (product, left, right) = (0 as UInt8, left, right)
            while right != 0 {
                if right & 1 != 0 { product ^= left }
                left = left << 1 ^ (left & 0x80 != 0 ? 0x1B : 0)
                right >>= 1
            }
            return product
        }

        private static func affine(_ byte: UInt8) -> UInt8 {
            func turned(_ count: UInt8) -> UInt8 { byte << count | byte >> (8 - count) }
            return 0x63 ^ byte ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4)
        }

        /// The multiples of a byte as a column, row 0 in the highest byte.
        private static func column(_ byte: UInt8, _ factors: UInt8...) -> UInt32 {
            factors.reduce(0) { $0 << 8 | UInt32(times(byte, $1)) }
        }
    }

    /// Expands a key of 16, 24 or 32 bytes. FIPS 197, section 5.2.
    init(_ key: UnsafeRawBufferPointer) throws(Failure) {
        guard [16, 24, 32].contains(key.count) else { throw Failure(CHUNKWISE_INVALID_KEY) }
        let tables = Tables.shared
        func substituted(_ word: UInt32) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(tables.sBox[Int(word >> ($1 * 8) & 0xFF)]) << ($1 * 8) }
        }
        let keyWordCount = key.count / 4
        var words = (0..<keyWordCount).map {
            UInt32(bigEndian: key.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self))
        }
        var constant: UInt8 = 1
        for index in keyWordCount..<4 * (keyWordCount + 7) {
            var word = words[index - 1]
            if index % keyWordCount == 0 {
                word = substituted(word << 8 | word >> 24) ^ UInt32(constant) << 24
                constant = Tables.times(constant, 2)
            } else if keyWordCount > 6, index % keyWordCount == 4 {
                word = substituted(word)
            }
            words.append(words[index - keyWordCount] ^ word)
        }
        let roundKeys = stride(from: 0, to: words.count, by: 4).map {
            Block(words[$0], words[$0 + 1], words[$0 + 2], words[$0 + 3])
        }
        // FIPS 197, section 5.3.5: InvMixColumns of the round keys lets decryption look like encryption.
        // The table has it behind the inverse S-box, so the S-box goes first.
        func unmixed(_ word: UInt32) -> UInt32 {
            let word = substituted(word)
            return (0..<4 as Range<UInt32>).reduce(0) {
                $0 ^ Self.turned(tables.unmixed[Int(word >> (24 - $1 * 8) & 0xFF)], $1)
            }
        }
        var inverse = Array(roundKeys.reversed())
        for round in 1..<inverse.count - 1 {
            for column in 0..<4 { inverse[round][column] = unmixed(inverse[round][column]) }
        }
        (self.roundKeys, inverseRoundKeys) = (roundKeys, inverse)
    }

    /// Turns a column by rows to the right: what row 0 adds to it becomes what row `count` adds.
    @inline(__always)
    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> (8 &* count) | word &<< (32 &- 8 &* count)
    }

    /// Makes a column of the columns that its rows come from.
    @inline(__always)
    private static func column(
        _ table: UnsafeMutablePointer<UInt32>, _ row0: UInt32, _ row1: UInt32, _ row2: UInt32, _ row3: UInt32
    ) -> UInt32 {
        table[Int(row0 >> 24)] ^ turned(table[Int(row1 >> 16 & 0xFF)], 1)
            ^ turned(table[Int(row2 >> 8 & 0xFF)], 2) ^ turned(table[Int(row3 & 0xFF)], 3)
    }

    /// The same in the last round, which mixes no columns.
    @inline(__always)
    private static func column(
        _ sBox: UnsafeMutablePointer<UInt8>, _ row0: UInt32, _ row1: UInt32, _ row2: UInt32, _ row3: UInt32
    ) -> UInt32 {
        UInt32(sBox[Int(row0 >> 24)]) << 24 | UInt32(sBox[Int(row1 >> 16 & 0xFF)]) << 16
            | UInt32(sBox[Int(row2 >> 8 & 0xFF)]) << 8 | UInt32(sBox[Int(row3 & 0xFF)])
    }

    /// Encrypts a block. FIPS 197, section 5.1; row r of column c comes from column c + r.
    func encrypt(_ block: Block) -> Block {
        let (table, sBox) = (tables.mixed, tables.sBox)
        var s = block ^ roundKeys[0]
        for round in 1..<roundKeys.count - 1 {
            s =
                roundKeys[round]
                ^ Block(
                    Self.column(table, s[0], s[1], s[2], s[3]), Self.column(table, s[1], s[2], s[3], s[0]),
                    Self.column(table, s[2], s[3], s[0], s[1]), Self.column(table, s[3], s[0], s[1], s[2]))
        }
        return roundKeys[roundKeys.count - 1]
            ^ Block(
                Self.column(sBox, s[0], s[1], s[2], s[3]), Self.column(sBox, s[1], s[2], s[3], s[0]),
                Self.column(sBox, s[2], s[3], s[0], s[1]), Self.column(sBox, s[3], s[0], s[1], s[2]))
    }

    /// Decrypts a block. FIPS 197, section 5.3.5; row r of column c comes from column c - r.
    func decrypt(_ block: Block) -> Block {
        let (table, sBox) = (tables.unmixed, tables.inverseSBox)
        var s = block ^ inverseRoundKeys[0]
        for round in 1..<inverseRoundKeys.count - 1 {
            s =
                inverseRoundKeys[round]
                ^ Block(
                    Self.column(table, s[0], s[3], s[2], s[1]), Self.column(table, s[1], s[0], s[3], s[2]),
                    Self.column(table, s[2], s[1], s[0], s[3]), Self.column(table, s[3], s[2], s[1], s[0]))
        }
        return inverseRoundKeys[inverseRoundKeys.count - 1]
            ^ Block(
                Self.column(sBox, s[0], s[3], s[2], s[1]), Self.column(sBox, s[1], s[0], s[3], s[2]),
                Self.column(sBox, s[2], s[1], s[0], s[3]), Self.column(sBox, s[3], s[2], s[1], s[0]))
    }
}

extension AES.Block {
    /// Takes the block from 16 bytes.
    init(_ bytes: UnsafeRawPointer) {
        func word(_ column: Int) -> UInt32 {
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self))
        }
        self.init(word(0), word(1), word(2), word(3))
    }

    /// The block as a number, big-endian, plus another one, modulo 2^128.
    func adding(_ count: UInt64) -> Self {
        let low = UInt64(self[2]) << 32 | UInt64(self[3])
        let (newLow, carries) = low.addingReportingOverflow(count)
        let high = (UInt64(self[0]) << 32 | UInt64(self[1])) &+ (carries ? 1 : 0)
        return Self(
            UInt32(truncatingIfNeeded: high >> 32), UInt32(truncatingIfNeeded: high),
            UInt32(truncatingIfNeeded: newLow >> 32), UInt32(truncatingIfNeeded: newLow))
    }

    /// Writes the block's 16 bytes.
    func write(to bytes: UnsafeMutableRawPointer) {
        let words = (self[0].bigEndian, self[1].bigEndian, self[2].bigEndian, self[3].bigEndian)
        bytes.storeBytes(of: words.0, as: UInt32.self)
        bytes.storeBytes(of: words.1, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: words.2, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(of: words.3, toByteOffset: 12, as: UInt32.self)
    }
}

// MARK: - Objects

/// The parameters of `open`. They are gone after the call.
struct Parameters {
    let all: UnsafeBufferPointer<chunkwise_parameter>

    /// A parameter's bytes.
    func bytes(_ name: String) throws(Failure) -> UnsafeRawBufferPointer {
        guard let found = all.first(where: { $0.name.map { String(cString: $0) } == name }) else {
            throw Failure(CHUNKWISE_INVALID_REQUEST)
        }
        return UnsafeRawBufferPointer(start: found.bytes, count: found.count)
    }

    /// A parameter that is a text.
    func text(_ name: String) throws(Failure) -> String { String(decoding: try bytes(name), as: UTF8.self) }
}

/// An encrypted object that is open. Nothing in it changes, so that any number of threads may read.
final class EncryptedObject {
    /// How the ciphertext is laid out.
    private enum Layout { case counter, chain }

    /// Bytes of ciphertext that are fetched at a time.
    static let pieceByteCount = 64 << 10

    private let layout: Layout
    private let aes: AES
    /// The IV, or the first counter block.
    private let iv: AES.Block
    private let source: UnsafePointer<chunkwise_source>
    /// The plaintext's length in bytes.
    let byteCount: UInt64

    /// Checks all that there is to check, in the order of PROTOCOL.md: parameters, strategy, key, IV, length, padding.
    init(
        strategy: String, _ parameters: Parameters, _ source: UnsafePointer<chunkwise_source>
    ) throws(Failure) {
        switch strategy {
        case "ctr": layout = .counter
        case "cbc-continuous": layout = .chain
        default: throw Failure(CHUNKWISE_UNSUPPORTED)
        }
        let (key, iv) = (try parameters.bytes("key"), try parameters.bytes("iv"))
        let padding = layout == .chain ? try parameters.text("padding") : "none"
        guard ["pkcs7", "none"].contains(padding) else { throw Failure(CHUNKWISE_INVALID_REQUEST) }
        aes = try AES(key)
        guard iv.count == 16, let bytes = iv.baseAddress else { throw Failure(CHUNKWISE_INVALID_IV) }
        self.iv = AES.Block(bytes)
        self.source = source
        let length = source.pointee.length
        if layout == .chain, length % 16 != 0 || length == 0 && padding == "pkcs7" {
            throw Failure(CHUNKWISE_TRUNCATED_CIPHERTEXT)
        }
        byteCount =
            padding == "none" ? length : length - UInt64(try Self.paddingByteCount(aes, self.iv, source))
    }

    /// Decrypts the last block of a chain, and counts its padding. Only that block and the one before it are fetched.
    private static func paddingByteCount(
        _ aes: AES, _ iv: AES.Block, _ source: UnsafePointer<chunkwise_source>
    ) throws(Failure) -> Int {
        let end = source.pointee.length
        let start = end - min(end, 32)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 16)
        defer { bytes.deallocate() }
        let byteCount = Int(end - start)
        try fetch(source, at: start, into: bytes, byteCount)
        let block = bytes + (byteCount - 16)
        let previous = byteCount == 32 ? AES.Block(bytes) : iv
        (aes.decrypt(AES.Block(block)) ^ previous).write(to: block)
        let plaintext = UnsafeRawBufferPointer(start: block, count: 16)
        let count = plaintext[15]
        guard (1...16).contains(count), plaintext.suffix(Int(count)).allSatisfy({ $0 == count }) else {
            throw Failure(CHUNKWISE_INVALID_PADDING)
        }
        return Int(count)
    }

    /// Fetches all of a range, in as many parts as the source makes of it.
    private static func fetch(
        _ source: UnsafePointer<chunkwise_source>, at offset: UInt64, into bytes: UnsafeMutableRawPointer,
        _ byteCount: Int
    ) throws(Failure) {
        var done = 0
        while done < byteCount {
            let count = source.pointee.read_at(
                source.pointee.context, offset + UInt64(done), bytes + done, byteCount - done)
            guard count >= 0 else { throw Failure(CHUNKWISE_IO) }
            // The source has ended earlier than it said.
            guard count > 0 else { throw Failure(CHUNKWISE_TRUNCATED_CIPHERTEXT) }
            done += Int(count)
        }
    }

    /// Reads a range of plaintext, piece by piece through memory that one thread has for it.
    ///
    /// Of the ciphertext it fetches the blocks that cover the range, and for a chain the one before them.
    func read(
        at offset: UInt64, into output: UnsafeMutableRawBufferPointer, through memory: UnsafeMutableRawPointer
    ) throws(Failure) -> Int {
        guard offset <= byteCount else { throw Failure(CHUNKWISE_RANGE_OUT_OF_BOUNDS) }
        let count = Int(min(UInt64(output.count), byteCount - offset))
        guard count > 0 else { return 0 }
        let end = offset + UInt64(count)
        var position = offset / 16 * 16
        var previous = iv
        if layout == .chain, position > 0 {
            try Self.fetch(source, at: position - 16, into: memory, 16)
            previous = AES.Block(memory)
            #if FAULT_IV
            previous = iv
            #endif
        }
        while position < end {
            // Up to the end of the last block, which is short only at the end of CTR's ciphertext.
            let pieceEnd = min(
                position + UInt64(Self.pieceByteCount), (end + 15) / 16 * 16, source.pointee.length)
            let piece = UnsafeMutableRawBufferPointer(start: memory, count: Int(pieceEnd - position))
            try Self.fetch(source, at: position, into: memory, piece.count)
            switch layout {
            case .counter: uncount(memory, piece.count, from: position / 16)
            case .chain: previous = unchain(memory, piece.count, after: previous)
            }
            let (first, last) = (max(position, offset), min(pieceEnd, end))
            UnsafeMutableRawBufferPointer(rebasing: output[Int(first - offset)...])
                .copyMemory(from: .init(rebasing: piece[Int(first - position)..<Int(last - position)]))
            position = pieceEnd
        }
        #if FAULT_PADDING
        let last = output[count - 1]
        if layout == .chain, (1...16).contains(last), count >= last,
            output[..<count].suffix(Int(last)).allSatisfy({ $0 == last })
        {
            return count - Int(last)
        }
        #endif
        return count
    }

    /// CTR: the ciphertext is XORed with counters that are encrypted. NIST SP 800-38A, section 6.5.
    private func uncount(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int, from first: UInt64) {
        for offset in stride(from: 0, to: byteCount, by: 16) {
            let mask = aes.encrypt(iv.adding(first + UInt64(offset / 16)))
            if offset + 16 <= byteCount {
                (AES.Block(bytes + offset) ^ mask).write(to: bytes + offset)
            } else {
                for index in 0..<byteCount - offset {
                    let byte = bytes.load(fromByteOffset: offset + index, as: UInt8.self)
                    let other = UInt8(truncatingIfNeeded: mask[index / 4] >> (24 - 8 * UInt32(index % 4)))
                    bytes.storeBytes(of: byte ^ other, toByteOffset: offset + index, as: UInt8.self)
                }
            }
        }
    }

    /// CBC: each block is decrypted, and XORed with the ciphertext block before it. NIST SP 800-38A, section 6.2.
    ///
    /// Returns the last block of ciphertext, for the next piece.
    private func unchain(
        _ bytes: UnsafeMutableRawPointer, _ byteCount: Int, after previous: AES.Block
    ) -> AES.Block {
        var previous = previous
        for offset in stride(from: 0, to: byteCount, by: 16) {
            let ciphertext = AES.Block(bytes + offset)
            (aes.decrypt(ciphertext) ^ previous).write(to: bytes + offset)
            previous = ciphertext
        }
        return previous
    }
}

/// What one thread reads with: memory for a piece.
final class Cursor {
    let object: EncryptedObject
    let memory = UnsafeMutableRawPointer.allocate(byteCount: EncryptedObject.pieceByteCount, alignment: 16)

    init(_ object: EncryptedObject) { self.object = object }

    deinit {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: EncryptedObject.pieceByteCount)
        memory.deallocate()
    }
}

// MARK: - The table

private func open(
    _ strategy: UnsafePointer<CChar>?, _ parameters: UnsafePointer<chunkwise_parameter>?, _ parameterCount: Int,
    _ source: UnsafePointer<chunkwise_source>?, _ opened: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ length: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    Failure.result { () throws(Failure) in
        guard let strategy, let source, let opened, let length else { throw Failure(CHUNKWISE_INVALID_REQUEST) }
        let object = try EncryptedObject(
            strategy: String(cString: strategy),
            Parameters(all: UnsafeBufferPointer(start: parameters, count: parameterCount)), source)
        opened.pointee = Unmanaged.passRetained(object).toOpaque()
        length.pointee = object.byteCount
    }
}

private func cursor(
    _ object: UnsafeMutableRawPointer?, _ made: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
    guard let object, let made else { return Int32(CHUNKWISE_INVALID_REQUEST.rawValue) }
    let cursor = Cursor(Unmanaged<EncryptedObject>.fromOpaque(object).takeUnretainedValue())
    made.pointee = Unmanaged.passRetained(cursor).toOpaque()
    return Int32(CHUNKWISE_OK.rawValue)
}

private func read(
    _ cursor: UnsafeMutableRawPointer?, _ offset: UInt64, _ buffer: UnsafeMutableRawPointer?, _ count: Int,
    _ delivered: UnsafeMutablePointer<Int>?
) -> Int32 {
    Failure.result { () throws(Failure) in
        guard let cursor, let delivered else { throw Failure(CHUNKWISE_INVALID_REQUEST) }
        let reader = Unmanaged<Cursor>.fromOpaque(cursor).takeUnretainedValue()
        delivered.pointee = try reader.object.read(
            at: offset, into: UnsafeMutableRawBufferPointer(start: buffer, count: count), through: reader.memory)
    }
}

private func free(_ cursor: UnsafeMutableRawPointer?) {
    if let cursor { Unmanaged<Cursor>.fromOpaque(cursor).release() }
}

private func close(_ object: UnsafeMutableRawPointer?) {
    if let object { Unmanaged<EncryptedObject>.fromOpaque(object).release() }
}

/// The table, made once, and never freed: it stays until the process ends.
private nonisolated(unsafe) let table: UnsafePointer<chunkwise_plugin> = {
    func permanent(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    let strategies = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: 3)
    strategies[0] = permanent("ctr")
    strategies[1] = permanent("cbc-continuous")
    strategies[2] = nil
    let table = UnsafeMutablePointer<chunkwise_plugin>.allocate(capacity: 1)
    table.initialize(to: chunkwise_plugin())
    table.pointee.abi = UInt32(CHUNKWISE_ABI)
    table.pointee.size = UInt32(MemoryLayout<chunkwise_plugin>.size)
    table.pointee.name = permanent("swift-reader")
    table.pointee.version = permanent("1.0.0")
    table.pointee.strategies = UnsafePointer(strategies)
    table.pointee.open = open
    table.pointee.cursor = cursor
    table.pointee.read = read
    table.pointee.cursor_free = free
    table.pointee.close = close
    return UnsafePointer(table)
}()

/// The one symbol.
@_cdecl("chunkwise_plugin_v1")
public func chunkwisePlugin(_ harnessABI: UInt32) -> UnsafePointer<chunkwise_plugin>? {
    harnessABI == UInt32(CHUNKWISE_ABI) ? table : nil
}

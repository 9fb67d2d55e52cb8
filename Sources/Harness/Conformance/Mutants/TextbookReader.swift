import RandomAccess
import Vectors

/// A small reader that shares no arithmetic with `RandomAccess`, and takes each decision by its rules.
///
/// It is right with the default rules; mutants change one of them.
final class TextbookReader: RandomAccessDecryptor {
    let plaintextByteCount: UInt64
    private let source: any ByteSource
    private let strategy: TextbookStrategy
    private let context: any CipherContext
    private let rules: TextbookRules
    private let windowByteCount: UInt64
    private let ciphertextByteCount: UInt64
    private var last: (ciphertext: Block, plaintext: Block)?
    /// The ciphertext of a piece, which is then overwritten by its plaintext.
    private var piece = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Returns a subject that reads with textbook readers.
    static func subject(
        _ name: String, backend: any CipherBackend, rules: TextbookRules,
        openPlaylist: InProcessSubject.OpenPlaylist? = nil
    ) -> InProcessSubject {
        InProcessSubject(
            name: name, mergesRequests: false, supports: { strategy, _ in VectorSet.isPlain(strategy.format) },
            openPlaylist: openPlaylist
        ) { (setup, source, strategy, key) throws(DecryptionError) in
            try TextbookReader(
                source: source, strategy: strategy, key: key, backend: backend, rules: rules,
                windowByteCount: setup.access.windowByteCount)
        }
    }

    init(
        source: any ByteSource, strategy given: Strategy, key: SecretKey, backend: any CipherBackend,
        rules: TextbookRules, windowByteCount: UInt64
    ) throws(DecryptionError) {
        let strategy = TextbookStrategy(given)
        let context = try backend.makeContext(strategy.cipher, .decrypt, key: key)
        self.source = source
        self.strategy = strategy
        self.rules = rules
        self.windowByteCount = max(16, min(windowByteCount, rules.largestWindow) / 16 * 16)
        self.context = context
        self.ciphertextByteCount = try rules.ciphertextByteCount(source.byteCount, strategy)
        var length = ciphertextByteCount
        if strategy.padding == .pkcs7, length > 0 {
            let chunkByteCount = strategy.chunkByteCount ?? 1 << 62
            let index = (length - 16) / (chunkByteCount + 16)
            let inChunk = length - index * (chunkByteCount + 16)
            var location = TextbookLocation(of: index * chunkByteCount, strategy: strategy)
            location.offset = inChunk - 16
            let ciphertext = try Self.fetch(length - min(inChunk, 32)..<length, from: source, by: rules)
            let previous = inChunk > 16 ? ciphertext.withUnsafeBytes { Block(loadingFrom: $0) } : nil
            let question = TextbookIVContext(
                strategy: strategy, location: location, previous: previous, isLaterWindow: false, last: nil)
            var block = Array(ciphertext.suffix(16))
            // Faults in the IVs of reads must not affect how objects open.
            let iv = question.right
            try block.withMutableBytes { (bytes) throws(DecryptionError) in
                try context.process(inPlace: bytes, iv: iv)
            }
            guard let padding = rules.padding(block) else { throw rules.paddingError }
            let byteCount = Int64(inChunk) - Int64(padding)
            guard rules.acceptsLastChunk(byteCount, index, chunkByteCount) else { throw rules.paddingError }
            length = index == 0 ? UInt64(max(0, byteCount)) : index * chunkByteCount + UInt64(max(0, byteCount))
        }
        self.plaintextByteCount = rules.length(length, source.byteCount, strategy)
    }

    deinit {
        piece.deallocate()
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try rules.clip(offset, buffer.count, plaintextByteCount)
        var position = range.lowerBound
        while position < range.upperBound {
            let location = rules.location(position, strategy)
            let window = windowByteCount - position % windowByteCount
            let count = Int(min(range.upperBound - position, location.rest, window))
            let start = Int(position - range.lowerBound)
            try decrypt(
                location, isLaterWindow: position > range.lowerBound && location.block > 0,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + count]))
            position += UInt64(count)
        }
        return range.count
    }

    func checkVersion() throws(DecryptionError) {
        if rules.noticesChanges { try source.checkVersion() }
    }

    private func decrypt(
        _ location: TextbookLocation, isLaterWindow: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let back = rules.lookBack(location, strategy)
        let right = Int(location.offset % 16)
        let start = location.chunkStart + 16 * location.block
        var stop = start + UInt64(right + output.count)
        if strategy.cipher == .aesCBC { stop = (stop + 15) / 16 * 16 }
        // If the source is shorter than the rules assume, the fetch fails; that is the effect of faults in lengths.
        stop = max(stop, min(stop + 16 * UInt64(rules.blocksTooMany), ciphertextByteCount))
        let fetched = cleared((start &- back..<stop).count)
        try rules.fetch(source, start &- back, fetched)
        let previous = back > 0 ? Block(loadingFrom: UnsafeRawBufferPointer(fetched)) : nil
        let question = TextbookIVContext(
            strategy: strategy, location: location, previous: previous, isLaterWindow: isLaterWindow, last: last)
        let plaintext = UnsafeMutableRawBufferPointer(rebasing: fetched.dropFirst(Int(back)))
        let lastBlock = (plaintext.count - 1) / 16 * 16
        let isWhole = lastBlock + 16 == plaintext.count
        let ciphertextBlock = isWhole ? Block(loadingFrom: UnsafeRawBufferPointer(plaintext), at: lastBlock) : nil
        try context.process(inPlace: plaintext, iv: rules.iv(question))
        if let ciphertextBlock {
            last = (ciphertextBlock, Block(loadingFrom: UnsafeRawBufferPointer(plaintext), at: lastBlock))
        }
        let skip = rules.skip(right, strategy.cipher)
        output.copyBytes(from: plaintext.dropFirst(skip).prefix(output.count))
    }

    /// Returns a buffer of zeros. So a faulty fetch leaves the same bytes each time.
    private func cleared(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        if piece.count < byteCount {
            piece.deallocate()
            piece = .allocate(byteCount: byteCount, alignment: 16)
        }
        let space = UnsafeMutableRawBufferPointer(rebasing: piece[..<byteCount])
        space.initializeMemory(as: UInt8.self, repeating: 0)
        return space
    }

    private static func fetch(
        _ range: Range<UInt64>, from source: any ByteSource, by rules: TextbookRules
    ) throws(DecryptionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withMutableBytes { (buffer) throws(DecryptionError) in
            try rules.fetch(source, range.lowerBound, buffer)
        }
        return bytes
    }
}

extension ReaderSetup.Access {
    /// The window of a reader that has no chunks of its own.
    var windowByteCount: UInt64 {
        switch self {
        case .cursor(let window), .freshBuffers(let window): UInt64(window)
        case .wholeChunk: .max
        }
    }
}

/// The parts of a strategy by which a textbook reader decides, computed once.
struct TextbookStrategy: Sendable {
    let cipher: Cipher
    let padding: Padding?
    let chunkByteCount: UInt64?
    let iv: Block
    /// True if all chunks start with the same IV.
    let hasOneIV: Bool

    init(_ strategy: Strategy) {
        (cipher, padding, chunkByteCount) = (strategy.cipher, strategy.padding, strategy.chunkByteCount)
        (iv, hasOneIV) = (strategy.iv, strategy.hasOneIV)
    }
}

/// The location of a plaintext byte.
struct TextbookLocation: Sendable {
    /// The chunk's index.
    var chunk: UInt64
    /// The byte's index in its chunk.
    var offset: UInt64
    /// The number of bytes from there to the chunk's end.
    var rest: UInt64
    /// The offset of the chunk in the ciphertext.
    var chunkStart: UInt64

    /// The block's index in its chunk.
    var block: UInt64 { offset / 16 }

    /// Returns the location of a byte. With `paddingByteCount`, each earlier chunk is assumed to have that much
    /// padding; without it, the location is right.
    init(of position: UInt64, strategy: TextbookStrategy, paddingByteCount: UInt64? = nil) {
        let chunkByteCount = strategy.chunkByteCount ?? 1 << 62
        self.chunk = position / chunkByteCount
        self.offset = position % chunkByteCount
        self.rest = chunkByteCount - offset
        let padding = paddingByteCount ?? (strategy.padding == .pkcs7 ? 16 : 0)
        self.chunkStart = chunk * (chunkByteCount + padding)
    }
}

/// The facts from which a textbook reader determines an IV or a counter block.
struct TextbookIVContext {
    let strategy: TextbookStrategy
    let location: TextbookLocation
    /// The previous ciphertext block, if there is one and it was fetched.
    let previous: Block?
    /// True for any window of a read but the first.
    let isLaterWindow: Bool
    /// The ciphertext and the plaintext of the block that was decrypted last, by any read.
    let last: (ciphertext: Block, plaintext: Block)?
}

/// The decisions of a textbook reader. A mutant takes one of them wrongly.
struct TextbookRules: Sendable {
    typealias Clip =
        @Sendable (_ offset: UInt64, _ count: Int, _ length: UInt64) throws(DecryptionError) -> Range<UInt64>
    typealias Fetch = @Sendable (any ByteSource, UInt64, UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Void

    /// Returns the ciphertext length to assume, or throws an error.
    var ciphertextByteCount: @Sendable (UInt64, TextbookStrategy) throws(DecryptionError) -> UInt64 = {
        (count, strategy) throws(DecryptionError) in
        guard strategy.cipher == .aesCTR || count % 16 == 0 else {
            throw .truncatedCiphertext(byteCount: count, expected: "a multiple of 16")
        }
        guard strategy.padding != .pkcs7 || count > 0 else {
            throw .truncatedCiphertext(byteCount: 0, expected: "at least 16")
        }
        return count
    }

    /// Returns the number of padding bytes in a last block, or `nil`.
    var padding: @Sendable ([UInt8]) -> Int? = { block in
        let count = Int(block[15])
        return (1...16).contains(count) && block.suffix(count).allSatisfy { $0 == count } ? count : nil
    }

    /// The error for an end whose padding is wrong.
    var paddingError: DecryptionError = .invalidPadding

    /// Says whether a last chunk may hold `byteCount` bytes.
    var acceptsLastChunk: @Sendable (_ byteCount: Int64, _ index: UInt64, _ chunkByteCount: UInt64) -> Bool = {
        byteCount, index, chunkByteCount in
        byteCount <= Int64(chunkByteCount) && (index == 0 || byteCount > 0)
    }

    /// Returns the plaintext's length, given the right one and the ciphertext's.
    var length: @Sendable (_ right: UInt64, _ ciphertextByteCount: UInt64, _ strategy: TextbookStrategy) -> UInt64 = {
        right, _, _ in
        right
    }

    /// Returns the range that a read delivers.
    var clip: Clip = { (offset, count, length) throws(DecryptionError) in
        guard offset <= length else { throw .rangeOutOfBounds(offset: offset, plaintextByteCount: length) }
        return offset..<offset + min(UInt64(count), length - offset)
    }

    /// Returns the location of a byte.
    var location: @Sendable (UInt64, TextbookStrategy) -> TextbookLocation = { TextbookLocation(of: $0, strategy: $1) }

    /// Returns the number of bytes before a block that are fetched for its IV.
    var lookBack: @Sendable (TextbookLocation, TextbookStrategy) -> UInt64 = { location, strategy in
        strategy.cipher == .aesCBC && location.block > 0 ? 16 : 0
    }

    /// Returns the IV of a block in CBC, its counter block in CTR.
    var iv: @Sendable (TextbookIVContext) -> Block = { $0.right }

    /// Fetches ciphertext.
    var fetch: Fetch = { (source, offset, buffer) throws(DecryptionError) in
        try source.fetch(at: offset, into: buffer)
    }

    /// Returns the number of bytes to skip in a decrypted piece.
    var skip: @Sendable (_ right: Int, _ cipher: Cipher) -> Int = { right, _ in right }

    /// The number of blocks to decrypt beyond the needed ones, if the object has more.
    var blocksTooMany = 0

    /// The max window, whatever the setup says.
    var largestWindow = UInt64.max

    /// True if the reader notices that the source has changed.
    var noticesChanges = true
}

extension TextbookIVContext {
    /// The right IV. Source: NIST SP 800-38A, sections 6.2 and 6.5.
    var right: Block {
        if strategy.cipher == .aesCTR { return given.advanced(by: location.block) }
        return location.block == 0 ? chunkIV(location.chunk) : previous ?? chunkIV(location.chunk)
    }

    /// The given IV.
    var given: Block { strategy.iv }

    /// Returns the IV of a chunk.
    func chunkIV(_ index: UInt64) -> Block {
        strategy.hasOneIV ? given : given.advanced(by: index)
    }
}

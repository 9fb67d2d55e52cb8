internal import RandomAccess

/// A small reader that shares no arithmetic with `RandomAccess`, and asks its rules at every turn.
///
/// With the rules as they are it is right; mutants change one of them.
final class TextbookReader: RandomAccessDecryptor {
    let plaintextByteCount: UInt64
    private let source: any ByteSource
    private let strategy: Strategy
    private let context: any CipherContext
    private let rules: TextbookRules
    private let windowByteCount: UInt64
    private let ciphertextByteCount: UInt64
    private var last: (ciphertext: Block, plaintext: Block)?

    /// A subject whose readers are these.
    static func subject(
        _ name: String, backend: any CipherBackend, rules: TextbookRules,
        openPlaylist: ConformanceSubject.OpenPlaylist? = nil
    ) -> ConformanceSubject {
        ConformanceSubject(
            name: name, supports: { strategy, _ in strategy.mode != .gcm }, openPlaylist: openPlaylist
        ) { (setup, source, strategy, key) throws(DecryptionError) in
            try TextbookReader(
                source: source, strategy: strategy, key: key, backend: backend, rules: rules,
                windowByteCount: setup.access.windowByteCount)
        }
    }

    init(
        source: any ByteSource, strategy: Strategy, key: SecretKey, backend: any CipherBackend, rules: TextbookRules,
        windowByteCount: UInt64
    ) throws(DecryptionError) {
        self.source = source
        self.strategy = strategy
        self.rules = rules
        self.windowByteCount = max(16, min(windowByteCount, rules.largestWindow) / 16 * 16)
        let context = try backend.makeContext(mode: strategy.mode, direction: .decrypt, key: key)
        self.context = context
        self.ciphertextByteCount = try rules.ciphertextByteCount(source.byteCount, strategy)
        var length = ciphertextByteCount
        if strategy.padding == .pkcs7, length > 0 {
            let chunkByteCount = strategy.chunkByteCount ?? 1 << 62
            let index = (length - 16) / (chunkByteCount + 16)
            let inChunk = length - index * (chunkByteCount + 16)
            var place = TextbookPlace(of: index * chunkByteCount, strategy: strategy)
            place.offset = inChunk - 16
            let ciphertext = try Self.fetch(length - min(inChunk, 32)..<length, from: source, by: rules)
            let previous = inChunk > 16 ? ciphertext.withUnsafeBytes { Block(loadingFrom: $0) } : nil
            let question = TextbookIVQuestion(
                strategy: strategy, place: place, previous: previous, isLaterWindow: false, last: nil)
            var block = Array(ciphertext.suffix(16))
            // Faults of IVs in reads are not to change how objects open.
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

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try rules.clip(offset, buffer.count, plaintextByteCount)
        var position = range.lowerBound
        while position < range.upperBound {
            let place = rules.place(position, strategy)
            let window = windowByteCount - position % windowByteCount
            let count = Int(min(range.upperBound - position, place.rest, window))
            let start = Int(position - range.lowerBound)
            try decrypt(
                place, isLaterWindow: position > range.lowerBound && place.block > 0,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + count]))
            position += UInt64(count)
        }
        if rules.noticesChanges { try source.checkUnchanged() }
        return range.count
    }

    private func decrypt(
        _ place: TextbookPlace, isLaterWindow: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let back = rules.lookBack(place, strategy)
        let right = Int(place.offset % 16)
        let start = place.chunkStart + 16 * place.block
        var stop = start + UInt64(right + output.count)
        if strategy.mode == .cbc { stop = (stop + 15) / 16 * 16 }
        // A source shorter than the rules believe is a failed fetch, which is what faults of lengths come to.
        stop = max(stop, min(stop + 16 * UInt64(rules.blocksTooMany), ciphertextByteCount))
        let fetched = try Self.fetch(start &- back..<stop, from: source, by: rules)
        let previous = back > 0 ? fetched.withUnsafeBytes { Block(loadingFrom: $0) } : nil
        let question = TextbookIVQuestion(
            strategy: strategy, place: place, previous: previous, isLaterWindow: isLaterWindow, last: last)
        var plaintext = Array(fetched.dropFirst(Int(back)))
        let lastBlock = (plaintext.count - 1) / 16 * 16
        let ciphertextBlock = lastBlock + 16 == plaintext.count ? Self.block(plaintext, at: lastBlock) : nil
        let iv = rules.iv(question)
        try plaintext.withMutableBytes { (bytes) throws(DecryptionError) in
            try context.process(inPlace: bytes, iv: iv)
        }
        if let ciphertextBlock { last = (ciphertextBlock, Self.block(plaintext, at: lastBlock)) }
        let skip = rules.skip(right, strategy.mode)
        output.copyBytes(from: plaintext.dropFirst(skip).prefix(output.count))
    }

    private static func block(_ bytes: [UInt8], at offset: Int) -> Block {
        bytes.withUnsafeBytes { Block(loadingFrom: $0, at: offset) }
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
    /// The window that a reader without chunks of its own takes.
    var windowByteCount: UInt64 {
        switch self {
        case .cursor(let window), .freshBuffers(let window): UInt64(window)
        case .wholeChunk: .max
        }
    }
}

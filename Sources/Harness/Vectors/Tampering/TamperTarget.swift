internal import ByteSources
package import RandomAccess

/// An object to be tampered with, another one of the same strategy and key, and where its parts lie.
package struct TamperTarget: Sendable {
    /// What a subject is given to open.
    package enum Form: Sendable {
        /// One ciphertext, and the strategy and key for it.
        case object(Strategy, SecretKey)
        /// A playlist whose segments are files of their own.
        case playlist(TamperPlaylist)
    }

    /// The strategy with what tells it from others.
    package let label: String
    /// What is opened.
    package let form: Form
    /// The object as its writer made it.
    package let original: TamperContent
    /// Another object, of the same strategy, key and length.
    package let other: TamperContent
    /// What the original decrypts to.
    package let plaintext: [UInt8]
    /// How much a sequential reader reads at once: not a divisor of anything.
    package let windowByteCount: Int
    /// Each chunk's plaintext.
    let chunkPlaintexts: [Range<Int>]
    /// The parts of the header, with their names.
    let headerFields: [(name: String, range: Range<Int>)]

    /// Creates a target; for formats of `Strategy`, use ``all``.
    init(
        label: String, form: Form, original: TamperContent, other: TamperContent, plaintext: [UInt8],
        windowByteCount: Int, chunkPlaintexts: [Range<Int>], headerFields: [(name: String, range: Range<Int>)] = []
    ) {
        self.label = label
        self.form = form
        self.original = original
        self.other = other
        self.plaintext = plaintext
        self.windowByteCount = windowByteCount
        self.chunkPlaintexts = chunkPlaintexts
        self.headerFields = headerFields
    }

    /// Whether the format says that it detects every change.
    package var isAuthenticated: Bool {
        if case .object(.chunked, _) = form { true } else { false }
    }

    /// The bytes of a tag at each chunk's end.
    var tagByteCount: Int { isAuthenticated ? ChunkFormat.tagByteCount : 0 }

    /// Whether chunk `index` ends with a block of padding.
    func hasPadding(chunk index: Int) -> Bool {
        switch form {
        case .object(let strategy, _): strategy.padding == .pkcs7
        case .playlist: true
        }
    }

    /// Whether chunks follow each other in one ciphertext.
    var isJoined: Bool {
        if case .object = form { true } else { false }
    }

    /// The object after a tampering, as a group without reads, which subjects open like any other.
    package func group(of content: TamperContent) -> VectorGroup {
        switch form {
        case .playlist(let playlist):
            VectorGroup(
                id: "tamper", flags: [],
                playlist: PlaylistObject(
                    text: playlist.text(of: content), resources: playlist.resources(of: content), keys: playlist.keys),
                opening: .opens(plaintextByteCount: 0), plaintext: [], patterns: [])
        case .object(let strategy, let key):
            VectorGroup(
                id: "tamper", source: "generated", flags: [],
                strategy: content.damagedIVByte.map(strategy.damagingIV) ?? strategy, key: key,
                ciphertext: MemorySource(content.bytes), plaintext: GroupPlaintext([]),
                opening: .opens(plaintextByteCount: 0), reads: [])
        }
    }

    /// What the object is opened with after a tampering; `nil` for a playlist.
    package func opening(of content: TamperContent) -> (strategy: Strategy, key: SecretKey, bytes: [UInt8])? {
        guard case .object = form else { return nil }
        let group = group(of: content)
        return (group.strategy, group.key, content.bytes)
    }
}

extension Strategy {
    /// The strategy with the lowest bit of one byte of its IV flipped.
    fileprivate func damagingIV(byte: Int) -> Strategy {
        let mask = UInt128(1) << (8 * (15 - byte))
        func damaged(_ iv: Block) -> Block { Block(bigEndianValue: iv.bigEndianValue ^ mask) }
        return switch self {
        case .ctr(let iv): .ctr(iv: damaged(iv))
        case .cbcContinuous(let iv, let padding): .cbcContinuous(iv: damaged(iv), padding: padding)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            .cbcChunked(chunkByteCount: chunkByteCount, iv: damaged(iv), ivRule: ivRule, padding: padding)
        case .chunked: self
        }
    }
}

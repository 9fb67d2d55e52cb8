internal import ByteSources
internal import RandomAccess

extension VectorGroup {
    /// Creates a group of a playlist.
    ///
    /// What the group says of one object, it says of what playlists have in common: `strategy` is that of an encrypted
    /// segment, `ciphertext` holds all resources one behind the other, by the order of their URIs, and `key` is none of
    /// the playlist's. Nothing opens a playlist's group by these.
    package init(
        id: String, source: String = "generated", flags: [VectorFlag], playlist: PlaylistObject, opening: Opening,
        plaintext: [UInt8], patterns: [ReadPattern]
    ) {
        let length = UInt64(plaintext.count)
        let resources = playlist.resources.sorted { $0.key < $1.key }.flatMap(\.value)
        self.init(
            id: id, source: source, flags: flags,
            strategy: .cbcContinuous(iv: Block(bigEndianValue: 0), padding: .pkcs7), key: Self.noKey,
            ciphertext: MemorySource(resources), plaintext: GroupPlaintext(plaintext), opening: opening,
            readCount: patterns.reduce(0) { $0 + $1.readCount(of: length) }, patterns: patterns
        ) { AnySequence(patterns.lazy.flatMap { $0.reads(of: length) }) }
        self.playlist = playlist
    }

    /// The strategy's name, also of a playlist.
    package var strategyName: String { playlist == nil ? strategy.name : PlaylistObject.strategyName }

    /// The strategy with what tells it from others, also of a playlist.
    package var strategyLabel: String { playlist == nil ? strategy.label : PlaylistObject.strategyName }

    private static let noKey: SecretKey = {
        do {
            return try SecretKey([UInt8](repeating: 0, count: 16))
        } catch {
            preconditionFailure("16 bytes are an AES key: \(error)")
        }
    }()
}

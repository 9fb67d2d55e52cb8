public import RandomAccess

/// Makes a playlist, segments and keys from a plain file.
///
/// It holds one window of plaintext at most, however long the file is. No output appears before all of it is written,
/// and the playlist comes last.
public struct HLSEncryptor {
    private let options: HLSOptions
    private let secrets: HLSSecrets
    private let backend: any CipherBackend

    /// An encryptor with the given options.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for invalid options.
    public init(
        options: HLSOptions, secrets: HLSSecrets = .random, backend: any CipherBackend
    ) throws(DecryptionError) {
        guard !options.segmentByteCounts.isEmpty, options.segmentByteCounts.allSatisfy({ $0 > 0 }) else {
            throw .invalidParameter(
                name: "segment lengths", value: "\(options.segmentByteCounts)", expected: "one at least, all above 0")
        }
        if let count = options.segmentsPerKey, count <= 0 {
            throw .invalidParameter(name: "segments per key", value: "\(count)", expected: "at least 1")
        }
        self.options = options
        self.secrets = secrets
        self.backend = backend
    }

    /// Encrypts a file.
    ///
    /// - Parameters:
    ///   - plain: The plain file.
    ///   - output: The destination of the keys, the segments and the playlist.
    /// - Throws: `DecryptionError` of the source, the output or the backend.
    public func run(_ plain: any ByteSource, to output: any HLSOutput) throws {
        let cut = PlainCut(options, byteCount: plain.byteCount)
        var keys: [Int: SecretKey] = [:]
        for number in Set(cut.pieces.compactMap(\.key)).sorted() {
            let key = try secrets.key(number)
            keys[number] = key
            try output.begin(Self.keyName(number), isSecret: true)
            try key.withUnsafeBytes { bytes in try output.write(bytes) }
            try output.end()
        }
        var text = PlaylistWriter(options)
        var position: UInt64 = 0
        if options.arrangement != .files { try output.begin(Self.commonName(options), isSecret: false) }
        for piece in cut.pieces {
            let name = options.arrangement == .files ? Self.name(of: piece, options) : Self.commonName(options)
            let start = options.arrangement == .files ? 0 : position
            if options.arrangement == .files { try output.begin(name, isSecret: false) }
            let sequence = options.mediaSequence &+ UInt64(max(0, piece.segment))
            let isAttribute = options.ivRule == .attribute || piece.segment < 0
            let iv = isAttribute ? secrets.iv(piece.segment) : Block(bigEndianValue: UInt128(sequence))
            let byteCount = try write(piece, of: plain, key: piece.key.flatMap { keys[$0] }, iv: iv, to: output)
            position = start + byteCount
            if options.arrangement == .files { try output.end() }
            text.add(
                piece, name: name, byteRange: start..<position, iv: isAttribute ? iv : nil,
                keyURI: piece.key.map { options.keyURIPrefix + Self.keyName($0) })
        }
        if options.arrangement != .files { try output.end() }
        try output.begin(options.playlistName, isSecret: false)
        try Array(text.finished.utf8).withUnsafeBytes { bytes in try output.write(bytes) }
        try output.end()
        try plain.checkVersion()
        try output.finish()
    }

    /// Writes a piece, encrypted if it has a key.
    ///
    /// - Returns: The number of bytes written.
    private func write(
        _ piece: PlainCut.Piece, of plain: any ByteSource, key: SecretKey?, iv: Block, to output: any HLSOutput
    ) throws -> UInt64 {
        let encryptor = try key.map { key in
            try ObjectEncryptor(strategy: .whole(.aesCBC, iv: iv), backend: backend, key: key)
        }
        var written: UInt64 = 0
        func sink(_ bytes: UnsafeRawBufferPointer) throws {
            try output.write(bytes)
            written += UInt64(bytes.count)
        }
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(UInt64(piece.range.count), 1 << 18)), alignment: 4096)
        defer {
            eraseBytes(window)
            window.deallocate()
        }
        var position = piece.range.lowerBound
        while position < piece.range.upperBound {
            let count = Int(min(UInt64(window.count), piece.range.upperBound - position))
            let part = UnsafeMutableRawBufferPointer(rebasing: window[..<count])
            try plain.fetch(at: position, into: part)
            if let encryptor {
                try encryptor.append(UnsafeRawBufferPointer(part), to: sink)
            } else {
                try sink(UnsafeRawBufferPointer(part))
            }
            position += UInt64(count)
        }
        try encryptor?.finish(to: sink)
        return written
    }

    private static func keyName(_ number: Int) -> String { "key\(number).key" }

    private static func commonName(_ options: HLSOptions) -> String { "media" + options.segmentSuffix }

    private static func name(of piece: PlainCut.Piece, _ options: HLSOptions) -> String {
        piece.segment < 0 ? "init.mp4" : "segment\(piece.segment)" + options.segmentSuffix
    }
}

/// A plain file, cut into its initialization section and segments.
struct PlainCut {
    /// A part of the file.
    struct Piece {
        /// The segment's index from 0; -1 for the initialization section.
        let segment: Int
        /// The bytes of the plain file.
        let range: Range<UInt64>
        /// The number of the piece's key; `nil` if the piece is not encrypted.
        let key: Int?
    }

    /// The pieces, in order, with at least one segment.
    let pieces: [Piece]

    init(_ options: HLSOptions, byteCount: UInt64) {
        func key(ofSegment index: Int) -> Int? {
            options.clearSegments.contains(index) ? nil : options.segmentsPerKey.map { index / $0 } ?? 0
        }
        var pieces: [Piece] = []
        var position = min(options.initializationByteCount, byteCount)
        if position > 0 { pieces.append(Piece(segment: -1, range: 0..<position, key: key(ofSegment: 0))) }
        var index = 0
        repeat {
            let byteCountHere = options.segmentByteCounts[index % options.segmentByteCounts.count]
            let end = position + min(byteCountHere, byteCount - position)
            pieces.append(Piece(segment: index, range: position..<end, key: key(ofSegment: index)))
            position = end
            index += 1
        } while position < byteCount
        self.pieces = pieces
    }
}

/// Writes a media playlist, piece by piece.
struct PlaylistWriter {
    /// The key of the last EXT-X-KEY.
    private enum KeyInForce: Equatable {
        case none
        case key(uri: String, iv: Block?)
    }

    private let options: HLSOptions
    private var lines: [String] = []
    private var inForce = KeyInForce.none
    private var lastRangeEnd: UInt64?

    init(_ options: HLSOptions) {
        self.options = options
    }

    /// Adds a segment or the initialization section.
    ///
    /// - Parameters:
    ///   - piece: The segment or section.
    ///   - name: The name of its file.
    ///   - byteRange: Its range in the file.
    ///   - iv: Its IV attribute.
    ///   - keyURI: The URI of its key.
    mutating func add(
        _ piece: PlainCut.Piece, name: String, byteRange: Range<UInt64>, iv: Block?, keyURI: String?
    ) {
        let wanted = keyURI.map { KeyInForce.key(uri: $0, iv: iv) } ?? .none
        if wanted != inForce {
            lines.append(Self.line(wanted))
            inForce = wanted
        }
        let isRange = options.arrangement != .files
        if piece.segment < 0 {
            let range = isRange ? ",BYTERANGE=\"\(byteRange.count)@\(byteRange.lowerBound)\"" : ""
            lines.append("#EXT-X-MAP:URI=\"\(name)\"" + range)
            return
        }
        lines.append("#EXTINF:\(options.secondsPerSegment).0,")
        if isRange {
            // A segment's range may follow that of another segment only. Source: RFC 8216, section 4.3.2.2.
            let isKnown = options.arrangement == .byteRanges(allOffsets: false) && lastRangeEnd == byteRange.lowerBound
            lines.append("#EXT-X-BYTERANGE:\(byteRange.count)" + (isKnown ? "" : "@\(byteRange.lowerBound)"))
            lastRangeEnd = byteRange.upperBound
        }
        lines.append(name)
    }

    /// The playlist.
    var finished: String {
        let version = options.initializationByteCount > 0 ? 6 : options.arrangement == .files ? 3 : 4
        let head = [
            "#EXTM3U", "#EXT-X-VERSION:\(version)", "#EXT-X-TARGETDURATION:\(options.secondsPerSegment)",
            "#EXT-X-MEDIA-SEQUENCE:\(options.mediaSequence)", "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        return (head + lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    private static func line(_ key: KeyInForce) -> String {
        guard case .key(let uri, let iv) = key else { return "#EXT-X-KEY:METHOD=NONE" }
        let attribute = iv.map { ",IV=0x" + $0.hexadecimal.uppercased() }
        return "#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"" + (attribute ?? "")
    }
}

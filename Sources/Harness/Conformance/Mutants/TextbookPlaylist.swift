import RandomAccess
import Vectors

/// A naive parser of media playlists, which shares no code with the one under test.
///
/// Without a fault, it understands only the syntax that the vectors use.
struct TextbookPlaylist {
    /// A segment or section.
    struct Piece {
        var uri: String
        var range: Range<Int>?
        var key: String?
        var iv: UInt128
    }

    private(set) var pieces: [Piece] = []
    /// True if byte ranges are in the plaintext of a resource that is one chain. Source: RFC 8216, section 6.3.6.
    private(set) var isOfFrames = false

    private struct Key {
        var uri: String
        var iv: UInt128?
    }

    private let fault: PlaylistFault?
    private var key: Key?
    private var firstKey: Key?
    private var lastIV: UInt128?
    private var sequence: UInt64 = 0
    private var section: Piece?
    private var sectionIsNew = false
    private var before: Piece?
    private var range: (count: Int, offset: Int?)?
    private var lastRange: (uri: String, end: Int, offset: Int)?
    private var isRefused: DecryptionError?

    init(_ text: String, fault: PlaylistFault?) throws(DecryptionError) {
        self.fault = fault
        let lines = Self.lines(of: text, fault: fault)
        guard lines.first.map({ $0 == "#EXTM3U" || fault == .returnKept && $0 == "#EXTM3U\r" }) == true else {
            throw Self.invalid("EXTM3U")
        }
        for (index, line) in lines.enumerated() where !line.isEmpty {
            if fault == .infoNextIsURI, index > 0, lines[index - 1].hasPrefix("#EXTINF:") {
                try segment(line)
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1)
            let (name, value) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            switch name {
            case "#EXT-X-MEDIA-SEQUENCE": sequence = fault == .sequenceIgnored ? 0 : UInt64(value) ?? 0
            case "#EXT-X-I-FRAMES-ONLY": isOfFrames = fault != .framesAlone
            case "#EXT-X-GAP": if fault == .gapRefused { throw Self.invalid(name) }
            case "#EXT-X-STREAM-INF": throw .unsupported("a master playlist")
            case "#EXT-X-DISCONTINUITY": if fault == .sequenceRestarts { sequence = 0 }
            case "#EXT-X-KEY": try keyTag(value)
            case "#EXT-X-MAP": try sectionTag(value)
            case "#EXT-X-BYTERANGE": range = Self.byteRange(value)
            default:
                if fault == .commentRefused, line.hasPrefix("#"), !line.hasPrefix("#EXT") {
                    throw Self.invalid("comment")
                }
                if fault == .unknownTagRefused, line.hasPrefix("#EXT"), !Self.otherTags.contains(name) {
                    throw Self.invalid(name)
                }
                if !line.hasPrefix("#") { try segment(line) }
            }
        }
        if fault == .lastKeyOnly {
            for index in pieces.indices where pieces[index].key != nil {
                pieces[index].key = key?.uri ?? pieces.last?.key
            }
        }
    }

    private static let otherTags: Set<String> = [
        "#EXTM3U", "#EXTINF", "#EXT-X-ENDLIST", "#EXT-X-TARGETDURATION", "#EXT-X-VERSION",
    ]

    private static func lines(of text: String, fault: PlaylistFault?) -> [String] {
        guard fault != .returnKept else {
            return text.utf8.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
        }
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        if fault == .blankLineEnds { lines = Array(lines.prefix { !$0.isEmpty }) }
        if fault == .lastLineLost { lines.removeLast() }
        return lines
    }

    private mutating func keyTag(_ value: String) throws(DecryptionError) {
        var value = value
        if fault == .quotesGuessed {
            value = String(value.map { "\u{201C}\u{201D}".contains($0) ? "\"" : $0 })
        }
        let attributes = Self.attributes(value, fault: fault)
        func attribute(_ name: String) -> String? { Self.attribute(name, attributes) }
        let method = attribute("METHOD") ?? ""
        if method == "NONE" {
            if fault != .keyKept { key = nil }
            isRefused = nil
            return
        }
        let isForeign = (attribute("KEYFORMAT") ?? "\"identity\"") != "\"identity\""
        if isForeign, fault != .anyFormat {
            if key == nil { isRefused = .unsupported("a KEYFORMAT") }
            return
        }
        isRefused = nil
        guard method == "AES-128" || fault == .sampleAES || isForeign else { throw .unsupported("a METHOD") }
        guard let uri = attribute("URI"), uri.hasPrefix("\""), uri.count > 2 else {
            throw Self.invalid("URI")
        }
        if fault == .dataURIRefused, uri.hasPrefix("\"data:") { throw .unsupported("a scheme") }
        var iv: UInt128?
        if let text = attribute("IV") {
            if fault == .capitalXRefused, text.hasPrefix("0X") { throw Self.invalid("IV") }
            guard text.count == 34 || fault == .shortIV, let number = UInt128(text.dropFirst(2), radix: 16) else {
                throw Self.invalid("IV")
            }
            iv = fault == .attribute64Bits ? UInt128(UInt64(truncatingIfNeeded: number)) : number
        }
        if fault == .attributeIgnored || fault == .zeroIVIsNone && iv == 0 { iv = nil }
        lastIV = iv ?? lastIV
        if fault == .attributeKept { iv = lastIV }
        let made = Key(uri: String(uri.dropFirst().dropLast()), iv: iv)
        firstKey = firstKey ?? made
        key = fault == .firstKeyOnly ? Key(uri: firstKey?.uri ?? made.uri, iv: iv) : made
    }

    private mutating func sectionTag(_ value: String) throws(DecryptionError) {
        let attributes = Self.attributes(value, fault: fault)
        let uri = (Self.attribute("URI", attributes) ?? "").filter { $0 != "\"" }
        if fault == .rangeLostAtSection { self.range = nil }
        let range = Self.attribute("BYTERANGE", attributes).flatMap { Self.byteRange($0.filter { $0 != "\"" }) }
        guard key == nil || key?.iv != nil || fault != nil && fault != .sectionPlain || !pieces.isEmpty else {
            throw Self.invalid("EXT-X-MAP")
        }
        section = Piece(
            uri: uri, range: range.map { ($0.offset ?? 0)..<($0.offset ?? 0) + $0.count },
            key: fault == .sectionPlain ? nil : key?.uri, iv: key?.iv ?? UInt128(sequence))
        sectionIsNew = true
    }

    private mutating func segment(_ written: String) throws(DecryptionError) {
        if let isRefused { throw isRefused }
        var uri = written
        if fault == .queryCut { uri = String(uri.prefix { $0 != "?" }) }
        if fault == .percentDecoded { uri = uri.replacing("%20", with: " ") }
        if var section, fault != .sectionOmitted {
            let isSame = before?.uri == section.uri && before?.range == section.range
            if !isSame || fault == .sectionRepeated || sectionIsNew && fault == .sectionAgain {
                if fault == .sectionKeyLater { (section.key, section.iv) = (key?.uri, key?.iv ?? UInt128(sequence)) }
                pieces.append(section)
            }
            before = section
            sectionIsNew = false
        }
        var part: Range<Int>?
        if let (count, given) = range, fault != .rangeIgnored {
            var offset = given
            if offset == nil, let lastRange, lastRange.uri == uri { offset = lastRange.end }
            if given == nil, fault == .rangeRestarts { offset = 0 }
            if given == nil, fault == .rangeFollowsOffset { offset = lastRange?.offset }
            guard let offset else { throw Self.invalid("EXT-X-BYTERANGE") }
            let start = fault == .rangeAligned ? offset / 16 * 16 : offset
            part = start..<start + count
            lastRange = (uri, offset + count, given ?? lastRange?.offset ?? 0)
        } else {
            lastRange = nil
        }
        range = nil
        pieces.append(Piece(uri: uri, range: part, key: key?.uri, iv: iv()))
        sequence &+= 1
    }

    private func iv() -> UInt128 {
        if let attribute = key?.iv { return fault == .attributeCounts ? attribute &+ UInt128(pieces.count) : attribute }
        switch fault {
        case .sequenceOffByOne: return UInt128(sequence &- 1)
        case .littleEndianIV: return UInt128(sequence).byteSwapped
        case .leftAlignedIV: return UInt128(sequence) << 64
        case .sequence31Bits: return UInt128(sequence & (1 << 31 - 1))
        case .sequence32Bits: return UInt128(sequence & (1 << 32 - 1))
        case .sequence53Bits: return UInt128(Double(sequence))
        default: return UInt128(sequence)
        }
    }

    private static func invalid(_ what: String) -> DecryptionError { .invalidPlaylist(reason: what) }

    private static func byteRange(_ text: String) -> (count: Int, offset: Int?)? {
        let parts = text.split(separator: "@")
        guard let count = parts.first.flatMap({ Int($0) }) else { return nil }
        return (count, parts.count > 1 ? Int(parts[1]) : nil)
    }

    /// The attributes of a list, with their names and quotation marks.
    private static func attributes(_ list: String, fault: PlaylistFault?) -> [Substring] {
        guard fault != .splitAtCommas else { return list.split(separator: ",") }
        var isQuoted = false
        return list.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }

    private static func attribute(_ name: String, _ attributes: [Substring]) -> String? {
        attributes.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

/// Decrypts all segments of a playlist when it is opened, and serves reads from the result.
///
/// It is right without a fault, but slow; it is for the vectors' small objects.
final class TextbookPlaylistReader: RandomAccessDecryptor {
    private let plaintext: [UInt8]
    private let ends: [Int]
    private let fault: PlaylistFault?

    init(
        _ object: PlaylistObject, _ resources: [String: any ByteSource], _ backend: any CipherBackend,
        fault: PlaylistFault?
    ) throws(DecryptionError) {
        let playlist = try TextbookPlaylist(object.text, fault: fault)
        let keys = object.keys
        var plaintext: [UInt8] = []
        var ends: [Int] = []
        var chain: UInt128?
        // Keys are checked before resources. Source: PROTOCOL.md, "Transport".
        for piece in playlist.pieces {
            if let uri = piece.key, fault != .noKeyIsPlain { _ = try Self.key(keys[uri], fault) }
        }
        for (index, piece) in playlist.pieces.enumerated() {
            guard let resource = resources[piece.uri] else {
                if fault == .missingSkipped { continue }
                throw .io(operation: "open \(piece.uri)", code: 2, reason: "not there")
            }
            let length = Int(resource.byteCount)
            var range = piece.range ?? 0..<length
            let isFrame = playlist.isOfFrames && piece.range != nil && piece.key != nil
            let frame = range
            // Whole blocks, and the block before them.
            if isFrame { range = max(0, frame.lowerBound / 16 * 16 - 16)..<(frame.upperBound + 15) / 16 * 16 }
            guard range.upperBound <= length else {
                throw .truncatedCiphertext(byteCount: resource.byteCount, expected: "\(range.upperBound)")
            }
            var bytes = [UInt8](repeating: 0, count: range.count)
            try bytes.withMutableBytes { (buffer) throws(DecryptionError) in
                try resource.fetch(at: UInt64(range.lowerBound), into: buffer)
            }
            if let uri = piece.key, keys[uri] != nil || fault != .noKeyIsPlain {
                let key = try Self.key(keys[uri], fault)
                if bytes.count % 16 != 0, fault == .partialBlockCut { bytes.removeLast(bytes.count % 16) }
                guard bytes.count % 16 == 0, !bytes.isEmpty else {
                    throw .truncatedCiphertext(byteCount: UInt64(bytes.count), expected: "blocks")
                }
                let next = bytes.suffix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
                let iv = fault == .chainGoesOn ? chain ?? piece.iv : piece.iv
                let context = try backend.makeContext(.aesCBC, .decrypt, key: key)
                try bytes.withMutableBytes { (bytes) throws(DecryptionError) in
                    try context.process(inPlace: bytes, iv: Block(bigEndianValue: iv))
                }
                chain = next
                let isLast = index == playlist.pieces.count - 1
                if isFrame {
                    // The block before was fetched as the IV of the next one.
                    bytes = Array(bytes[frame.lowerBound - range.lowerBound..<frame.upperBound - range.lowerBound])
                    if fault == .framesUnpadded { try? Self.unpad(&bytes, nil) }
                } else if fault != .paddingBetween || isLast {
                    try Self.unpad(&bytes, fault)
                }
            } else if fault == .paddingOfPlain {
                try? Self.unpad(&bytes, nil)
            }
            plaintext += bytes
            ends.append(plaintext.count)
        }
        self.plaintext = plaintext
        self.ends = ends
        self.fault = fault
    }

    var plaintextByteCount: UInt64 { UInt64(plaintext.count) }

    func checkVersion() {}

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        var end = plaintext.count
        if fault == .readEndsAtSegment { end = ends.first { $0 > Int(offset) } ?? end }
        let bytes = plaintext[Int(offset)..<max(Int(offset), end)].prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    private static func key(_ bytes: [UInt8]?, _ fault: PlaylistFault?) throws(DecryptionError) -> SecretKey {
        var bytes = bytes ?? []
        if fault == .keyFitted { bytes = Array((bytes + [UInt8](repeating: 0, count: 16)).prefix(16)) }
        guard bytes.count == 16 else { throw .invalidKey(byteCount: bytes.count) }
        return try SecretKey(bytes)
    }

    /// Source: RFC 5652, section 6.3.
    private static func unpad(_ bytes: inout [UInt8], _ fault: PlaylistFault?) throws(DecryptionError) {
        let count = Int(bytes.last ?? 0)
        guard 1...16 ~= count, bytes.count >= count, bytes.suffix(count).allSatisfy({ Int($0) == count }) else {
            if fault == .paddingTrusted { return }
            throw .invalidPadding
        }
        bytes.removeLast(count)
    }

    /// Returns a closure that opens playlists with the textbook reader, with or without a fault.
    static func opening(fault: PlaylistFault?, over backend: any CipherBackend) -> InProcessSubject.OpenPlaylist {
        { (_, playlist, resources) throws(DecryptionError) in
            try TextbookPlaylistReader(playlist, resources, backend, fault: fault)
        }
    }
}

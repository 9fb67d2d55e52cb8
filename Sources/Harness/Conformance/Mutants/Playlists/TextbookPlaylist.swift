internal import RandomAccess

/// A naive parser of media playlists, which shares nothing with the one that is tested.
///
/// With no fault it understands what the vectors have, and no more.
struct TextbookPlaylist {
    /// A segment or section.
    struct Piece {
        var uri: String
        var range: Range<Int>?
        var key: String?
        var iv: UInt128
        var isSection: Bool
    }

    private(set) var pieces: [Piece] = []

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
        guard text.hasPrefix("#EXTM3U\n") else { throw Self.invalid("EXTM3U") }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let (name, value) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            switch name {
            case "#EXT-X-MEDIA-SEQUENCE": sequence = fault == .sequenceIgnored ? 0 : UInt64(value) ?? 0
            case "#EXT-X-STREAM-INF": throw .unsupported("a master playlist")
            case "#EXT-X-DISCONTINUITY": if fault == .sequenceRestarts { sequence = 0 }
            case "#EXT-X-KEY": try keyTag(value)
            case "#EXT-X-MAP": try sectionTag(value)
            case "#EXT-X-BYTERANGE": range = Self.byteRange(value)
            default: if !line.hasPrefix("#") { try segment(String(line)) }
            }
        }
        if fault == .lastKeyOnly {
            for index in pieces.indices where pieces[index].key != nil {
                pieces[index].key = key?.uri ?? pieces.last?.key
            }
        }
    }

    private mutating func keyTag(_ value: String) throws(DecryptionError) {
        var value = value
        if fault == .quotesGuessed {
            value = String(value.map { "\u{201C}\u{201D}".contains($0) ? "\"" : $0 })
        }
        let method = Self.attribute("METHOD", value) ?? ""
        if method == "NONE" {
            if fault != .keyKept { key = nil }
            isRefused = nil
            return
        }
        let isForeign = (Self.attribute("KEYFORMAT", value) ?? "\"identity\"") != "\"identity\""
        if isForeign, fault != .anyFormat {
            if key == nil { isRefused = .unsupported("a KEYFORMAT") }
            return
        }
        isRefused = nil
        guard method == "AES-128" || fault == .sampleAES || isForeign else { throw .unsupported("a METHOD") }
        guard let uri = Self.attribute("URI", value), uri.hasPrefix("\""), uri.count > 2 else {
            throw Self.invalid("URI")
        }
        var iv: UInt128?
        if let text = Self.attribute("IV", value) {
            guard text.count == 34 || fault == .shortIV, let number = UInt128(text.dropFirst(2), radix: 16) else {
                throw Self.invalid("IV")
            }
            iv = fault == .attribute64Bits ? UInt128(UInt64(truncatingIfNeeded: number)) : number
        }
        if fault == .attributeIgnored { iv = nil }
        lastIV = iv ?? lastIV
        if fault == .attributeKept { iv = lastIV }
        let made = Key(uri: String(uri.dropFirst().dropLast()), iv: iv)
        firstKey = firstKey ?? made
        key = fault == .firstKeyOnly ? Key(uri: firstKey?.uri ?? made.uri, iv: iv) : made
    }

    private mutating func sectionTag(_ value: String) throws(DecryptionError) {
        let uri = (Self.attribute("URI", value) ?? "").filter { $0 != "\"" }
        let range = Self.attribute("BYTERANGE", value).flatMap { Self.byteRange($0.filter { $0 != "\"" }) }
        guard key == nil || key?.iv != nil || fault != nil && fault != .sectionPlain || !pieces.isEmpty else {
            throw Self.invalid("EXT-X-MAP")
        }
        section = Piece(
            uri: uri, range: range.map { ($0.offset ?? 0)..<($0.offset ?? 0) + $0.count },
            key: fault == .sectionPlain ? nil : key?.uri, iv: key?.iv ?? UInt128(sequence), isSection: true)
        sectionIsNew = true
    }

    private mutating func segment(_ uri: String) throws(DecryptionError) {
        if let isRefused { throw isRefused }
        if var section, fault != .sectionOmitted {
            let isSame = before?.uri == section.uri && before?.range == section.range
            if !isSame || fault == .sectionRepeated || sectionIsNew && fault == .sectionAgain {
                if fault == .sectionKeyLater { (section.key, section.iv) = (key?.uri, key?.iv ?? UInt128(sequence)) }
                pieces.append(section)
            }
            before = section
            sectionIsNew = false
        }
        var place: Range<Int>?
        if let (count, given) = range, fault != .rangeIgnored {
            var offset = given
            if offset == nil, let lastRange, lastRange.uri == uri { offset = lastRange.end }
            if given == nil, fault == .rangeRestarts { offset = 0 }
            if given == nil, fault == .rangeFollowsOffset { offset = lastRange?.offset }
            guard let offset else { throw Self.invalid("EXT-X-BYTERANGE") }
            place = offset..<offset + count
            lastRange = (uri, offset + count, given ?? lastRange?.offset ?? 0)
        } else {
            lastRange = nil
        }
        range = nil
        pieces.append(Piece(uri: uri, range: place, key: key?.uri, iv: iv(), isSection: false))
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

    /// A value with its quotation marks; the vectors have no commas inside of them.
    private static func attribute(_ name: String, _ list: String) -> String? {
        list.split(separator: ",").first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

/// A box of an MP4 file in memory, or the rest of one. It reads fields in order, and the boxes inside.
///
/// The file is untrusted: each read is checked against the end of the box.
///
/// - Source: ISO/IEC 14496-12:2022, section 4.2.
struct FilmBox {
    /// The four letters of a box.
    struct Kind: Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        let code: UInt32

        init(code: UInt32) { self.code = code }

        init(stringLiteral text: String) {
            code = text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// The letters, or hexadecimal digits if they are not letters.
        var description: String {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }
            guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "0x\(String(code, radix: 16))" }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The header of a box.
    struct Header {
        let kind: Kind
        /// The length with the header; `nil` for a box that extends to the end.
        let byteCount: UInt64?
        let headerByteCount: UInt64

        /// The max length of a header in bytes.
        static let maxByteCount = 16

        /// Parses a header.
        ///
        /// - Returns: `nil` if there are too few bytes, or the length is less than the header's.
        init?(_ bytes: some RandomAccessCollection<UInt8>) {
            func number(_ start: Int, _ count: Int) -> UInt64? {
                guard bytes.count >= start + count else { return nil }
                return bytes.dropFirst(start).prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
            }
            guard let short = number(0, 4), let code = number(4, 4) else { return nil }
            kind = Kind(code: UInt32(truncatingIfNeeded: code))
            switch short {
            case 0: (byteCount, headerByteCount) = (nil, 8)
            case 1:
                guard let long = number(8, 8), long >= 16 else { return nil }
                (byteCount, headerByteCount) = (long, 16)
            case 8...: (byteCount, headerByteCount) = (short, 8)
            default: return nil
            }
        }
    }

    let kind: Kind
    /// The box's first byte in the file.
    let offset: UInt64
    private let bytes: [UInt8]
    /// The offset of `bytes` in the file.
    private let start: UInt64
    private var position: Int
    private let end: Int

    /// A box with the given content.
    init(_ kind: Kind, at offset: UInt64, content: [UInt8], at start: UInt64) {
        (self.kind, self.offset, bytes, self.start) = (kind, offset, content, start)
        (position, end) = (0, content.count)
    }

    private init(_ kind: Kind, in parent: FilmBox, at place: Range<Int>, headerByteCount: Int) {
        (self.kind, bytes, start) = (kind, parent.bytes, parent.start)
        offset = parent.start + UInt64(place.lowerBound)
        (position, end) = (place.lowerBound + headerByteCount, place.upperBound)
    }

    /// The box's name in messages.
    var name: String { "box \(kind) at offset \(offset)" }

    /// The number of unread bytes.
    var leftByteCount: Int { end - position }

    /// Returns an error about the box's content.
    func mismatch(_ expected: String) -> DecryptionError { .invalidHeader(expected: "\(name) with \(expected)") }

    /// Returns an error about unsupported content.
    func unsupported(_ what: String) -> DecryptionError { .unsupported("\(what) (\(name))") }

    /// Reads a big-endian number.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if the box ends earlier.
    mutating func number<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(DecryptionError) -> Value {
        let count = MemoryLayout<Value>.size
        let place = position
        try skip(count)
        return bytes[place..<place + count].reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// Reads bytes.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if the box ends earlier.
    mutating func array(_ count: Int) throws(DecryptionError) -> [UInt8] {
        let place = position
        try skip(count)
        return Array(bytes[place..<place + count])
    }

    /// Skips bytes.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if the box ends earlier.
    mutating func skip(_ count: Int) throws(DecryptionError) {
        guard count <= end - position else {
            throw mismatch("\(count) bytes from offset \(start + UInt64(position)) on, which are \(end - position)")
        }
        position += count
    }

    /// Reads a part, as a box of its own.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if the box ends earlier.
    mutating func part(_ count: Int) throws(DecryptionError) -> FilmBox {
        let place = position
        try skip(count)
        return FilmBox(kind, in: self, at: place..<position, headerByteCount: 0)
    }

    /// Reads the version and the flags at the start of a full box.
    mutating func versionAndFlags() throws(DecryptionError) -> (version: UInt8, flags: UInt32) {
        let word = try number(UInt32.self)
        return (UInt8(word >> 24), word & 0xFFFFFF)
    }

    /// Reads a box.
    ///
    /// - Returns: The box; `nil` at the end.
    /// - Throws: `DecryptionError.invalidHeader` if it is longer than the rest.
    mutating func nextBox() throws(DecryptionError) -> FilmBox? {
        guard position < end else { return nil }
        guard let header = Header(bytes[position..<end]), let byteCount = header.byteCount,
            byteCount <= UInt64(end - position)
        else { throw mismatch("a box at offset \(start + UInt64(position)) that ends before \(start + UInt64(end))") }
        let place = position..<position + Int(byteCount)
        position = place.upperBound
        return FilmBox(header.kind, in: self, at: place, headerByteCount: Int(header.headerByteCount))
    }

    /// Returns the box of a kind in the rest.
    ///
    /// - Returns: The box; `nil` if there is none.
    /// - Throws: `DecryptionError.unsupported` if there are several.
    func box(_ kind: Kind) throws(DecryptionError) -> FilmBox? {
        var (rest, found): (FilmBox, FilmBox?) = (self, nil)
        while let box = try rest.nextBox() {
            guard box.kind == kind else { continue }
            guard found == nil else { throw box.unsupported("a second box \(kind) in one \(self.kind)") }
            found = box
        }
        return found
    }

    /// Returns a required box.
    func required(_ kind: Kind) throws(DecryptionError) -> FilmBox {
        guard let box = try box(kind) else { throw mismatch("a box \(kind)") }
        return box
    }
}

/// Bytes of a source that are read a few at a time, and fetched together with their surroundings.
struct SourceWindow {
    private let source: any ByteSource
    private var range: Range<UInt64> = 0..<0
    private var held = ByteString([])

    init(_ source: any ByteSource) { self.source = source }

    private static let byteCount: UInt64 = 4096

    /// Returns the bytes of a range within the source.
    ///
    /// - Parameters:
    ///   - wanted: The range.
    ///   - isForward: True if the bytes behind it come next; false for those in front.
    /// - Returns: The bytes.
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext`.
    mutating func bytes(_ wanted: Range<UInt64>, isForward: Bool) throws(DecryptionError) -> ByteString {
        if !(range.lowerBound <= wanted.lowerBound && wanted.upperBound <= range.upperBound) {
            let end =
                isForward
                ? min(source.byteCount, max(wanted.upperBound, wanted.lowerBound + Self.byteCount)) : wanted.upperBound
            let start =
                isForward
                ? wanted.lowerBound : min(wanted.lowerBound, end - min(end, Self.byteCount))
            held = try ByteString(count: Int(end - start)) { buffer throws(DecryptionError) in
                try source.fetch(at: start, into: buffer)
            }
            range = start..<end
        }
        let start = Int(wanted.lowerBound - range.lowerBound)
        return held.slice(start..<start + wanted.count)
    }
}

/// A search for the first line that begins with a prefix, in a text that arrives piece by piece.
struct LineSearch {
    static let lineFeed = UInt8(ascii: "\n")

    let prefix: ByteString
    /// The number of bytes of the prefix that the line has so far; `nil` if it begins differently.
    private var matched: Int? = 0
    private var (lineStart, position) = (0, 0)

    init(prefix: ByteString) { self.prefix = prefix }

    /// Returns the number of bytes in front of the line, if it begins in these bytes or before them.
    mutating func find(in bytes: some Sequence<UInt8>) -> Int? {
        for byte in bytes {
            position += 1
            if let count = matched {
                matched = byte == prefix[count] ? count + 1 : nil
                if matched == prefix.count { return lineStart }
            }
            if byte == Self.lineFeed { (matched, lineStart) = (0, position) }
        }
        return nil
    }
}

extension Format.Field {
    /// Repeated fields, of which only the lengths matter.
    package struct Repetition: Hashable, Sendable {
        package let times: Formula
        package let fields: [Part]

        /// One of the fields; lengths of later fields in the same round may use its name.
        package struct Part: Hashable, Sendable {
            package let name: String
            package let byteCount: Formula
        }

        /// All formulas of the repetition.
        var formulas: [Formula] { [times] + fields.map(\.byteCount) }
    }

    /// The bytes that a writer puts there, unless they are random.
    var written: Formula? { content.first ?? usual }

    /// All formulas for the field's content.
    var contents: [Formula] { content + (usual.map { [$0] } ?? []) }
}

/// The fields and checks of a description, applied to an object.
extension Format.Field {
    /// True if the field's length is known only after it has been read.
    package var isOpen: Bool { nextLinePrefix != nil || repetition != nil }

    /// Returns the length of an open field, which has a value after the field has been read.
    static func unknownByteCount(of name: String, at place: DescriptionPlace) -> Formula {
        Formula(.name(lengthName(of: name)), .integer, at: place)
    }

    /// Returns a name that no description can use.
    static func lengthName(of name: String) -> String { "\(name).length" }

    /// Finds the length of lines: up to the first line with the prefix.
    ///
    /// - Throws: `DecryptionError.invalidHeader` if there is none within 1 MiB, `.io`.
    func linesByteCount(
        at offset: Int, of source: any ByteSource, prefix: ByteString
    ) throws(DecryptionError) -> Int {
        let end = min(source.byteCount, UInt64(offset) + UInt64(Self.maxByteCount))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        var (search, position) = (LineSearch(prefix: prefix), UInt64(offset))
        while position < end {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(4096, end - position))])
            try source.fetch(at: position, into: piece)
            if let count = search.find(in: piece) { return count }
            position += UInt64(piece.count)
        }
        throw .invalidHeader(expected: "\"\(name)\", up to a line that begins as the one behind it does")
    }

    /// Finds the length of repeated fields, whose lengths may depend on earlier fields.
    ///
    /// - Throws: `DecryptionError.headerRejected` if they would take more than 1 MiB, or no bytes;
    ///   `.truncatedCiphertext`, `.io`, `.invalidParameter`.
    func repeatedByteCount(
        _ repetition: Repetition, at offset: Int, of source: any ByteSource, _ names: [String: Value],
        in format: String
    ) throws(DecryptionError) -> Int {
        func refusal() -> DecryptionError {
            .headerRejected(
                expected: "at most \(Self.maxByteCount) bytes up to the end of \"\(name)\", in parts of 1 or more")
        }
        let times = try repetition.times.integer(names, in: format)
        guard (0...Int128(Self.maxByteCount)).contains(times) else { throw refusal() }
        let used = Set(repetition.fields.flatMap(\.byteCount.expression.names))
        var (names, end, window) = (names, offset, SourceWindow(source))
        for _ in 0..<times {
            let start = end
            for field in repetition.fields {
                let count = try field.byteCount.integer(names, in: format)
                guard (0...Int128(Self.maxByteCount - end)).contains(count) else { throw refusal() }
                let range = UInt64(end)..<UInt64(end) + UInt64(count)
                guard range.upperBound <= source.byteCount else {
                    throw .truncatedCiphertext(
                        byteCount: source.byteCount, expected: "at least \(range.upperBound), a header")
                }
                // Most fields matter only for their length.
                if used.contains(field.name) { names[field.name] = .bytes(try window.bytes(range, isForward: true)) }
                end += Int(count)
            }
            guard end > start else { throw refusal() }
        }
        return end - offset
    }

    /// Returns the field's length, at an offset in the header or in a chunk.
    func count(_ names: [String: Value], after offset: Int, in format: String) throws(DecryptionError) -> Int {
        let count = try byteCount.integer(names, in: format)
        guard (0...Int128(max(0, Self.maxByteCount - offset))).contains(count) else {
            throw .headerRejected(expected: "at most \(Self.maxByteCount) bytes up to the end of \"\(name)\"")
        }
        return Int(count)
    }

    private static let maxByteCount = 1 << 20

    /// Returns whether bytes are an allowed content of the field.
    func accepts(_ bytes: ByteString, _ names: [String: Value], in format: String) throws(DecryptionError) -> Bool {
        if content.isEmpty { return true }
        for formula in content where try formula.bytes(names, in: format) == bytes { return true }
        return false
    }

    /// Returns the error of an object whose field has the wrong content.
    func refusal(in format: String, byteCount: UInt64) -> DecryptionError {
        let circumstances = error == .authenticationFailed ? " with this key and these parameters" : ""
        return error.refusal("\"\(name)\" as \(format) has it\(circumstances)", byteCount: byteCount)
    }
}

extension Format.ObjectError {
    /// Returns the error of an object of a given length, with the expectation.
    func refusal(_ expected: String, byteCount: UInt64) -> DecryptionError {
        switch self {
        case .unsupported: .unsupported("an object without \(expected)")
        case .truncatedCiphertext: .truncatedCiphertext(byteCount: byteCount, expected: expected)
        case .invalidHeader: .invalidHeader(expected: expected)
        case .authenticationFailed, .invalidRequest, .invalidKey: .headerRejected(expected: expected)
        }
    }
}

extension Format.Check {
    /// The expectation in words.
    var expected: String { words ?? "what the description asks for, \(requirement.place)" }

    func holds(_ names: [String: Value], in format: String) throws(DecryptionError) -> Bool {
        if let condition, try condition.integer(names, in: format) == 0 { return true }
        return try requirement.integer(names, in: format) != 0
    }
}

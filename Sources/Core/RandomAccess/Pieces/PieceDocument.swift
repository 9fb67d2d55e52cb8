/// A document that lists the pieces of an object, such as the parts of an upload, each in a file with its own format.
///
/// The document is untrusted: its length and its content are limited, and file names stay below its own folder.
///
/// - Source: docs/files.md, "Objects in several pieces".
package struct PieceDocument: Sendable {
    /// A piece as in the document.
    package struct Piece: Sendable {
        /// The place of the piece in the document.
        package let place: DescriptionPlace
        /// The name of its file, relative to the document's folder.
        package let file: String
        /// The first byte, and the last one; `nil` for the file's end.
        package let range: (first: UInt64, last: UInt64?)
        /// The meaning of its bytes.
        package let content: Content
        /// The name of its key file; `nil` for the common key.
        package let keyFile: String?
    }

    /// The meaning of a piece's bytes.
    package enum Content: Sendable {
        /// The plaintext.
        case plain
        /// A ciphertext in a format with its values.
        case encrypted(Strategy)
        /// A film of Common Encryption. A file lists its samples; for `nil`, its own boxes do.
        case film(samples: String?)

        /// The valid key lengths in bytes; `nil` for any that the format's cipher accepts.
        package var keyByteCounts: [Int]? {
            switch self {
            case .plain: nil
            case .encrypted(let strategy): strategy.format.keyByteCounts
            case .film: ProtectedExtents.keyByteCounts
            }
        }

        /// The word for messages; `nil` for content without a key.
        package var name: String? {
            switch self {
            case .plain: nil
            case .encrypted(let strategy): strategy.name
            case .film: PieceDocument.filmWord
            }
        }
    }

    /// The pieces, in order.
    package let pieces: [Piece]

    /// The max number of bytes of a document: 200 per piece.
    package static let maxByteCount = 2_000_000
    /// The max number of parts of an upload to S3. Source: Amazon S3 User Guide, "Amazon S3 multipart upload limits".
    private static let maxPieceCount = 10_000
    /// Five members per piece, with their names and ends.
    private static let maxNodeCount = 12 * maxPieceCount + 16

    /// The word for unencrypted bytes.
    private static let plainWord = "none"
    /// The word for a film of Common Encryption.
    private static let filmWord = "film"

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - strategy: Makes a strategy from its text and an optional IV beside it.
    /// - Throws: `DescriptionError` with line and column.
    package init(
        _ text: [UInt8], strategy: (String, [UInt8]?) throws(DecryptionError) -> Strategy
    ) throws(DescriptionError) {
        let document = try YAMLNode(text, maxByteCount: Self.maxByteCount, maxNodeCount: Self.maxNodeCount)
        let members = try document.members("\"pieces\", a list", of: ["pieces"])
        guard let list = members["pieces"] else { throw document.error("\"pieces\", a list") }
        let nodes = try list.elements("a list of pieces")
        guard (1...Self.maxPieceCount).contains(nodes.count) else {
            throw DescriptionError(list.place, "\(nodes.count) pieces: expected 1 to \(Self.maxPieceCount)")
        }
        pieces = try nodes.map { node throws(DescriptionError) in try Self.piece(node, strategy) }
    }

    private static func piece(
        _ node: YAMLNode, _ strategy: (String, [UInt8]?) throws(DecryptionError) -> Strategy
    ) throws(DescriptionError) -> Piece {
        let members = try node.members(
            "the members of a piece", of: ["file", "range", "strategy", "samples", "iv", "key"])
        func required(_ member: String, _ expected: String) throws(DescriptionError) -> YAMLNode {
            guard let found = members[member] else {
                throw DescriptionError(node.place, "no \"\(member)\": expected \(expected)")
            }
            return found
        }
        let written = try required("strategy", "a strategy, or \"\(plainWord)\" for bytes that are not encrypted")
        let text = try written.text("a strategy")
        func refuse(_ unused: String...) throws(DescriptionError) {
            for unused in unused {
                guard let node = members[unused] else { continue }
                throw node.error("no \"\(unused)\" of \(text == plainWord ? "bytes that are not encrypted" : text)")
            }
        }
        let content: Content
        switch text {
        case plainWord:
            try refuse("iv", "key", "samples")
            content = .plain
        case filmWord:
            try refuse("iv")
            let samples = try members["samples"].map { node throws(DescriptionError) in try fileName(node) }
            content = .film(samples: samples)
        default:
            try refuse("samples")
            let iv = try members["iv"].map { node throws(DescriptionError) in try Self.iv(node) }
            let made: Strategy
            do throws(DecryptionError) {
                made = try strategy(text, iv)
            } catch {
                throw DescriptionError(written.place, "\(error)")
            }
            if let node = members["iv"], made.values[Format.Input.ivName] == nil {
                throw node.error("no IV with \(made.name), which has none")
            }
            content = .encrypted(made)
        }
        return Piece(
            place: node.place, file: try fileName(required("file", "the name of a file")),
            range: try members["range"].map { node throws(DescriptionError) in try range(node) } ?? (0, nil),
            content: content, keyFile: try members["key"].map { node throws(DescriptionError) in try fileName(node) })
    }

    private static func iv(_ node: YAMLNode) throws(DescriptionError) -> [UInt8] {
        let expected = "the 32 hexadecimal digits of an IV"
        guard let iv = ByteString(hexadecimal: try node.text(expected)), iv.count == Block.byteCount else {
            throw node.error(expected)
        }
        return iv.array
    }

    /// Parses a range in HTTP's notation: `A-B`, both included, or `A-`.
    private static func range(_ node: YAMLNode) throws(DescriptionError) -> (first: UInt64, last: UInt64?) {
        let expected = "A-B, the first byte and the last one, or A-"
        let parts = try node.text(expected).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let first = UInt64(parts[0])
        else { throw node.error(expected) }
        if parts[1].isEmpty { return (first, nil) }
        guard let last = UInt64(parts[1]), first <= last, last < .max else { throw node.error(expected) }
        return (first, last)
    }

    /// Parses a name below the document's folder, without terminal control characters.
    private static func fileName(_ node: YAMLNode) throws(DescriptionError) -> String {
        let expected = "the name of a file below the document's folder"
        let name = try node.text(expected)
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= 4096, parts.allSatisfy({ !["", ".", ".."].contains($0) }),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
        else { throw DescriptionError(node.place, "a name that no such file has: expected \(expected)") }
        return name
    }
}

extension PieceDocument.Piece {
    /// A piece that is a whole film.
    package init(film file: String) {
        self.init(
            place: DescriptionPlace(line: 1, column: 1), file: file, range: (0, nil), content: .film(samples: nil),
            keyFile: nil)
    }

    /// The file that lists the samples, if any.
    package var samplesFile: String? {
        if case .film(let samples) = content { samples } else { nil }
    }

    /// The format of its bytes; `nil` for unencrypted bytes and for a film.
    package var strategy: Strategy? {
        if case .encrypted(let strategy) = content { strategy } else { nil }
    }

    /// Returns the place of the piece in its file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - known: The encrypted extents of the piece, if known from before.
    ///   - samples: Reads a list of samples from a file.
    /// - Returns: The place.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the file ends earlier; errors of a film's boxes or samples.
    package func place(
        in source: any ByteSource, _ known: ProtectedExtents? = nil,
        samples: (String) throws(DecryptionError) -> ProtectedExtents = { (file) throws(DecryptionError) in
            throw .unsupported("the list of samples \(file)")
        }
    ) throws(DecryptionError) -> PiecePlace {
        let end = range.last.map { $0 + 1 } ?? max(source.byteCount, range.first)
        let slice = try SlicedSource(source, range.first..<end)
        if let known { return PiecePlace(slice.range, known) }
        switch content {
        case .plain: return PiecePlace(slice.range)
        case .encrypted(let strategy): return PiecePlace(slice.range, strategy)
        case .film(let file?): return PiecePlace(slice.range, try samples(file))
        case .film(nil): return PiecePlace(slice.range, try ProtectedExtents(film: slice))
        }
    }
}

extension DescriptionError: LayerError {
    /// The error's name in the subject protocol.
    package var protocolName: String { "invalidRequest" }
}

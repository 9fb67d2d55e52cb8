/// A document that lists the pieces of an object, such as the parts of an upload, each in a file with a format of its
/// own.
///
/// It may be from anywhere: its length and what it lists are bounded, and files have names below its own folder.
///
/// - Source: docs/files.md, "Objects in several pieces".
package struct PieceDocument: Sendable {
    /// A piece as the document has it.
    package struct Piece: Sendable {
        /// The place of the piece in the document.
        package let place: DescriptionPlace
        /// The name of its file, relative to the document's folder.
        package let file: String
        /// The first byte, and the last one if it is not the file's.
        package let range: (first: UInt64, last: UInt64?)
        /// What its bytes are.
        package let content: Content
        /// The name of its key's file; `nil` for the key of all.
        package let keyFile: String?
    }

    /// What the bytes of a piece are.
    package enum Content: Sendable {
        /// The plaintext.
        case plain
        /// A ciphertext of a format with its values.
        case encrypted(Strategy)
        /// A film of Common Encryption, whose samples a file lists; without, its own boxes say where they are.
        case film(samples: String?)

        /// The lengths that keys can have in bytes; `nil` for any that the format's cipher has.
        package var keyByteCounts: [Int]? {
            switch self {
            case .plain: nil
            case .encrypted(let strategy): strategy.format.keyByteCounts
            case .film: ProtectedExtents.keyByteCounts
            }
        }

        /// The word for it in messages; `nil` of what needs no key.
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

    /// The max number of bytes of a document: 200 for each piece.
    package static let maxByteCount = 2_000_000
    /// The parts that an upload to S3 may have. Source: Amazon S3 User Guide, "Amazon S3 multipart upload limits".
    private static let maxPieceCount = 10_000
    /// Five members for each piece, with their names and ends.
    private static let maxNodeCount = 12 * maxPieceCount + 16

    /// The word for bytes that are not encrypted.
    private static let plainWord = "none"
    /// The word for a film of Common Encryption.
    private static let filmWord = "film"

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - strategy: Makes a strategy of its text and an IV, if there is one beside it.
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

    /// A range as HTTP counts it: `A-B`, both included, or `A-`.
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

    /// A name below the document's folder, with nothing that a terminal takes for a command.
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
    /// Makes a piece that is a whole film.
    package init(film file: String) {
        self.init(
            place: DescriptionPlace(line: 1, column: 1), file: file, range: (0, nil), content: .film(samples: nil),
            keyFile: nil)
    }

    /// The file that lists the samples, if there is one.
    package var samplesFile: String? {
        if case .film(let samples) = content { samples } else { nil }
    }

    /// The format of its bytes; `nil` of bytes that are not encrypted, and of a film.
    package var strategy: Strategy? {
        if case .encrypted(let strategy) = content { strategy } else { nil }
    }

    /// The place of the piece in its file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - known: What is encrypted of the piece, if it was found before.
    ///   - samples: Reads a list of samples of a file.
    /// - Returns: The place.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the file ends before; of a film, what is wrong with its boxes
    ///   or its samples.
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

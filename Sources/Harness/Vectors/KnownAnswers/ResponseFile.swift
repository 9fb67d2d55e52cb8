import ByteSources
import RandomAccess
import Support

/// A file of NIST's CAVP: sections, and in them cases of `NAME = value` lines, each starting with COUNT.
///
/// - Source: NIST, AESAVS (2002), section 6 and appendices; the files of pyca/cryptography are of the same form.
struct ResponseFile {
    let source: String
    private(set) var groups: [VectorGroup] = []
    private(set) var unsupported: [UnsupportedVector] = []

    /// Whether a line of the text is a section's name, which no JSON begins with.
    static func hasSections(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            let text = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
            return text == "[ENCRYPT]" || text == "[DECRYPT]" || text.hasPrefix("[Keylen=")
        }
    }

    init(_ bytes: [UInt8], path: String) throws(VectorFileError) {
        var reader = ResponseReader(path: path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw reader.error("\(bytes.count) bytes that are no text: expected JSON or a NIST .rsp file")
        }
        let cases = try reader.cases(of: text)
        let name = FileName.withoutFolder(path)
        self.source = "NIST CAVP, \(name)"
        var ids: Set<String> = []
        let kind = ResponseKind(comments: reader.comments, fileName: name)
        for (place, entry) in cases.enumerated() {
            var id = "\(name)/\(entry.section)/\(entry.count)"
            if !ids.insert(id).inserted { id += " (line \(entry.line))" }
            guard let kind else {
                throw reader.error(
                    "no cipher mode is named: expected CBC, CTR, ECB or another in a comment or the file's name",
                    line: cases[place].line)
            }
            guard let mode = kind.mode else {
                unsupported.append(UnsupportedVector(id: id, reason: "no strategy is \(kind.name)"))
                continue
            }
            let isMonteCarlo = kind.isMonteCarlo
            groups.append(try ResponseCase(entry, id: id, mode: mode, isMonteCarlo: isMonteCarlo, in: reader).group)
        }
    }
}

/// What a file tests, as its comments or its name say.
struct ResponseKind {
    let name: String
    let isMonteCarlo: Bool

    init?(comments: [String], fileName: String) {
        let places = comments + [fileName]
        let names = ["CBC", "CTR", "COUNTER", "ECB", "OFB", "CFB", "GCM", "CCM", "XTS", "OCB", "SIV"]
        let found = places.lazy.compactMap { place in names.first { place.uppercased().contains($0) } }.first
        guard let found else { return nil }
        self.name = found == "COUNTER" ? "CTR" : found
        self.isMonteCarlo = places.contains { $0.uppercased().contains("MCT") }
    }

    /// The mode, if our strategies have it.
    var mode: CipherMode? {
        switch name {
        case "CBC": .cbc
        case "CTR": isMonteCarlo ? nil : .ctr
        default: nil
        }
    }
}

/// Splits the text of an `.rsp` file into cases.
struct ResponseReader {
    /// One case: where it starts, and its members.
    struct Entry {
        let section: String
        let count: String
        let line: Int
        var members: [String: (value: String, line: Int)] = [:]
    }

    let path: String
    private(set) var comments: [String] = []

    init(path: String) {
        self.path = path
    }

    func error(_ reason: String, line: Int? = nil) -> VectorFileError {
        VectorFileError(
            kind: .malformed, file: path, pointer: line.map { "line \($0)" } ?? "", reason: reason)
    }

    /// The cases, in order.
    mutating func cases(of text: String) throws(VectorFileError) -> [Entry] {
        var entries: [Entry] = []
        var section = ""
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, rawLine) in lines.enumerated() {
            let line = rawLine.trimmed
            if line.isEmpty { continue }
            if line.hasPrefix("#") {
                comments.append(String(line.dropFirst()))
                continue
            }
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = String(line)
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmed.uppercased()
            let value = parts.count == 2 ? String(parts[1].trimmed) : ""
            guard parts.count == 2 || name == "FAIL" else {
                throw error(
                    "\"\(line.prefix(40))\": expected NAME = value, a section in brackets or a comment", line: index + 1
                )
            }
            if name == "COUNT" {
                entries.append(Entry(section: section, count: value, line: index + 1))
            } else if entries.isEmpty {
                throw error("\(name) before any COUNT: expected COUNT = 0 first", line: index + 1)
            } else if entries[entries.count - 1].members.updateValue((value, index + 1), forKey: name) != nil {
                throw error("\(name) stands twice in a case: expected COUNT before the next one", line: index + 1)
            }
        }
        return entries
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return self[first...last]
    }
}

/// A case of an `.rsp` file as a group.
struct ResponseCase {
    let group: VectorGroup

    init(
        _ entry: ResponseReader.Entry, id: String, mode: CipherMode, isMonteCarlo: Bool, in reader: ResponseReader
    ) throws(VectorFileError) {
        func bytes(_ name: String) throws(VectorFileError) -> [UInt8] {
            guard let (value, line) = entry.members[name] else {
                throw reader.error("case \(entry.count) has no \(name): expected one", line: entry.line)
            }
            guard let bytes = Hexadecimal.decode(value, allowsUpperCase: true) else {
                throw reader.error(
                    "\(name) has \(value.utf8.count) characters: expected hex digits, an even number of them",
                    line: line)
            }
            return bytes
        }
        func check<Value>(
            _ name: String, _ make: () throws(DecryptionError) -> Value
        ) throws(VectorFileError) -> Value {
            do {
                return try make()
            } catch {
                throw reader.error("\(error)", line: entry.members[name]?.line ?? entry.line)
            }
        }
        guard ["[ENCRYPT]", "[DECRYPT]"].contains(entry.section) else {
            throw reader.error(
                "case \(entry.count) in section \"\(entry.section)\": expected [ENCRYPT] or [DECRYPT]",
                line: entry.line)
        }
        let (keyBytes, ivBytes) = (try bytes("KEY"), try bytes("IV"))
        let (plaintext, ciphertext) = (try bytes("PLAINTEXT"), try bytes("CIPHERTEXT"))
        let key = try check("KEY") { () throws(DecryptionError) in try SecretKey(keyBytes) }
        let iv = try check("IV") { () throws(DecryptionError) in try Block(ivBytes) }
        guard plaintext.count == ciphertext.count, mode == .ctr || plaintext.count % 16 == 0 else {
            throw reader.error(
                "\(plaintext.count) bytes of plaintext and \(ciphertext.count) of ciphertext: expected as many, "
                    + "and in CBC whole blocks", line: entry.line)
        }
        let source = "\(FileName.withoutFolder(reader.path)), \(entry.section), COUNT = \(entry.count)"
        let strategy: Strategy = mode == .ctr ? .ctr(iv: iv) : .cbcContinuous(iv: iv, padding: .none)
        guard isMonteCarlo else {
            self.group =
                KnownAnswer(
                    id: id, source: source, flags: [.knownAnswer], strategy: strategy, key: key,
                    ciphertext: ciphertext, outcome: .success(plaintext)
                ).group
            return
        }
        let isDecryption = entry.section == "[DECRYPT]"
        let step = try check("PLAINTEXT") { () throws(DecryptionError) in
            var run = MonteCarlo(
                isDecryption ? .decrypt : .encrypt, key: keyBytes, iv: iv,
                input: try Block(isDecryption ? ciphertext : plaintext))
            return try run.step()
        }
        // The inputs of a step are made of its results; if the last one is not the file's, they are not its inputs.
        let name = isDecryption ? "PLAINTEXT" : "CIPHERTEXT"
        guard step.outputs.suffix(16).elementsEqual(isDecryption ? plaintext : ciphertext) else {
            throw reader.error(
                "not what a step of the Monte Carlo test comes to: \(Hexadecimal.encode(step.outputs.suffix(16)))",
                line: entry.members[name]?.line)
        }
        let flags: [VectorFlag] = [.monteCarlo, .knownAnswer]
        let last = UInt64(step.outputs.count) - 16
        self.group = VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key,
            ciphertext: MemorySource(isDecryption ? step.inputs : step.outputs),
            plaintext: GroupPlaintext(isDecryption ? step.outputs : step.inputs),
            patterns: [
                .product(offsets: [0...0, last - 1...last], counts: [16, 33], flags: flags),
                .product(offsets: [0...0], toEnd: [0], flags: flags),
            ])
    }
}

/// A case of somebody else's suite, which knows whole messages only.
struct KnownAnswer {
    let id: String
    let source: String
    let flags: [VectorFlag]
    let strategy: Strategy
    let key: SecretKey
    let ciphertext: [UInt8]
    /// What it decrypts to, or why it does not.
    let outcome: Result<[UInt8], OpenFailure>

    struct OpenFailure: Error {
        let name: ErrorName
    }

    /// The case as a group that reads the message whole, around its first block, by its last byte, and past its end.
    var group: VectorGroup {
        switch outcome {
        case .failure(let failure):
            return VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key,
                ciphertext: MemorySource(ciphertext), plaintext: GroupPlaintext([]), opening: .fails(failure.name),
                reads: [])
        case .success(let plaintext):
            return VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key,
                ciphertext: MemorySource(ciphertext), plaintext: GroupPlaintext(plaintext),
                patterns: Self.patterns(of: UInt64(plaintext.count), flags: flags))
        }
    }

    static func patterns(of byteCount: UInt64, flags: [VectorFlag]) -> [ReadPattern] {
        let offsets = [0, 1, 15, 16, 17, byteCount - min(1, byteCount)].filter { $0 < byteCount || $0 == 0 }
        return [
            .product(offsets: [0...0], toEnd: [0, 1], flags: flags),
            .product(offsets: Set(offsets).sorted().map { $0...$0 }, counts: [1, 16, 17], flags: flags),
        ]
    }
}

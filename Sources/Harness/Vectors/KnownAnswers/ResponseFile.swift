import ByteSources
import RandomAccess
import Support

/// A file of NIST's CAVP: sections with cases of `NAME = value` lines, each of which starts with COUNT.
///
/// - Source: NIST, AESAVS (2002), section 6 and appendices; the files of pyca/cryptography have the same form.
struct ResponseFile {
    let source: String
    private(set) var groups: [VectorGroup] = []
    private(set) var unsupported: [UnsupportedVector] = []

    /// Returns whether a line of the text is a section's name, which no line of JSON is.
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
        for entry in cases {
            var id = "\(name)/\(entry.section)/\(entry.count)"
            if !ids.insert(id).inserted { id += " (line \(entry.line))" }
            guard let kind else {
                throw reader.error(
                    "no cipher mode is named: expected CBC, CTR, ECB or another in a comment or the file's name",
                    line: entry.line)
            }
            guard let cipher = kind.cipher else {
                unsupported.append(
                    UnsupportedVector(id: id, reason: "NIST's files of \(kind.name) are not read: expected CBC or CTR"))
                continue
            }
            groups.append(try reader.group(entry, id: id, cipher: cipher, isMonteCarlo: kind.isMonteCarlo))
        }
    }
}

/// The subject of a file, according to its comments or its name.
struct ResponseKind {
    let name: String
    let isMonteCarlo: Bool

    init?(comments: [String], fileName: String) {
        let texts = comments + [fileName]
        let names = ["CBC", "CTR", "COUNTER", "ECB", "OFB", "CFB", "GCM", "CCM", "XTS", "OCB", "SIV"]
        let found = texts.lazy.compactMap { text in names.first { text.uppercased().contains($0) } }.first
        guard let found else { return nil }
        self.name = found == "COUNTER" ? "CTR" : found
        self.isMonteCarlo = texts.contains { $0.uppercased().contains("MCT") }
    }

    /// The cipher, if our strategies use it.
    var cipher: Cipher? {
        switch name {
        case "CBC": .aesCBC
        case "CTR": isMonteCarlo ? nil : .aesCTR
        default: nil
        }
    }
}

/// Splits the text of an `.rsp` file into cases.
struct ResponseReader {
    /// A case, with the line where it starts and its members.
    struct Entry {
        let section: String
        let count: String
        let line: Int
        var members: [String: (value: String, line: Int)] = [:]
    }

    let path: String
    private(set) var comments: [String] = []

    func error(_ reason: String, line: Int? = nil) -> VectorFileError {
        VectorFileError(
            kind: .malformed, file: path, pointer: line.map { "line \($0)" } ?? "", reason: reason)
    }

    /// Returns the cases in order.
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

extension ResponseReader {
    /// Returns a case as a group.
    func group(
        _ entry: Entry, id: String, cipher: Cipher, isMonteCarlo: Bool
    ) throws(VectorFileError) -> VectorGroup {
        func bytes(_ name: String) throws(VectorFileError) -> [UInt8] {
            guard let (value, line) = entry.members[name] else {
                throw error("case \(entry.count) has no \(name): expected one", line: entry.line)
            }
            guard let bytes = Hexadecimal.decode(value, allowsUpperCase: true) else {
                throw error(
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
                throw self.error("\(error)", line: entry.members[name]?.line ?? entry.line)
            }
        }
        guard ["[ENCRYPT]", "[DECRYPT]"].contains(entry.section) else {
            throw error(
                "case \(entry.count) in section \"\(entry.section)\": expected [ENCRYPT] or [DECRYPT]",
                line: entry.line)
        }
        let (keyBytes, ivBytes) = (try bytes("KEY"), try bytes("IV"))
        let (plaintext, ciphertext) = (try bytes("PLAINTEXT"), try bytes("CIPHERTEXT"))
        let key = try check("KEY") { () throws(DecryptionError) in try SecretKey(keyBytes) }
        let iv = try check("IV") { () throws(DecryptionError) in try Block(ivBytes) }
        guard plaintext.count == ciphertext.count, cipher == .aesCTR || plaintext.count % 16 == 0 else {
            throw error(
                "\(plaintext.count) bytes of plaintext and \(ciphertext.count) of ciphertext: expected as many, "
                    + "and in CBC whole blocks", line: entry.line)
        }
        let source = "\(FileName.withoutFolder(path)), \(entry.section), COUNT = \(entry.count)"
        let strategy: Strategy = .whole(cipher, iv: iv, padding: Padding.none)
        guard isMonteCarlo else {
            return VectorGroup(
                id: id, source: source, strategy: strategy, key: key, ciphertext: ciphertext, message: plaintext)
        }
        let isDecryption = entry.section == "[DECRYPT]"
        let step = try check("PLAINTEXT") { () throws(DecryptionError) in
            var run = MonteCarlo(
                isDecryption ? .decrypt : .encrypt, key: keyBytes, iv: iv,
                input: try Block(isDecryption ? ciphertext : plaintext))
            return try run.step()
        }
        // The inputs of a step are made from its results. If the last result differs from the file's, the inputs are
        // wrong, too.
        let name = isDecryption ? "PLAINTEXT" : "CIPHERTEXT"
        guard step.outputs.suffix(16).elementsEqual(isDecryption ? plaintext : ciphertext) else {
            throw error(
                "not what a step of the Monte Carlo test comes to: \(Hexadecimal.encode(step.outputs.suffix(16)))",
                line: entry.members[name]?.line)
        }
        let flags: [VectorFlag] = [.monteCarlo, .knownAnswer]
        let last = UInt64(step.outputs.count) - 16
        return VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key,
            ciphertext: MemorySource(isDecryption ? step.inputs : step.outputs),
            plaintext: GroupPlaintext(isDecryption ? step.outputs : step.inputs),
            patterns: [
                .product(offsets: [0...0, last - 1...last], counts: [16, 33], flags: flags),
                .product(offsets: [0...0], toEnd: [0], flags: flags),
            ])
    }
}

extension VectorGroup {
    /// A case of another suite, which only knows whole messages. It gets reads of the whole, around the first block, of
    /// the last byte, and past the end.
    init(
        id: String, source: String, flags: [VectorFlag] = [.knownAnswer], strategy: Strategy, key: SecretKey,
        ciphertext: [UInt8], message: [UInt8]
    ) {
        let byteCount = UInt64(message.count)
        let offsets = [0, 1, 15, 16, 17, byteCount - min(1, byteCount)].filter { $0 < byteCount || $0 == 0 }
        self.init(
            id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: MemorySource(ciphertext),
            plaintext: GroupPlaintext(message),
            patterns: [
                .product(offsets: [0...0], toEnd: [0, 1], flags: flags),
                .product(offsets: Set(offsets).sorted().map { $0...$0 }, counts: [1, 16, 17], flags: flags),
            ])
    }
}

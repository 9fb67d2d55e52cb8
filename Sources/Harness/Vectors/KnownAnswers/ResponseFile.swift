internal import RandomAccess
internal import Support

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

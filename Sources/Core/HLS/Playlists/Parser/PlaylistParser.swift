/// Parses a playlist line by line. Extensions handle the tags.
struct PlaylistParser {
    /// The kind of the playlist, as the tags so far show.
    enum Side {
        case media
        case master
    }

    let limits: PlaylistLimits
    var side: Side?
    var version: UInt64 = 1
    var isVersionSeen = false
    /// The problem of lines with variables, once EXT-X-DEFINE has occurred.
    var variables: PlaylistProblem?

    var media = MediaState()
    var keys = KeyState()
    var master = MasterState()

    private(set) var problems: [PlaylistProblem] = []
    private var known: Set<PlaylistProblem> = []

    init(limits: PlaylistLimits) {
        self.limits = limits
    }

    mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(PlaylistProblem) -> Playlist {
        try readLines(of: bytes) { _ in true }
        if side == .master { return .master(try finishMaster()) }
        return .media(try finishMedia())
    }

    /// Returns the kind of playlist that the first lines show; `nil` if they do not tell.
    mutating func side(_ bytes: UnsafeRawBufferPointer) throws(PlaylistProblem) -> Side? {
        try readLines(of: bytes) { $0 == nil }
        return side
    }

    /// Reads line by line as long as `goesOn` accepts the kind known so far.
    private mutating func readLines(
        of bytes: UnsafeRawBufferPointer, while goesOn: (Side?) -> Bool
    ) throws(PlaylistProblem) {
        try checkStart(bytes)
        var lines = PlaylistLines(bytes, longestLine: limits.lineByteCount)
        var isFirst = true
        while goesOn(side), var line = try lines.next() {
            if line.problem == nil, line.text.contains("{$") { line.problem = variables }
            if isFirst {
                isFirst = false
                guard line.textWithoutEnd == "#EXTM3U" else { throw Self.notAPlaylist }
                try noteEnd(of: line, "EXTM3U")
                continue
            }
            if let problem = line.problem { try note(problem) }
            if line.text.isEmpty { continue }
            if line.text.hasPrefix("#") {
                try tag(line)
            } else {
                try uri(line)
            }
        }
    }

    /// Records a problem, once.
    ///
    /// - Throws: `PlaylistProblem` if there are too many of them.
    mutating func note(_ problem: PlaylistProblem) throws(PlaylistProblem) {
        guard known.insert(problem).inserted else { return }
        guard problems.count < limits.problemCount else {
            throw PlaylistProblem(
                line: problem.line, kind: .tooManyProblems, found: "more than \(limits.problemCount) problems",
                expected: "a playlist")
        }
        problems.append(problem)
    }

    /// Records the kind of playlist that a tag belongs to.
    ///
    /// - Throws: `PlaylistProblem` after tags of the other kind. Source: RFC 8216, section 4.1.
    mutating func take(_ side: Side, _ name: String, _ line: Int) throws(PlaylistProblem) {
        guard let before = self.side, before != side else {
            self.side = side
            return
        }
        throw PlaylistProblem(
            line: line, kind: .mixedTags,
            found: "\(name) of a \(side == .media ? "media" : "master") playlist in a "
                + (before == .media ? "media" : "master") + " playlist",
            expected: "tags of one of them")
    }

    private static let notAPlaylist = PlaylistProblem(
        line: 1, kind: .notAPlaylist, found: "a first line that is not #EXTM3U", expected: "#EXTM3U")

    /// Recognises garbage by its first bytes, however long its first line is.
    private func checkStart(_ bytes: UnsafeRawBufferPointer) throws(PlaylistProblem) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.starts(with: [0xFF, 0xFE])
            || bytes.starts(with: [0xFE, 0xFF])
        {
            throw PlaylistProblem(
                line: 1, kind: .byteOrderMark, found: "a byte order mark", expected: "#EXTM3U as the first bytes")
        }
        guard bytes.starts(with: "#EXTM3U".utf8) else { throw Self.notAPlaylist }
    }

    private mutating func tag(_ line: PlaylistLine) throws(PlaylistProblem) {
        let text = line.textWithoutEnd
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        let name = String(text[text.index(after: text.startIndex)..<(colon ?? text.endIndex)])
        let value = colon.map { text[text.utf8.index(after: $0)...] } ?? ""
        if Self.mediaTags.contains(name) || Self.masterTags.contains(name) || name == "EXT-X-VERSION" {
            try noteEnd(of: line, name)
        }
        if try commonTag(name, value, line.number) { return }
        if try mediaTag(name, value, line) { return }
        if try masterTag(name, value, line.number) { return }
        try checkSpelling(of: name, line.number)
    }

    /// Reports trailing white space, which changes nothing. A title may end with it.
    private mutating func noteEnd(of line: PlaylistLine, _ name: String) throws(PlaylistProblem) {
        guard line.textWithoutEnd.endIndex != line.text.endIndex, name != "EXTINF" else { return }
        try note(
            PlaylistProblem(
                line: line.number, kind: .whitespace, found: "white space behind \(name)", expected: "the line's end"))
    }

    /// Checks the spelling of a tag. Tags are case-sensitive, and parsers ignore unknown ones: a key tag in lower case
    /// would have no effect.
    private mutating func checkSpelling(of name: String, _ line: Int) throws(PlaylistProblem) {
        guard name.utf8.count <= 64 else { return }
        let folded = name.uppercased().filter { $0 != " " && $0 != "\t" }
        guard folded != name, folded == "EXTINF" || folded.hasPrefix("EXT-X-"), Self.importantTags.contains(folded)
        else { return }
        let problem = PlaylistProblem(
            line: line, kind: .misspelledTag, found: "a tag that is \(folded) but for letters or white space",
            expected: "#\(folded)")
        try note(problem)
        if folded == "EXT-X-KEY" { keys.breakAll(problem) }
    }

    private static let importantTags: Set<String> = [
        "EXTINF", "EXT-X-BYTERANGE", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-MEDIA-SEQUENCE", "EXT-X-STREAM-INF",
    ]

    private mutating func commonTag(
        _ name: String, _ value: Substring, _ line: Int
    ) throws(PlaylistProblem) -> Bool {
        switch name {
        case "EXTM3U":
            try note(
                PlaylistProblem(
                    line: line, kind: .duplicateTag, found: "EXTM3U again", expected: "it in the first line only"))
        case "EXT-X-VERSION":
            guard !isVersionSeen else {
                try note(
                    PlaylistProblem(
                        line: line, kind: .duplicateTag, found: "EXT-X-VERSION again", expected: "it once"))
                return true
            }
            isVersionSeen = true
            guard let number = DecimalText.integer(value), number > 0 else {
                try note(
                    PlaylistProblem(
                        line: line, kind: .invalidNumber, found: "EXT-X-VERSION \(DecimalText.excerpt(value))",
                        expected: "an integer from 1 on"))
                return true
            }
            version = number
            // RFC 8216 is version 7; the drafts of its second edition reach 13.
            if number > 13 {
                try note(
                    PlaylistProblem(
                        line: line, kind: .unsupportedVersion, found: "EXT-X-VERSION \(number)",
                        expected: "at most 13"))
            }
        case "EXT-X-DEFINE":
            let problem = PlaylistProblem(
                line: line, kind: .unsupportedTag, found: "EXT-X-DEFINE, whose variables are not replaced",
                expected: "a playlist without variables")
            variables = variables ?? problem
            try note(problem)
        default:
            return false
        }
        return true
    }

    private mutating func uri(_ line: PlaylistLine) throws(PlaylistProblem) {
        let text = line.textWithoutEnd
        var problem = line.problem
        if text.endIndex != line.text.endIndex || text.first == " " || text.first == "\t" {
            let found = PlaylistProblem(
                line: line.number, kind: .whitespace, found: "white space around a URI", expected: "the URI alone")
            // Trailing white space changes nothing; leading white space may be meant as a comment.
            try note(found)
            if text.isEmpty { return }
            if text.first == " " || text.first == "\t" { problem = problem ?? found }
        }
        if side == .master {
            // Otherwise a playlist of that name would be opened.
            if let variables, problem == variables { throw variables }
            try variantURI(String(text), line.number)
        } else {
            side = .media
            try segment(String(text), line.number, problem)
        }
    }
}

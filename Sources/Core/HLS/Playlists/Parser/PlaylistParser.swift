/// Reads a playlist line by line. The tags are handled in extensions.
struct PlaylistParser {
    /// What the tags so far make of the playlist.
    enum Side {
        case media
        case master
    }

    let limits: PlaylistLimits
    var side: Side?
    var version: UInt64 = 1
    var isVersionSeen = false
    /// The problem of lines with variables, once EXT-X-DEFINE was there.
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

    /// What kind of playlist the first lines make; `nil` if they do not tell.
    mutating func side(_ bytes: UnsafeRawBufferPointer) throws(PlaylistProblem) -> Side? {
        try readLines(of: bytes) { $0 == nil }
        return side
    }

    /// Reads line by line for as long as `goesOn` says so of the kind that is known before each.
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

    /// Keeps a problem, once.
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

    /// A tag of one kind of playlist was seen.
    ///
    /// - Throws: `PlaylistProblem` if the other kind's were before. Source: RFC 8216, section 4.1.
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

    /// Garbage is recognised by its first bytes, whatever the length of its first line.
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

    /// White space at a line's end changes nothing, and a title may end with it.
    private mutating func noteEnd(of line: PlaylistLine, _ name: String) throws(PlaylistProblem) {
        guard line.textWithoutEnd.endIndex != line.text.endIndex, name != "EXTINF" else { return }
        try note(
            PlaylistProblem(
                line: line.number, kind: .whitespace, found: "white space behind \(name)", expected: "the line's end"))
    }

    /// Tags are case-sensitive, and unknown ones are ignored: a key in small letters would silently be none.
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
            // RFC 8216 is version 7; its second edition's drafts reach 13.
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
            // At the end it changes nothing; at the start it may have been meant to make a comment.
            try note(found)
            if text.isEmpty { return }
            if text.first == " " || text.first == "\t" { problem = problem ?? found }
        }
        if side == .master {
            // A playlist of that name would be looked for.
            if let variables, problem == variables { throw variables }
            try variantURI(String(text), line.number)
        } else {
            side = .media
            try segment(String(text), line.number, problem)
        }
    }
}

import Glibc
import HLS
import RandomAccess
import SystemPackage
import TestSupport
import Testing

/// A playlist with one thing wrong.
struct BadPlaylist: CustomTestStringConvertible {
    let name: String
    let text: String
    let kind: PlaylistProblem.Kind
    let line: Int
    /// The segments that cannot be served.
    let broken: [Bool]

    var testDescription: String { name }

    init(_ name: String, _ lines: [String], _ kind: PlaylistProblem.Kind, line: Int, broken: [Bool]) {
        self.name = name
        self.text = (["#EXTM3U"] + lines + [""]).joined(separator: "\n")
        self.kind = kind
        self.line = line
        self.broken = broken
    }

    /// A key's tag with two segments behind it, and a third one behind a good key.
    static func key(_ name: String, _ attributes: String, _ kind: PlaylistProblem.Kind) -> BadPlaylist {
        BadPlaylist(
            name,
            [
                "#EXTINF:1,", "first", "#EXT-X-KEY:" + attributes, "#EXTINF:1,", "a", "#EXTINF:1,", "b",
                #"#EXT-X-KEY:METHOD=AES-128,URI="k""#, "#EXTINF:1,", "c",
            ], kind, line: 4, broken: [false, true, true, false])
    }

    static let zeros = String(repeating: "0", count: 32)

    static let keys: [BadPlaylist] = [
        .key("curly quotes", "METHOD=AES-128,URI=\u{201C}k\u{201D}", .curlyQuotes),
        .key(
            "curly quotes as article 003 has them", "METHOD=AES-128,URI=\u{201D}customurl-file://h/k\u{201D}",
            .curlyQuotes),
        .key("a curly quote at the end", "METHOD=AES-128,URI=\"k\u{201D}", .curlyQuotes),
        .key(
            "a curly quote at the end, more behind", "METHOD=AES-128,URI=\"k\u{201D},KEYFORMAT=\"identity\"",
            .curlyQuotes),
        .key("an IV without digits", "METHOD=AES-128,URI=\"k\",IV=0x", .invalidIV),
        .key("an IV of 31 digits", "METHOD=AES-128,URI=\"k\",IV=0x" + zeros.dropLast(), .invalidIV),
        .key("an IV of 33 digits", "METHOD=AES-128,URI=\"k\",IV=0x0" + zeros, .invalidIV),
        .key("an IV without 0x", "METHOD=AES-128,URI=\"k\",IV=" + zeros, .invalidIV),
        .key("an IV with another letter", "METHOD=AES-128,URI=\"k\",IV=0xg" + zeros.dropLast(), .invalidIV),
        .key("an IV with full-width digits", "METHOD=AES-128,URI=\"k\",IV=0x\u{FF10}" + zeros.dropLast(), .invalidIV),
        .key("an IV with a sign", "METHOD=AES-128,URI=\"k\",IV=0x+" + zeros.dropLast(), .invalidIV),
        .key("a quoted IV", "METHOD=AES-128,URI=\"k\",IV=\"0x\(zeros)\"", .quoted),
        .key("a quoted METHOD", "METHOD=\"AES-128\",URI=\"k\"", .quoted),
        .key("a URI without quotes", "METHOD=AES-128,URI=k", .unquoted),
        .key("a KEYFORMAT without quotes", "METHOD=AES-128,URI=\"k\",KEYFORMAT=identity", .unquoted),
        .key("no METHOD", "URI=\"k\"", .missingAttribute),
        .key("no URI", "METHOD=AES-128", .missingAttribute),
        .key("an empty URI", "METHOD=AES-128,URI=\"\"", .invalidAttribute),
        .key("an unknown METHOD", "METHOD=AES-129,URI=\"k\"", .unsupportedMethod),
        .key("METHOD in small letters", "METHOD=aes-128,URI=\"k\"", .unsupportedMethod),
        .key("SAMPLE-AES", "METHOD=SAMPLE-AES,URI=\"k\"", .unsupportedMethod),
        .key("a foreign KEYFORMAT", "METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.example\"", .unsupportedKeyFormat),
        .key(
            "KEYFORMATVERSIONS without 1", "METHOD=AES-128,URI=\"k\",KEYFORMATVERSIONS=\"2/3\"", .unsupportedKeyFormat),
        .key(
            "KEYFORMATVERSIONS that are none", "METHOD=AES-128,URI=\"k\",KEYFORMATVERSIONS=\"1//2\"", .invalidAttribute),
        .key("an attribute twice", "METHOD=AES-128,URI=\"k\",URI=\"l\"", .duplicateAttribute),
        .key("no attributes", "", .missingAttribute),
        .key("a list that ends with a comma", "METHOD=AES-128,", .brokenAttributeList),
        .key("a list that starts with a comma", ",METHOD=AES-128,URI=\"k\"", .brokenAttributeList),
        .key("a list that breaks off in a name", "METHOD=AES-128,UR", .brokenAttributeList),
        .key("a list that breaks off before a value", "METHOD=AES-128,URI=", .brokenAttributeList),
        .key("a list that breaks off in a quoted string", "METHOD=AES-128,URI=\"k", .unterminatedQuote),
        .key("text after a quoted string", "METHOD=AES-128,URI=\"k\"x", .brokenAttributeList),
        .key("a quotation mark in a value", "METHOD=AES\"-128,URI=\"k\"", .brokenAttributeList),
        .key("an attribute's name in small letters", "method=AES-128,URI=\"k\"", .brokenAttributeList),
        .key("white space after a comma", "METHOD=AES-128, URI=\"k\"", .whitespace),
        .key("white space before an equals sign", "METHOD =AES-128,URI=\"k\"", .whitespace),
        .key("white space in a value", "METHOD=AES-128 ,URI=\"k\"", .whitespace),
        .key("a control character", "METHOD=AES-128,URI=\"k\u{7}\"", .controlCharacter),
    ]

    static let others: [BadPlaylist] = [
        BadPlaylist(
            "a key's tag in small letters", ["#ext-x-key:METHOD=AES-128,URI=\"k\"", "#EXTINF:1,", "a"], .misspelledTag,
            line: 2, broken: [true]),
        BadPlaylist(
            "a key's tag with a space", ["#EXT-X-KEY :METHOD=AES-128,URI=\"k\"", "#EXTINF:1,", "a"], .misspelledTag,
            line: 2, broken: [true]),
        BadPlaylist(
            "METHOD=NONE with a URI", ["#EXT-X-KEY:METHOD=NONE,URI=\"k\"", "#EXTINF:1,", "a"], .invalidAttribute,
            line: 2, broken: [false]),
        BadPlaylist(
            "a byte range without a predecessor", ["#EXTINF:1,", "#EXT-X-BYTERANGE:5", "a", "#EXTINF:1,", "b"],
            .byteRangeWithoutPredecessor, line: 3, broken: [true, false]),
        BadPlaylist(
            "a byte range after one of another resource",
            ["#EXTINF:1,", "#EXT-X-BYTERANGE:5@0", "a", "#EXTINF:1,", "#EXT-X-BYTERANGE:5", "b"],
            .byteRangeWithoutPredecessor, line: 6, broken: [false, true]),
        BadPlaylist(
            "a byte range after a whole resource", ["#EXTINF:1,", "a", "#EXTINF:1,", "#EXT-X-BYTERANGE:5", "a"],
            .byteRangeWithoutPredecessor, line: 5, broken: [false, true]),
        BadPlaylist(
            "a byte range after a broken one",
            ["#EXTINF:1,", "#EXT-X-BYTERANGE:5@x", "a", "#EXTINF:1,", "#EXT-X-BYTERANGE:5", "a"], .invalidByteRange,
            line: 3, broken: [true, true]),
        BadPlaylist(
            "a byte range of 2^64", ["#EXTINF:1,", "#EXT-X-BYTERANGE:18446744073709551616@0", "a"], .invalidByteRange,
            line: 3, broken: [true]),
        BadPlaylist(
            "a byte range that ends behind 2^64", ["#EXTINF:1,", "#EXT-X-BYTERANGE:2@18446744073709551615", "a"],
            .invalidByteRange, line: 3, broken: [true]),
        BadPlaylist(
            "a byte range that follows one up to 2^64",
            ["#EXTINF:1,", "#EXT-X-BYTERANGE:1@18446744073709551614", "a", "#EXTINF:1,", "#EXT-X-BYTERANGE:9", "a"],
            .invalidByteRange, line: 6, broken: [false, true]),
        BadPlaylist(
            "two byte ranges", ["#EXTINF:1,", "#EXT-X-BYTERANGE:1@0", "#EXT-X-BYTERANGE:2@0", "a"], .duplicateTag,
            line: 4, broken: [true]),
        BadPlaylist(
            "a negative byte range", ["#EXTINF:1,", "#EXT-X-BYTERANGE:-1@0", "a"], .invalidByteRange, line: 3,
            broken: [true]),
        BadPlaylist(
            "a media sequence number of 2^64",
            [
                "#EXT-X-MEDIA-SEQUENCE:18446744073709551616", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:1,", "a",
                "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(zeros)", "#EXTINF:1,", "b",
            ], .invalidNumber, line: 2, broken: [true, false]),
        BadPlaylist(
            "media sequence numbers that pass 2^64",
            ["#EXT-X-MEDIA-SEQUENCE:18446744073709551615", "#EXTINF:1,", "a", "#EXTINF:1,", "b"], .invalidNumber,
            line: 6, broken: [false, true]),
        BadPlaylist(
            "two media sequence numbers",
            [
                "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-MEDIA-SEQUENCE:2", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
                "#EXTINF:1,", "a",
            ], .duplicateTag, line: 3, broken: [true]),
        BadPlaylist(
            "a media sequence number behind a segment",
            ["#EXTINF:1,", "a", "#EXT-X-MEDIA-SEQUENCE:2", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:1,", "b"],
            .misplacedTag, line: 4, broken: [false, true]),
        BadPlaylist(
            "a target duration that is none", ["#EXT-X-TARGETDURATION:ten", "#EXTINF:1,", "a"], .invalidNumber, line: 2,
            broken: [false]),
        BadPlaylist("a duration that is none", ["#EXTINF:ten,", "a"], .invalidDuration, line: 2, broken: [false]),
        BadPlaylist("a negative duration", ["#EXTINF:-1,", "a"], .invalidDuration, line: 2, broken: [false]),
        BadPlaylist("an infinite duration", ["#EXTINF:inf,", "a"], .invalidDuration, line: 2, broken: [false]),
        BadPlaylist("a duration with an exponent", ["#EXTINF:1e9,", "a"], .invalidDuration, line: 2, broken: [false]),
        BadPlaylist("a duration without a comma", ["#EXTINF:1", "a"], .invalidDuration, line: 2, broken: [false]),
        BadPlaylist(
            "a segment without a duration", ["a", "#EXTINF:1,", "b"], .missingDuration, line: 2, broken: [true, false]),
        BadPlaylist(
            "a duration without a segment", ["#EXTINF:1,", "a", "#EXTINF:1,"], .missingURI, line: 4, broken: [false]),
        BadPlaylist("two durations", ["#EXTINF:1,", "#EXTINF:2,", "a"], .duplicateTag, line: 3, broken: [false]),
        BadPlaylist(
            "an unknown version", ["#EXT-X-VERSION:99", "#EXTINF:1,", "a"], .unsupportedVersion, line: 2,
            broken: [false]),
        BadPlaylist(
            "a version that is none", ["#EXT-X-VERSION:3.0", "#EXTINF:1,", "a"], .invalidNumber, line: 2,
            broken: [false]),
        BadPlaylist(
            "an unknown playlist type", ["#EXT-X-PLAYLIST-TYPE:LIVE", "#EXTINF:1,", "a"], .invalidAttribute, line: 2,
            broken: [false]),
        BadPlaylist(
            "an encrypted section without an IV",
            ["#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXT-X-MAP:URI=\"i\"", "#EXTINF:1,", "a"], .missingIV, line: 3,
            broken: [false]),
        BadPlaylist(
            "a section without a URI", ["#EXT-X-MAP:BYTERANGE=\"1@0\"", "#EXTINF:1,", "a"], .missingAttribute, line: 2,
            broken: [false]),
        BadPlaylist(
            "a section's byte range without quotes", ["#EXT-X-MAP:URI=\"i\",BYTERANGE=1@0", "#EXTINF:1,", "a"],
            .unquoted, line: 2, broken: [false]),
        BadPlaylist(
            "a section's byte range that is none", ["#EXT-X-MAP:URI=\"i\",BYTERANGE=\"@\"", "#EXTINF:1,", "a"],
            .invalidByteRange, line: 2, broken: [false]),
        BadPlaylist(
            "a gap", ["#EXTINF:1,", "#EXT-X-GAP", "a", "#EXTINF:1,", "b"], .gap, line: 3, broken: [true, false]),
        BadPlaylist(
            "variables",
            ["#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", "#EXTINF:1,", "a", "#EXTINF:1,", "{$a}", "#EXTINF:1,", "b"],
            .unsupportedTag, line: 2, broken: [false, true, false]),
        BadPlaylist(
            "a variable in a key's URI",
            [
                "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"{$a}\"", "#EXTINF:1,", "a",
                "#EXT-X-KEY:METHOD=NONE", "#EXTINF:1,", "b",
            ], .unsupportedTag, line: 2, broken: [true, false]),
        BadPlaylist(
            "a control character in a URI", ["#EXTINF:1,", "a\u{0}b", "#EXTINF:1,", "b"], .controlCharacter, line: 3,
            broken: [true, false]),
        BadPlaylist(
            "a control character of the upper half", ["#EXTINF:1,\u{85}", "a"], .controlCharacter, line: 2,
            broken: [false]),
        BadPlaylist("white space before a URI", ["#EXTINF:1,", " a"], .whitespace, line: 3, broken: [true]),
        BadPlaylist("white space after a URI", ["#EXTINF:1,", "a "], .whitespace, line: 3, broken: [false]),
        BadPlaylist("a tab after a URI", ["#EXTINF:1,\t", "a\t"], .whitespace, line: 3, broken: [false]),
        BadPlaylist(
            "white space behind a key", ["#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(zeros) ", "#EXTINF:1, ", "a"],
            .whitespace, line: 2, broken: [false]),
        BadPlaylist(
            "white space behind a number",
            ["#EXT-X-MEDIA-SEQUENCE:5\t ", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:1,", "a"], .whitespace,
            line: 2, broken: [false]),
        BadPlaylist(
            "white space behind a byte range", ["#EXTINF:1,", "#EXT-X-BYTERANGE:5@0 ", "a"], .whitespace, line: 3,
            broken: [false]),
        BadPlaylist(
            "white space behind a gap", ["#EXTINF:1,", "#EXT-X-GAP ", "a"], .whitespace, line: 3, broken: [true]),
        BadPlaylist("a second EXTM3U", ["#EXTM3U", "#EXTINF:1,", "a"], .duplicateTag, line: 2, broken: [false]),
    ]
}

@Suite("playlists that are wrong")
struct BadPlaylistTests {
    @Test(
        "what is wrong is named with its line, and what is right can be served",
        arguments: BadPlaylist.keys + BadPlaylist.others)
    func bad(_ bad: BadPlaylist) throws {
        let playlist = try mediaPlaylist(bad.text)
        #expect(playlist.problems.first?.kind == bad.kind)
        #expect(playlist.problems.first?.line == bad.line)
        #expect(playlist.segments.map { $0.problem != nil } == bad.broken)
        // Lines that end otherwise change nothing.
        let windows = try mediaPlaylist(bad.text.replacing("\n", with: "\r\n"))
        #expect(windows.problems == playlist.problems)
    }

    @Test("white space at the ends of lines changes no value")
    func ends() throws {
        let lines = [
            "#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-MEDIA-SEQUENCE:7", "#EXT-X-I-FRAMES-ONLY",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:1,title", "#EXT-X-BYTERANGE:5@1", "a", "#EXT-X-ENDLIST",
        ]
        let playlist = try mediaPlaylist(lines.joined(separator: "\n"))
        for end in [" ", "\t", " \t "] {
            let other = try mediaPlaylist(lines.joined(separator: end + "\n") + end)
            #expect(other.segments == playlist.segments && other.mediaSequence == 7 && other.hasEndList)
            #expect(other.problems.map(\.kind) == Array(repeating: .whitespace, count: lines.count - 1))
        }
    }

    @Test("no message holds a key's URI", arguments: BadPlaylist.keys)
    func silence(_ bad: BadPlaylist) throws {
        let playlist = try mediaPlaylist(bad.text.replacing("\"k", with: "\"data:,sixteen-secrets"))
        for problem in playlist.problems { #expect(!problem.description.contains("sixteen")) }
    }

    @Test(
        "what is no playlist at all is refused, with the line",
        arguments: [
            ("", .notAPlaylist, 1), ("#EXTM3", .notAPlaylist, 1), ("#EXTM3U8\n", .notAPlaylist, 1),
            ("\n#EXTM3U\n", .notAPlaylist, 1), (" #EXTM3U\n", .notAPlaylist, 1), ("<html></html>", .notAPlaylist, 1),
            ("\u{FEFF}#EXTM3U\n", .byteOrderMark, 1),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", .mixedTags, 3),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:1,\nb\n", .mixedTags, 4),
            ("#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n", .unsupportedTag, 2),
            (
                "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{$a}\n", .unsupportedTag,
                2
            ),
        ] as [(String, PlaylistProblem.Kind, Int)])
    func refused(text: String, kind: PlaylistProblem.Kind, line: Int) {
        #expect {
            try Playlist.parse(text)
        } throws: {
            let problem = $0 as? PlaylistProblem
            return problem?.kind == kind && problem?.line == line
        }
    }

    @Test("a line that is too long is refused")
    func longLine() throws {
        let line = "#" + String(repeating: "x", count: 1 << 16 - 1)
        #expect(try mediaPlaylist("#EXTM3U\n\(line)\r\n\(line)").problems.isEmpty)
        for text in ["#EXTM3U\n\(line)x\n", "#EXTM3U\n\(line)x", "#EXTM3U\n\(line)xyz"] {
            #expect {
                try Playlist.parse(text)
            } throws: {
                let problem = $0 as? PlaylistProblem
                return problem?.kind == .lineTooLong && problem?.line == 2
            }
        }
    }

    @Test("bytes that are not UTF-8 are named, and keep only their own line from being used")
    func notUTF8() throws {
        let text = Array("#EXTM3U\n#EXTINF:1,Se".utf8) + [0xF1] + Array("or\na\n#EXTINF:1,\nb".utf8) + [0xFF]
        guard case .media(let playlist) = try Playlist.parse(text) else { return #expect(Bool(false)) }
        #expect(playlist.problems.map(\.kind) == [.notUTF8, .notUTF8])
        #expect(playlist.problems.map(\.line) == [2, 5])
        #expect(playlist.segments.map { $0.problem != nil } == [false, true])
    }

    @Test("a variant whose tag is wrong is named, and the others can be used")
    func variants() throws {
        guard
            case .master(let master) = try Playlist.parse(
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\u{201C}1\u{201D}\na\n#EXT-X-STREAM-INF:BANDWIDTH=2\nb\nc\n#EXT-X-STREAM-INF:BANDWIDTH=3\n"
            )
        else { return #expect(Bool(false)) }
        #expect(master.variants.map(\.uri) == ["a", "b"])
        #expect(master.problems.map(\.kind) == [.curlyQuotes, .misplacedTag, .missingURI])
        #expect(master.problems.map(\.line) == [2, 6, 7])
        #expect(try master.variant(.highestBandwidth).uri == "b")
    }

    @Test("100 MB of garbage are refused at once, whatever they look like")
    func garbage() throws {
        let byteCount = 100_000_000
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { buffer.deallocate() }
        let unlimited = PlaylistLimits(byteCount: .max)
        for (start, filling, kind) in [
            ("", 0x00, .notAPlaylist), ("#EXTM3U", 0x41, .lineTooLong), ("#EXTM3U\n", 0x00, .lineTooLong),
            ("#EXTM3U\r", 0x0D, .lineTooLong),
        ] as [(String, UInt8, PlaylistProblem.Kind)] {
            buffer.initializeMemory(as: UInt8.self, repeating: filling)
            buffer.copyBytes(from: start.utf8)
            #expect {
                try Playlist.parse(UnsafeRawBufferPointer(buffer))
            } throws: {
                ($0 as? PlaylistProblem)?.kind == .tooLarge
            }
            #expect {
                try Playlist.parse(UnsafeRawBufferPointer(buffer), limits: unlimited)
            } throws: {
                ($0 as? PlaylistProblem)?.kind == kind
            }
        }
        // Short lines: each is a segment without EXTINF, and the thousand and first is one too many.
        buffer.initializeMemory(as: UInt16.self, repeating: UInt16(littleEndian: 0x0A61))
        buffer.copyBytes(from: "#EXTM3U\n".utf8)
        #expect {
            try Playlist.parse(UnsafeRawBufferPointer(buffer), limits: unlimited)
        } throws: {
            let problem = $0 as? PlaylistProblem
            return problem?.kind == .tooManyProblems && problem?.line == 1002
        }
    }

    @Test("a file of 100 MB is refused unread")
    func largeFile() throws {
        let folder = try TemporaryFolder()
        try folder.file("large.m3u8", "#EXTM3U\n")
        truncate(folder.path("large.m3u8"), 100_000_000)
        #expect {
            try PlaylistFile(path: FilePath(folder.path("large.m3u8")))
        } throws: {
            guard let error = ($0 as? DecryptionError)?.partError?.error,
                case .invalid(let reason) = error.playlistError
            else { return false }
            return reason.hasPrefix("line 1: 100000000 bytes: expected")
        }
    }

    @Test("more segments than there may be are refused")
    func segments() {
        let text = "#EXTM3U\n" + String(repeating: "#EXTINF:1,\na\n", count: 11)
        #expect {
            try Playlist.parse(text, limits: PlaylistLimits(segmentCount: 10))
        } throws: {
            let problem = $0 as? PlaylistProblem
            return problem?.kind == .tooManySegments && problem?.line == 23
        }
    }
}

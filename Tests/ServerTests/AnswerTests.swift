import NIOHTTP1
import RandomAccess
import Testing

@testable import Server

@Suite("answers")
struct AnswerTests {
    private static let modified: Int64 = 784_111_777
    private static let content = ServedContent(
        contentType: "video/mp4", byteCount: 1000, entityTag: EntityTag(opaque: "abc"), modified: modified,
        makeReader: { () throws(DecryptionError) in throw .unsupported("reading in this test") })

    private static func answer(
        _ fields: HTTPHeaders, method: HTTPMethod = .GET, content: ServedContent = content, now: Int64 = modified + 100
    ) throws -> Answer {
        let head = HTTPRequestHead(version: .http1_0, method: method, uri: "/a", headers: fields)
        return Answer(to: try #require(Request(head)), with: FoundContent(content: content, name: "a"), now: now)
    }

    @Test("a part has the fields of a part")
    func part() throws {
        let answer = try Self.answer(["Range": "bytes=10-19"])
        #expect(answer.status == .partialContent && answer.body == 10..<20)
        let expected = [
            "Content-Range": "bytes 10-19/1000", "Content-Length": "10", "Accept-Ranges": "bytes",
            "Content-Type": "video/mp4", "ETag": "\"abc\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        #expect(answer.fields.values == expected)
    }

    @Test("HEAD says what GET of the whole would, whatever range is asked")
    func head() throws {
        let answer = try Self.answer(["Range": "bytes=10-19"], method: .HEAD)
        #expect(answer.status == .ok && answer.body == nil && answer.fields.values["Content-Length"] == "1000")
    }

    @Test("what cannot be served says how long the object is")
    func unsatisfiable() throws {
        let answer = try Self.answer(["Range": "bytes=1000-"])
        #expect(answer.status == .rangeNotSatisfiable && answer.body == nil)
        #expect(answer.fields.values["Content-Range"] == "bytes */1000")
    }

    @Test(
        "conditions decide in their order",
        arguments: [
            (["If-None-Match": "\"abc\""], 304), (["If-None-Match": "W/\"abc\""], 304), (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"x,y\", \"abc\""], 304), (["If-None-Match": "\"abd\""], 200),
            (["If-None-Match": "abc"], 400), (["If-None-Match": "\"abc"], 400), (["If-None-Match": "\"a\" \"b\""], 400),
            (["If-Match": "\"abc\""], 200), (["If-Match": "W/\"abc\""], 412), (["If-Match": "\"abd\""], 412),
            (["If-Match": "*"], 200), (["If-Match": ""], 400),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT"], 304),
            (["If-Modified-Since": "Sun Nov  6 08:49:37 1994"], 304),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-Modified-Since": "yesterday"], 200),
            (["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
            (["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            // A tag counts more than a date.
            (["If-None-Match": "\"abd\"", "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            (["If-Match": "\"abc\"", "If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-None-Match": "\"abc\"", "Range": "bytes=0-1"], 304),
        ] as [(HTTPHeaders, Int)])
    func conditions(fields: HTTPHeaders, status: Int) throws {
        let answer = try Self.answer(fields)
        #expect(answer.status.code == status)
        #expect((answer.body == nil) == (status != 200))
    }

    @Test(
        "If-Range lets a range through for the same bytes only",
        arguments: [
            ("\"abc\"", 206), ("W/\"abc\"", 200), ("\"abd\"", 200), ("Sun, 06 Nov 1994 08:49:37 GMT", 206),
            ("Sun, 06 Nov 1994 08:49:38 GMT", 200), ("Sun, 06 Nov 1994 08:49:36 GMT", 200), ("abc", 200), ("", 200),
        ])
    func ifRange(condition: String, status: Int) throws {
        let answer = try Self.answer(["Range": "bytes=5-", "If-Range": condition])
        #expect(answer.status.code == status && answer.body == (status == 206 ? 5..<1000 : 0..<1000))
    }

    @Test("a date is no condition in the second in which the file was changed")
    func freshDate() throws {
        let fields: HTTPHeaders = ["Range": "bytes=5-", "If-Range": "Sun, 06 Nov 1994 08:49:37 GMT"]
        let answer = try Self.answer(fields, now: Self.modified)
        #expect(answer.status == .ok)
    }

    @Test("an object without a byte has no body and no range")
    func empty() throws {
        var content = Self.content
        content.byteCount = 0
        let whole = try Self.answer([:], content: content, now: 0)
        #expect(whole.status == .ok && whole.fields.values["Content-Length"] == "0" && whole.body == 0..<0)
        let part = try Self.answer(["Range": "bytes=0-"], content: content, now: 0)
        #expect(part.status == .rangeNotSatisfiable && part.fields.values["Content-Range"] == "bytes */0")
    }

    @Test("dates are written and read alike", arguments: [0, 1, 951_782_400, 784_111_777, 4_102_444_799] as [Int64])
    func dates(seconds: Int64) {
        #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
    }

    @Test(
        "tags are bytes: what combines with a quotation mark is one of a tag's",
        arguments: [
            ("\"\u{301}\"", ["\u{301}"]), ("\"a\", W/\"\u{301}b\u{308},\"", ["a", "\u{301}b\u{308},"]), ("\"\"", [""]),
            ("\"a\"\u{301}", nil), ("\"", nil), ("W/", nil), ("\"a\" \"b\"", nil), ("\"a b\"", nil), (",", nil),
        ] as [(String, [String]?)])
    func tagBytes(text: String, opaque: [String]?) {
        switch EntityTagList(text) {
        case .tags(let tags): #expect(tags.map { Array($0.opaque.utf8) } == opaque?.map { Array($0.utf8) })
        case .any: Issue.record("any")
        case nil: #expect(opaque == nil)
        }
    }

    @Test("tags differ with each of their parts, and do not show them")
    func tags() throws {
        let tags = [["1", "2"], ["12", ""], ["2", "1"], ["1", "3"], ["1", "2", ""]].map { EntityTag(of: $0) }
        #expect(Set(tags).count == tags.count)
        #expect(tags.allSatisfy { $0.opaque.count == 32 && EntityTag($0.text) == $0 })
        let keys = try (1...3).map { try SecretKey([UInt8](repeating: $0, count: 16)) }
        #expect(Set(keys.map { EntityTag(of: ["1"], key: $0) } + [EntityTag(of: ["1"])]).count == 4, "of the key")
    }
}

extension FieldLines {
    /// The values, by name; several of one name are joined by commas.
    var values: [String: String] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let pairs = lines.map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $0 + ", " + $1 }
    }
}

@Suite("fields of answers")
struct FieldLinesTests {
    @Test("what came with a request ends no line")
    func injection() {
        let fields: FieldLines = ["Vary": "a\r\nSet-Cookie: b\u{7f}\0c\td"]
        #expect(fields.bytes == Array("Vary: a  Set-Cookie: b  c d\r\n".utf8))
    }

    @Test("numbers are written whole", arguments: [0, 9, 10, 1_000_000_007, .max] as [UInt64])
    func numbers(number: UInt64) {
        var fields = FieldLines()
        fields.add("Content-Length", number)
        #expect(fields.bytes == Array("Content-Length: \(number)\r\n".utf8))
    }
}

@Suite("what answers say of content")
struct ContentFieldsTests {
    private func content(_ type: String = "video/mp4", modified: Int64? = nil) -> ServedContent {
        ServedContent(
            contentType: type, byteCount: 1, entityTag: EntityTag(opaque: "a"), modified: modified,
            makeReader: { () throws(DecryptionError) in throw .unsupported("reading in this test") })
    }

    @Test(
        "times that HTTP has no text for are not told",
        arguments: [.min, -62_135_596_801, 253_402_300_800, 67_768_036_191_676_799, .max] as [Int64])
    func farTimes(seconds: Int64) {
        let content = content(modified: seconds)
        #expect(content.modified == nil && content.fields.values["Last-Modified"] == nil)
        // Nor does it end the server where one is written all the same.
        #expect(HTTPDate.text(seconds) == HTTPDate.text(seconds < 0 ? -62_135_596_800 : 253_402_300_799))
    }

    @Test("the first and the last year have texts")
    func years() {
        #expect(content(modified: -62_135_596_800).fields.values["Last-Modified"] == "Mon, 01 Jan 0001 00:00:00 GMT")
        #expect(content(modified: 253_402_300_799).fields.values["Last-Modified"] == "Fri, 31 Dec 9999 23:59:59 GMT")
    }

    @Test(
        "whatever a browser takes for a page runs no scripts",
        arguments: [
            ("a.html", true), ("a.HTM.enc", true), ("a.svg", true), ("a.xml", true), ("a.mpd", true), ("a.mp4", false),
            ("a.m3u8", false), ("a.js", false), ("a.txt", false), ("a.pdf", false), ("a", false),
        ])
    func sandboxes(name: String, isPage: Bool) {
        let content = content(ContentType.ofFile(named: name))
        #expect(content.bodyFields.values["Content-Security-Policy"] == (isPage ? "sandbox" : nil))
    }

    @Test("positions end where no object is as long")
    func positions() {
        let most = SourceLength.max
        #expect(ServedPlaylists.offsets(ofParts: [1, 0, 2]) == [0, 1, 1, 3])
        #expect(ServedPlaylists.offsets(ofParts: [most - 1, 1]) == [0, most - 1, most])
        #expect(ServedPlaylists.offsets(ofParts: [UInt64](repeating: 2 * most, count: 20)) == [])
    }
}

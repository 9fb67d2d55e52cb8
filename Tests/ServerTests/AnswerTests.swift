import HTTPTypes
import RandomAccess
import Server
import Testing

@Suite("answers")
struct AnswerTests {
    private static let modified: Int64 = 784_111_777
    private static let content = ServedContent(
        contentType: "video/mp4", byteCount: 1000, entityTag: EntityTag(opaque: "abc"), modified: modified,
        makeReader: { () throws(DecryptionError) in throw .unsupported("reading in this test") })

    private static func answer(_ fields: HTTPFields, method: HTTPRequest.Method = .get) -> Answer {
        Answer(method: method, fields: fields, content: content, now: modified + 100)
    }

    @Test("a part has the fields of a part")
    func part() {
        let answer = Self.answer([.range: "bytes=10-19"])
        #expect(answer.status == .partialContent && answer.body == 10..<20)
        #expect(answer.fields[.contentRange] == "bytes 10-19/1000" && answer.fields[.contentLength] == "10")
        #expect(answer.fields[.acceptRanges] == "bytes" && answer.fields[.contentType] == "video/mp4")
        #expect(answer.fields[.eTag] == "\"abc\"")
        #expect(answer.fields[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("HEAD says what GET of the whole would, whatever range is asked")
    func head() {
        let answer = Self.answer([.range: "bytes=10-19"], method: .head)
        #expect(answer.status == .ok && answer.body == nil && answer.fields[.contentLength] == "1000")
    }

    @Test("what cannot be served says how long the object is")
    func unsatisfiable() {
        let answer = Self.answer([.range: "bytes=1000-"])
        #expect(answer.status == .rangeNotSatisfiable && answer.body == nil)
        #expect(answer.fields[.contentRange] == "bytes */1000")
    }

    @Test(
        "conditions decide in their order",
        arguments: [
            ([.ifNoneMatch: "\"abc\""], 304), ([.ifNoneMatch: "W/\"abc\""], 304), ([.ifNoneMatch: "*"], 304),
            ([.ifNoneMatch: "\"x,y\", \"abc\""], 304), ([.ifNoneMatch: "\"abd\""], 200),
            ([.ifNoneMatch: "abc"], 400), ([.ifNoneMatch: "\"abc"], 400), ([.ifNoneMatch: "\"a\" \"b\""], 400),
            ([.ifMatch: "\"abc\""], 200), ([.ifMatch: "W/\"abc\""], 412), ([.ifMatch: "\"abd\""], 412),
            ([.ifMatch: "*"], 200), ([.ifMatch: ""], 400),
            ([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            ([.ifModifiedSince: "Sunday, 06-Nov-94 08:49:37 GMT"], 304),
            ([.ifModifiedSince: "Sun Nov  6 08:49:37 1994"], 304),
            ([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            ([.ifModifiedSince: "yesterday"], 200),
            ([.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
            ([.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            // A tag counts more than a date.
            ([.ifNoneMatch: "\"abd\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            ([.ifMatch: "\"abc\"", .ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            ([.ifNoneMatch: "\"abc\"", .range: "bytes=0-1"], 304),
        ] as [(HTTPFields, Int)])
    func conditions(fields: HTTPFields, status: Int) {
        let answer = Self.answer(fields)
        #expect(answer.status.code == status)
        #expect((answer.body == nil) == (status != 200))
    }

    @Test(
        "If-Range lets a range through for the same bytes only",
        arguments: [
            ("\"abc\"", 206), ("W/\"abc\"", 200), ("\"abd\"", 200), ("Sun, 06 Nov 1994 08:49:37 GMT", 206),
            ("Sun, 06 Nov 1994 08:49:38 GMT", 200), ("Sun, 06 Nov 1994 08:49:36 GMT", 200), ("abc", 200), ("", 200),
        ])
    func ifRange(condition: String, status: Int) {
        let answer = Self.answer([.range: "bytes=5-", .ifRange: condition])
        #expect(answer.status.code == status && answer.body == (status == 206 ? 5..<1000 : 0..<1000))
    }

    @Test("a date is no condition in the second in which the file was changed")
    func freshDate() {
        let fields: HTTPFields = [.range: "bytes=5-", .ifRange: "Sun, 06 Nov 1994 08:49:37 GMT"]
        let answer = Answer(method: .get, fields: fields, content: Self.content, now: Self.modified)
        #expect(answer.status == .ok)
    }

    @Test("an object without a byte has no body and no range")
    func empty() {
        var content = Self.content
        content.byteCount = 0
        let whole = Answer(method: .get, fields: [:], content: content, now: 0)
        #expect(whole.status == .ok && whole.fields[.contentLength] == "0" && whole.body == 0..<0)
        let part = Answer(method: .get, fields: [.range: "bytes=0-"], content: content, now: 0)
        #expect(part.status == .rangeNotSatisfiable && part.fields[.contentRange] == "bytes */0")
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

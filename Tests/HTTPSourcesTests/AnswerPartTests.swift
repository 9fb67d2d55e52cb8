import ByteSources
import NIOCore
import NIOHTTP1
import RandomAccess
import Testing

@testable import HTTPSources

@Suite("parts of an answer")
struct AnswerPartTests {
    @Test(
        "Content-Range",
        arguments: [
            ("bytes 0-0/1", 0..<1, 1), ("bytes 5-9/10", 5..<10, 10), ("Bytes 5-9/*", 5..<10, nil),
            ("bytes */10", nil, 10), ("bytes */0", nil, 0),
        ] as [(String, Range<UInt64>?, UInt64?)])
    func contentRange(_ text: String, _ range: Range<UInt64>?, _ total: UInt64?) throws {
        let found = try #require(ContentRange(text))
        #expect(found.range == range)
        #expect(found.total == total)
    }

    @Test(
        "a Content-Range that is none",
        arguments: [
            "", "bytes", "bytes 0-0", "bytes 1-0/5", "bytes 0-5/5", "bytes -1/5", "bytes 0-/5", "bytes a-b/5",
            "bytes 0-0/", "bytes */*", "octets 0-0/1", "bytes 0-0/1/2", "bytes 0-1-2/5", "bytes +0-0/1",
            "bytes 0-18446744073709551615/*", "bytes 0-99999999999999999999/*", "bytes 0-0/99999999999999999999",
        ])
    func noContentRange(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test(
        "an object that is said to be longer than any is refused by its length",
        arguments: [(1 << 60, nil), (1 << 60 + 1, "tooLarge"), (1 << 62, "tooLarge"), (.max, "tooLarge")]
            as [(UInt64, String?)])
    func lengths(_ total: UInt64, _ name: String?) throws {
        let fields: HTTPHeaders = ["Content-Range": "bytes 0-65535/\(total)", "Content-Length": "65536"]
        let location = try HTTPLocation("http://127.0.0.1/object")
        var found: HTTPFailure?
        do throws(HTTPFailure) {
            let answer = try RangeAnswer.judge(
                status: 206, fields: fields, of: location, asked: .range(0..<65536), opened: nil)
            #expect(answer.version.byteCount == total)
        } catch {
            found = error
        }
        #expect(found?.name == name)
        if let found { #expect("\(found)".contains("\(total) bytes: expected at most 1152921504606846976")) }
    }

    @Test(
        "only what names one version is a validator",
        arguments: [
            (["ETag": "\"a\""], "\"a\""), (["ETag": "W/\"a\""], nil), ([:], nil),
            (["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"], nil),
            (
                ["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "Date": "Mon, 01 Jan 2024 00:00:09 GMT"],
                "Mon, 01 Jan 2024 00:00:00 GMT"
            ),
            (["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "Date": "Mon, 01 Jan 2024 00:00:00 GMT"], nil),
            (["ETag": "W/\"a\"", "Last-Modified": "x", "Date": "y"], nil),
        ] as [([String: String], String?)])
    func validator(_ fields: [String: String], _ validator: String?) {
        let version = ObjectVersion(byteCount: 1, fields: HTTPHeaders(fields.map { ($0.key, $0.value) }))
        #expect(version.validator == validator)
    }

    @Test(
        "what a server speaks is told from its first bytes",
        arguments: [
            ("HTTP/1.1 400 Bad Request", "plain HTTP"), ("<!doctype html>", "plain HTTP"), ("SSH-2.0-x", "SSH"),
            ("220 mail ESMTP", "SMTP or FTP"), ("\u{1B}[2J evil", "something unknown"),
        ])
    func spoken(_ text: String, _ kind: String) {
        var preamble = PeerPreamble()
        preamble.append(Array(text.utf8), count: text.utf8.count)
        #expect(!preamble.isTLS)
        #expect(preamble.spoken.contains(kind), "\(preamble.spoken)")
        #expect(!preamble.spoken.contains("\u{1B}"))
    }

    @Test("what all came when the time is over is copied, framed or not, and nothing less", arguments: [false, true])
    func lateBytes(isFramed: Bool) {
        let bytes = ReceivedBytes()
        bytes.expect(4, isFramed: isFramed)
        var buffer: [UInt8] = [0, 0, 0, 0]
        func read() -> ReceivedBytes.Outcome {
            buffer.withUnsafeMutableBytes { bytes.read(at: 0, into: FetchBuffers($0), until: .now()) }
        }
        #expect(bytes.append(ByteBuffer(bytes: [1, 2, 3])))
        #expect(read() == .late)
        #expect(bytes.append(ByteBuffer(bytes: [4])))
        #expect(read() == .copied(4))
        #expect(buffer == [1, 2, 3, 4])
    }

    @Test("records of TLS are told from their first bytes")
    func records() {
        var alert = PeerPreamble()
        alert.append([21, 3, 1, 0, 2, 2, 70], count: 7)
        #expect(alert.isTLS)
        #expect(alert.alert == PeerPreamble.protocolVersionAlert)
        var hello = PeerPreamble()
        hello.append([22, 3, 1, 0, 60, 2, 0, 0, 56, 3, 1, 0], count: 12)
        #expect(hello.helloVersion == "TLS 1.0")
        #expect(hello.alert == nil)
    }

    @Test(
        "a pin is read in both spellings",
        arguments: [
            "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
        ])
    func pin(_ text: String) {
        #expect(PublicKeyPin(text)?.description == "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    }

    @Test("a pin that is none", arguments: ["", "sha256//", "sha256//AAAA", "e3b0", "sha1//47DEQpj8HBSa"])
    func noPin(_ text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test("a policy says loudly what it gives up, each in a line of its own")
    func warnings() {
        #expect(TLSPolicy().warnings.isEmpty)
        let all = TLSPolicy(allowances: Set(TLSAllowance.allCases)).warnings
        #expect(all.count == TLSAllowance.allCases.count)
        for (line, allowance) in zip(all, TLSAllowance.allCases) { #expect(line.contains(allowance.option)) }
    }
}

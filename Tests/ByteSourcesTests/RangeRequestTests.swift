import ByteSources
import Testing

@Suite("range requests")
struct RangeRequestTests {
    @Test(
        "the three forms of RFC 9110 are read",
        arguments: [
            ("0-0", .between(first: 0, last: 0)), ("0-499", .between(first: 0, last: 499)),
            ("007-9", .between(first: 7, last: 9)), ("9500-", .from(9500)), ("0-", .from(0)), ("-500", .suffix(500)),
            ("-0", .suffix(0)), ("0-18446744073709551615", .between(first: 0, last: .max)),
            ("18446744073709551615-", .from(.max)),
        ] as [(String, RangeRequest)]
    )
    func forms(text: String, request: RangeRequest) {
        #expect(RangeRequest(text) == request)
    }

    @Test(
        "everything else is none",
        arguments: [
            "", "-", "--", "--5", "5", "1-0", "500-499", "+1-2", "1-+2", "-+5", "-1-2", "1--2", "1-2-3", " 1-2", "1-2 ",
            "1 -2", "a-b", "0x1-2", "1.0-2", "1,2-3", "bytes=0-1", "0-1,3-4", "١-٢", "1–2",
        ])
    func garbage(text: String) {
        #expect(RangeRequest(text) == nil, "\"\(text)\"")
    }

    @Test(
        "numbers too large for 64 bits mean more than there is",
        arguments: [
            ("5-18446744073709551616", 5..<10), ("0-99999999999999999999999", 0..<10),
            ("-99999999999999999999999", 0..<10), ("99999999999999999999999-", nil),
            ("99999999999999999999998-99999999999999999999999", nil),
        ] as [(String, Range<UInt64>?)]
    )
    func overflow(text: String, range: Range<UInt64>?) throws {
        let request = try #require(RangeRequest(text))
        #expect(resolved(request, 10) == range)
    }

    @Test("for every range and length, exactly the bytes of the object that the range names are meant")
    func exhaustive() {
        for length: UInt64 in 0...6 {
            for first: UInt64 in 0...8 {
                for last in first...9 {
                    check(.between(first: first, last: last), length) { $0 >= first && $0 <= last }
                }
                check(.from(first), length) { $0 >= first }
                check(.suffix(first), length) { $0 + first >= length }
            }
            check(.between(first: 0, last: .max), length) { _ in true }
            check(.suffix(.max), length) { _ in true }
            check(.from(.max), length) { _ in false }
        }
    }

    private func check(_ request: RangeRequest, _ length: UInt64, _ contains: (UInt64) -> Bool) {
        let expected = (0..<length).filter(contains)
        let actual = resolved(request, length).map(Array.init) ?? []
        #expect(actual == expected, "\(request) of \(length) bytes")
    }

    /// The bytes that are meant, or `nil` if there are none.
    private func resolved(_ request: RangeRequest, _ length: UInt64) -> Range<UInt64>? {
        request.resolved(plaintextByteCount: length)
    }
}

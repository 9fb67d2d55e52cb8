import ByteSources
import Server
import Testing

@Suite("Range fields")
struct RangeHeaderTests {
    @Test(
        "a field selects what RFC 9110 says",
        arguments: [
            (nil, 10, .whole),
            ("bytes=0-0", 10, .part(0..<1)),
            ("bytes=0-9", 10, .part(0..<10)),
            ("bytes=0-99", 10, .part(0..<10)),
            ("bytes=9-", 10, .part(9..<10)),
            ("bytes=10-", 10, .unsatisfiable),
            ("bytes=-3", 10, .part(7..<10)),
            ("bytes=-30", 10, .part(0..<10)),
            ("bytes=-0", 10, .unsatisfiable),
            ("bytes=0-", 0, .unsatisfiable),
            ("bytes=-1", 0, .unsatisfiable),
            ("BYTES=1-2", 10, .part(1..<3)),
            ("bytes= 1-2 ", 10, .part(1..<3)),
            ("bytes=,1-2,,", 10, .part(1..<3)),
            ("bytes=0-18446744073709551615", 10, .part(0..<10)),
            ("bytes=0-99999999999999999999999999", 10, .part(0..<10)),
            ("bytes=99999999999999999999999999-", 10, .unsatisfiable),
            ("bytes=-99999999999999999999999999", 10, .part(0..<10)),
            // Several: all that can be served, or the one that can.
            ("bytes=0-1,4-5", 10, .whole),
            ("bytes=0-1,40-50", 10, .part(0..<2)),
            ("bytes=30-31,40-50", 10, .unsatisfiable),
            // Units that are not known are ignored.
            ("lines=1-2", 10, .whole),
            // What cannot be read is refused.
            ("bytes=3-1", 10, .unsatisfiable),
            ("bytes=a-b", 10, .unsatisfiable),
            ("bytes=", 10, .unsatisfiable),
            ("bytes=-", 10, .unsatisfiable),
            ("bytes=--1", 10, .unsatisfiable),
            ("bytes=1-2-3", 10, .unsatisfiable),
            ("bytes=+1-2", 10, .unsatisfiable),
            ("bytes=0x1-2", 10, .unsatisfiable),
            ("bytes=1 - 2", 10, .unsatisfiable),
            ("bytes=0-1;4-5", 10, .unsatisfiable),
            ("bytes=0-1,x", 10, .unsatisfiable),
            ("bytes 0-1", 10, .unsatisfiable),
            ("=0-1", 10, .unsatisfiable),
            ("by tes=0-1", 10, .unsatisfiable),
            ("", 10, .unsatisfiable),
            ("0-1", 10, .unsatisfiable),
        ] as [(String?, UInt64, RangeHeader.Selection)])
    func selection(field: String?, byteCount: UInt64, expected: RangeHeader.Selection) {
        #expect(RangeHeader(field).selection(byteCount: byteCount) == expected)
    }

    @Test("every range of a short object is the one that a slice of an array is")
    func exhaustive() {
        for byteCount in 0...5 as ClosedRange<UInt64> {
            for first in 0...6 as ClosedRange<UInt64> {
                for last in first...7 {
                    let expected: RangeHeader.Selection =
                        first < byteCount ? .part(first..<min(last + 1, byteCount)) : .unsatisfiable
                    #expect(RangeHeader("bytes=\(first)-\(last)").selection(byteCount: byteCount) == expected)
                }
            }
        }
    }
}

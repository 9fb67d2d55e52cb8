/// The first line in which two texts differ.
package struct FirstDifference: Hashable, Sendable, CustomStringConvertible {
    /// The line's number, from 1.
    package let line: Int
    /// The line that was found; `nil` where the text had ended.
    package let found: String?
    /// The line that was expected, likewise.
    package let expected: String?

    /// Compares two texts; `nil` if they are the same.
    package init?(found: String, expected: String) {
        guard Array(found.utf8) != Array(expected.utf8) else { return nil }
        let left = found.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        let right = expected.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        let shared = min(left.count, right.count)
        let index = (0..<shared).first { left[$0] != right[$0] } ?? shared
        self.line = index + 1
        self.found = index < left.count ? left[index] : nil
        self.expected = index < right.count ? right[index] : nil
    }

    /// The line, and both texts around the place where they part.
    package var description: String {
        let (found, expected) = (Array((found ?? "").utf8), Array((expected ?? "").utf8))
        let shared = zip(found, expected).prefix { $0 == $1 }.count
        func excerpt(_ line: [UInt8]) -> String {
            String(decoding: line.dropFirst(max(0, shared - 20)).prefix(60), as: UTF8.self)
        }
        return "line \(line): found \(self.found == nil ? "the end" : "\"\(excerpt(found))\""), "
            + "expected \(self.expected == nil ? "the end" : "\"\(excerpt(expected))\"")"
    }
}

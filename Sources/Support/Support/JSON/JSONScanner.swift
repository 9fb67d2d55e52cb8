import Glibc

/// Scans JSON in the plain form in which programs write it, without making a value of each part.
///
/// Result files are long lists of whole numbers, and a general decoder would take most of a report's time. The scanner
/// supports objects, lists, whole numbers from 0 that fit 64 bits, `true`, `false`, `null`, and strings of ASCII
/// without escapes. Anything else is ``Unsupported``: it may be valid, and is left to a general decoder.
///
/// - Source: RFC 8259.
package struct JSONScanner {
    /// Something that is invalid, or valid but not plain.
    package struct Unsupported: Error {
        /// An error that leaves the text to a general decoder.
        package init() {}
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// A scanner at the start of a text, which must outlive the scanner.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads an object: calls `member` with each name, and `member` must read the value.
    package mutating func object(
        _ member: (inout JSONScanner, JSONName) throws(Unsupported) -> Void
    ) throws(Unsupported) {
        try expect(UInt8(ascii: "{"))
        if take(UInt8(ascii: "}")) { return }
        repeat {
            let name = JSONName(try plainString())
            try expect(UInt8(ascii: ":"))
            try member(&self, name)
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
    }

    /// Reads a member that is a string, or `null`; a repeated member is unusual.
    package mutating func read(_ member: inout String?) throws(Unsupported) {
        guard try begins(member == nil) else { return }
        member = String(decoding: try plainString(), as: UTF8.self)
    }

    /// Reads a member that is a whole number from 0, or `null`.
    package mutating func read(_ member: inout UInt64?) throws(Unsupported) {
        guard try begins(member == nil) else { return }
        member = try digits()
    }

    /// Reads a member that is a whole number from 0 and fits an `Int`, or `null`.
    package mutating func read(_ member: inout Int?) throws(Unsupported) {
        guard try begins(member == nil) else { return }
        member = Int(exactly: try digits())
        guard member != nil else { throw Unsupported() }
    }

    /// Reads a member that is `true`, `false` or `null`.
    package mutating func read(_ member: inout Bool?) throws(Unsupported) {
        guard try begins(member == nil) else { return }
        if takeWord("true") {
            member = true
        } else {
            guard takeWord("false") else { throw Unsupported() }
            member = false
        }
    }

    /// Reads a member of any other kind, or `null`, with a function that reads the value.
    package mutating func read<Value>(
        _ member: inout Value?, as read: (inout JSONScanner) throws(Unsupported) -> Value
    ) throws(Unsupported) {
        guard try begins(member == nil) else { return }
        member = try read(&self)
    }

    /// Reads a list of whole numbers from 0, and replaces the list's content.
    package mutating func unsigned(into list: inout [UInt64]) throws(Unsupported) {
        list.removeAll(keepingCapacity: true)
        try expect(UInt8(ascii: "["))
        if take(UInt8(ascii: "]")) { return }
        repeat {
            skipSpace()
            list.append(try digits())
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
    }

    /// Checks that the text ends here.
    package mutating func end() throws(Unsupported) {
        skipSpace()
        guard position == bytes.count else { throw Unsupported() }
    }

    /// Moves to a member's value. Returns whether there is one; throws for a repeated member, which a decoder must
    /// judge.
    private mutating func begins(_ isFirst: Bool) throws(Unsupported) -> Bool {
        skipSpace()
        guard isFirst else { throw Unsupported() }
        return !takeWord("null")
    }

    private mutating func plainString() throws(Unsupported) -> UnsafeRawBufferPointer {
        try expect(UInt8(ascii: "\""))
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            let byte = bytes[position]
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { throw Unsupported() }
            position += 1
        }
        guard position < bytes.count else { throw Unsupported() }
        position += 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position - 1])
    }

    private mutating func digits() throws(Unsupported) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            position += 1
        }
        // 19 digits always fit. A fraction does not end at a comma or bracket, and is detected there.
        let count = position - start
        guard count > 0, count < 20, count == 1 || bytes[start] != UInt8(ascii: "0") else { throw Unsupported() }
        return value
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(Unsupported) {
        guard take(byte) else { throw Unsupported() }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        guard position + word.utf8CodeUnitCount <= bytes.count, let start = bytes.baseAddress,
            memcmp(start + position, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { return false }
        position += word.utf8CodeUnitCount
        return true
    }
}

/// A member's name during a scan; a `switch` over it accepts string literals.
package struct JSONName {
    private let bytes: UnsafeRawBufferPointer

    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Returns whether a name is equal to a literal.
    package static func ~= (written: StaticString, name: JSONName) -> Bool {
        guard written.utf8CodeUnitCount == name.bytes.count else { return false }
        guard let start = name.bytes.baseAddress else { return true }
        return memcmp(start, written.utf8Start, name.bytes.count) == 0
    }
}

import RandomAccess
import Support

/// A value in a JSON file with its location, so that errors can say exactly where they are.
struct JSONCursor {
    let value: JSONValue
    let file: String
    let pointer: String

    func error(_ reason: String) -> VectorFileError {
        VectorFileError(kind: .malformed, file: file, pointer: pointer, reason: reason)
    }

    func unexpected(_ expected: String) -> VectorFileError {
        error("\(excerpt): expected \(expected)")
    }

    /// Returns a member of an object.
    func member(_ name: String) throws(VectorFileError) -> JSONCursor {
        guard let member = try optionalMember(name) else { throw error("member \"\(name)\" is missing") }
        return member
    }

    func optionalMember(_ name: String) throws(VectorFileError) -> JSONCursor? {
        guard case .object(let members) = value else { throw unexpected("an object") }
        guard let member = members[name] else { return nil }
        let escaped = name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        return JSONCursor(value: member, file: file, pointer: "\(pointer)/\(escaped)")
    }

    /// Returns the elements of an array, which must not be empty.
    func elements() throws(VectorFileError) -> [JSONCursor] {
        guard case .array(let values) = value else { throw unexpected("an array") }
        guard !values.isEmpty else { throw unexpected("at least one element") }
        return values.enumerated().map { JSONCursor(value: $1, file: file, pointer: "\(pointer)/\($0)") }
    }

    func string() throws(VectorFileError) -> String {
        guard case .string(let text) = value else { throw unexpected("a string") }
        return text
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(VectorFileError) -> Value {
        guard case .integer(let number) = value, number < 1 << 53, let result = Value(exactly: number) else {
            throw unexpected("an integer from 0 to 2^53 - 1")
        }
        return result
    }

    /// Returns an integer that lies in a range.
    func integer(in range: ClosedRange<Int>) throws(VectorFileError) -> Int {
        let number = try integer(Int.self)
        guard range.contains(number) else {
            throw unexpected("an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Checks that a stated count equals the real one.
    func expect(_ name: String, _ count: Int) throws(VectorFileError) {
        let member = try member(name)
        guard try member.integer(Int.self) == count else { throw member.unexpected("\(count), which were counted") }
    }

    /// Returns an object's members, sorted by name. Each name and each value has its own pointer.
    func members() throws(VectorFileError) -> [(name: JSONCursor, value: JSONCursor)] {
        guard case .object(let members) = value else { throw unexpected("an object") }
        var found: [(JSONCursor, JSONCursor)] = []
        for name in members.keys.sorted() {
            let value = try member(name)
            found.append((JSONCursor(value: .string(name), file: file, pointer: value.pointer), value))
        }
        return found
    }

    /// Checks that an object has no other members than these.
    func allow(_ names: Set<String>) throws(VectorFileError) {
        guard case .object(let members) = value else { throw unexpected("an object") }
        if let name = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw error("member \"\(name)\" is unknown: expected one of \(names.sorted().joined(separator: ", "))")
        }
    }

    /// Returns bytes, which are written as lower-case hex of even length.
    func bytes() throws(VectorFileError) -> [UInt8] {
        let text = try string()
        guard let bytes = Hexadecimal.decode(text) else {
            throw error("\(text.utf8.count) characters: expected lower-case hex digits, an even number of them")
        }
        return bytes
    }

    /// Returns the value of an enumeration that has this raw value.
    func choice<Value: RawRepresentable & CaseIterable>(
        of type: Value.Type
    ) throws(VectorFileError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: try string()) else {
            throw unexpected("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Calls `make`, and turns its error into one with the location in the file.
    func check<Value>(_ make: () throws -> Value) throws(VectorFileError) -> Value {
        do {
            return try make()
        } catch {
            throw self.error("\(error)")
        }
    }

    /// The value as error messages show it; long values are cut.
    private var excerpt: String {
        switch value {
        case .object: "an object"
        case .array(let values): "an array of \(values.count)"
        case .string(let text): text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
        case .integer, .number, .bool, .null: value.text
        }
    }

    /// The max length of a read. Source: PROTOCOL.md, "read".
    private static var largestCount: Int { 256 << 20 }
    /// The max number of reads in a pattern: far more than any file needs, and few enough not to hang a program.
    private static var maxReads: Int { 4_000_000 }

    func flags() throws(VectorFileError) -> [VectorFlag] {
        var flags: [VectorFlag] = []
        for element in try elements() {
            let flag = try element.choice(of: VectorFlag.self)
            if !flags.contains(flag) { flags.append(flag) }
        }
        return flags
    }

    /// Returns a read or a pattern of reads. The outcomes in the file are compared with the plaintext, since a file
    /// that contradicts itself would fail every subject.
    func pattern(of plaintext: GroupPlaintext, groupFlags: [VectorFlag]) throws(VectorFileError) -> ReadPattern {
        let flags = try optionalMember("flags")?.flags() ?? groupFlags
        if let past = try optionalMember("exhaustive") {
            try allow(["exhaustive", "flags", "digests", "comment"])
            guard plaintext.byteCount <= 2500 else {
                throw past.error("of \(plaintext.byteCount) bytes of plaintext: expected at most 2500")
            }
            let pattern = ReadPattern.exhaustive(past: try past.integer(in: 0...64), flags: flags)
            try checkDigests(pattern, plaintext)
            return pattern
        }
        if try optionalMember("offsets") != nil { return try product(of: plaintext, flags: flags) }
        try allow(["id", "comment", "flags", "offset", "count", "plaintext", "sha256", "error"])
        let offset = try member("offset").offset()
        let count = try member("count").integer(in: 0...Self.largestCount)
        var expected = RangeRead(offset: offset, count: count, of: plaintext.byteCount, flags: []).expected
        // An error that does not follow from the offset: a chunk in the middle was tampered with.
        if let name = try optionalMember("error")?.string(), Format.ObjectError(rawValue: name) != nil,
            let error = ErrorName(rawValue: name), expected.byteCount ?? 0 != 0
        {
            expected = .error(error)
        }
        try checkOutcome(expected, offset: offset, plaintext)
        return .single(
            RangeRead(
                label: try optionalMember("id")?.string(), flags: flags, offset: offset, count: count,
                expected: expected))
    }

    private func product(of plaintext: GroupPlaintext, flags: [VectorFlag]) throws(VectorFileError) -> ReadPattern {
        try allow(["offsets", "counts", "toEnd", "flags", "digests", "comment"])
        var (offsets, counts, toEnd): ([ClosedRange<UInt64>], [ClosedRange<Int>], [Int]) = ([], [], [])
        var (offsetCount, countCount) = (0, 0)
        for member in try member("offsets").elements() {
            let range = try member.range { (member) throws(VectorFileError) in try member.offset() }
            offsetCount += Int(min(range.upperBound - range.lowerBound, UInt64(Self.maxReads))) + 1
            offsets.append(range)
        }
        for member in try optionalMember("counts")?.elements() ?? [] {
            let range = try member.range { (member) throws(VectorFileError) in
                UInt64(try member.integer(in: 0...Self.largestCount))
            }
            countCount += range.count
            counts.append(Int(range.lowerBound)...Int(range.upperBound))
        }
        for member in try optionalMember("toEnd")?.elements() ?? [] {
            toEnd.append(try member.integer(in: 0...1 << 20))
        }
        guard countCount + toEnd.count > 0 else { throw error("neither \"counts\" nor \"toEnd\": expected one") }
        let (total, overflow) = offsetCount.multipliedReportingOverflow(by: countCount + toEnd.count)
        guard !overflow, total <= Self.maxReads else {
            throw error("more than \(Self.maxReads) reads in a pattern: expected at most as many")
        }
        if let first = offsets.map(\.lowerBound).min(), !toEnd.isEmpty, first < plaintext.byteCount,
            plaintext.byteCount - first > Self.largestCount - 1 << 20
        {
            throw error("reads of more than \(Self.largestCount) bytes: expected at most as many")
        }
        let pattern = ReadPattern.product(offsets: offsets, counts: counts, toEnd: toEnd, flags: flags)
        try checkDigests(pattern, plaintext)
        return pattern
    }

    private func checkOutcome(
        _ expected: RangeRead.Expectation, offset: UInt64, _ plaintext: GroupPlaintext
    ) throws(VectorFileError) {
        if let member = try optionalMember("error") {
            let name = try member.choice(of: ErrorName.self)
            guard expected == .error(name) else {
                throw member.error("\(name.rawValue) at \(offset): expected what the rules say of that offset")
            }
            return
        }
        guard let byteCount = expected.byteCount else {
            throw error("an offset past the plaintext's end: expected \"error\": \"rangeOutOfBounds\"")
        }
        let range = offset..<offset + UInt64(byteCount)
        if let member = try optionalMember("sha256") {
            let digest = try member.bytes()
            guard try member.check({ try plaintext.sha256(of: range) }) == digest else {
                throw member.error("not the digest of what the object's plaintext has at \(offset)")
            }
            return
        }
        let member = try member("plaintext")
        let bytes = try member.bytes()
        guard bytes.count == byteCount,
            try member.check({ try plaintext.sha256(of: range) }) == SHAFunction.sha256.hash(bytes)
        else {
            throw member.error("not the bytes that the group's \"plaintext\" has at \(offset)")
        }
    }

    private func checkDigests(_ pattern: ReadPattern, _ plaintext: GroupPlaintext) throws(VectorFileError) {
        guard let member = try optionalMember("digests") else { return }
        let digests = Array(try member.string().utf8)
        let reads = pattern.reads(of: plaintext.byteCount)
        guard digests.count == 16 * reads.count else {
            throw member.error("\(digests.count) digits: expected 16 for each of \(reads.count) reads")
        }
        for (index, read) in reads.enumerated() {
            let digest = try member.check { try VectorWriter.digest(of: read, plaintext: plaintext) }
            guard digests[16 * index..<16 * index + 16].elementsEqual(digest.utf8) else {
                throw member.error("digest \(index) is not that of \(read.offset)+\(read.count)")
            }
        }
    }

    /// Returns a plaintext offset. Offsets beyond the exact range of JSON numbers are strings of digits.
    private func offset() throws(VectorFileError) -> UInt64 {
        if case .string(let text) = value, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let offset = UInt64(text)
        {
            return offset
        }
        return try integer(UInt64.self)
    }

    /// Returns a range from its two ends, or from one number.
    private func range(
        _ read: (JSONCursor) throws(VectorFileError) -> UInt64
    ) throws(VectorFileError) -> ClosedRange<UInt64> {
        guard case .array = value else {
            let only = try read(self)
            return only...only
        }
        let ends = try elements()
        guard ends.count == 2 else { throw unexpected("a number, or the first and the last of a range") }
        let (first, last) = (try read(ends[0]), try read(ends[1]))
        guard first <= last else { throw error("\(first) is more than \(last): expected the smaller one first") }
        return first...last
    }
}

internal import ByteSources
import JSON
internal import RandomAccess

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A file of vectors in this project's schema (`data/vectors/*.json`).
package struct VectorFile: Sendable {
    /// Where the vectors are from.
    package let source: String
    /// The groups, in the file's order; each has a vector at least.
    package let groups: [VectorGroup]

    /// Reads a file.
    ///
    /// - Throws: `VectorFileError` if it is missing, cannot be read, or has something that the schema does not know; a
    ///   file without a case is an error, too.
    package init(path: String) throws(VectorFileError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw VectorFileError(
                kind: .missing, file: path, pointer: "", reason: "no such file: expected a vector file")
        } catch {
            throw VectorFileError(kind: .unreadable, file: path, pointer: "", reason: "\(error)")
        }
        guard let value = JSONValue.parse(Array(data)) else {
            throw VectorFileError(
                kind: .malformed, file: path, pointer: "",
                reason: "\(data.count) bytes that are no JSON: expected an object")
        }
        try self.init(JSONPlace(value: value, file: path, pointer: ""))
    }

    private init(_ root: JSONPlace) throws(VectorFileError) {
        let schema = try root.member("schema")
        guard case .integer(1) = schema.value else { throw schema.unexpected("1, the schema that this program reads") }
        self.source = try root.member("source").string()
        var groups: [VectorGroup] = []
        var ids: Set<String> = []
        for place in try root.member("groups").elements() {
            let group = try VectorGroup(place)
            guard ids.insert(group.id).inserted else {
                throw try place.member("id").error("\"\(group.id)\" stands here twice: expected one group of a name")
            }
            groups.append(group)
        }
        self.groups = groups
    }
}

extension VectorGroup {
    fileprivate init(_ place: JSONPlace) throws(VectorFileError) {
        let keyPlace = try place.member("key")
        let keyBytes = try keyPlace.bytes()
        let key = try keyPlace.check { try SecretKey(keyBytes) }
        let strategy = try Strategy(place)
        try place.check { try strategy.validate() }
        let flags = try Self.flags(place)
        let ciphertext = MemorySource(try place.member("ciphertext").bytes())
        let id = try place.member("id").string()
        let source = try place.member("source").string()
        if let failure = try place.optionalMember("error") {
            guard try place.optionalMember("reads") == nil else {
                throw place.error("both \"error\" and \"reads\": expected no reads of an object that does not open")
            }
            self.init(
                id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: ciphertext,
                plaintext: GroupPlaintext([]), opening: .fails(try failure.choice(of: ErrorName.self)), reads: [])
            return
        }
        let plaintext = try place.member("plaintext").bytes()
        var reads: [RangeRead] = []
        for read in try place.member("reads").elements() {
            reads.append(try RangeRead(read, plaintext: plaintext))
        }
        self.init(
            id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: ciphertext,
            plaintext: GroupPlaintext(plaintext), opening: .opens(plaintextByteCount: UInt64(plaintext.count)),
            reads: reads)
    }

    fileprivate static func flags(_ place: JSONPlace) throws(VectorFileError) -> [VectorFlag] {
        var flags: [VectorFlag] = []
        for flag in try place.member("flags").elements() { flags.append(try flag.choice(of: VectorFlag.self)) }
        return flags
    }
}

extension Strategy {
    /// The members have the names that PROTOCOL.md gives them.
    fileprivate init(_ place: JSONPlace) throws(VectorFileError) {
        let name = try place.member("strategy")
        let ivPlace = try place.member("iv")
        let ivBytes = try ivPlace.bytes()
        let iv = try ivPlace.check { try Block(ivBytes) }
        switch try name.string() {
        case "ctr":
            self = .ctr(iv: iv)
        case "cbc-continuous":
            self = .cbcContinuous(iv: iv, padding: try place.member("padding").choice(of: Padding.self))
        case "cbc-chunked":
            self = .cbcChunked(
                chunkByteCount: try place.member("chunkByteCount").integer(UInt64.self), iv: iv,
                ivRule: try place.member("ivRule").choice(of: IVRule.self),
                padding: try place.member("padding").choice(of: Padding.self))
        default:
            throw name.unexpected("one of \(Strategy.names.joined(separator: ", "))")
        }
    }
}

extension RangeRead {
    fileprivate init(_ place: JSONPlace, plaintext: [UInt8]) throws(VectorFileError) {
        let offset = try place.member("offset").integer(UInt64.self)
        let count = try place.member("count").integer(Int.self)
        let expected: Expectation
        if let error = try place.optionalMember("error") {
            expected = .error(try error.choice(of: ErrorName.self))
        } else {
            let bytesPlace = try place.member("plaintext")
            let bytes = try bytesPlace.bytes()
            // A file that contradicts itself would fail every subject.
            let start = offset > UInt64(plaintext.count) ? plaintext.count : Int(offset)
            guard bytes.elementsEqual(plaintext[start...].prefix(count)) else {
                throw bytesPlace.error("not the bytes that the group's \"plaintext\" has at \(offset)")
            }
            expected = .bytes(bytes)
        }
        self.init(
            label: try place.optionalMember("id")?.string(), flags: try VectorGroup.flags(place), offset: offset,
            count: count, expected: expected)
    }
}

internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A file of vectors: in this project's schema (`data/schemas/vectors.json`), Wycheproof's JSON, or NIST's `.rsp`.
package struct VectorFile: Sendable {
    /// The version of this project's schema.
    package static let schemaVersion: UInt64 = 1

    /// Where the vectors are from.
    package let source: String
    /// The groups, in the file's order.
    package let groups: [VectorGroup]
    /// The cases that no reader can be put to.
    package let unsupported: [UnsupportedVector]

    /// Reads a file; which kind it is, its contents say.
    ///
    /// - Throws: `VectorFileError` if it is missing, cannot be read, or has something that its format does not know; a
    ///   file without a case is an error, too.
    package init(path: String) throws(VectorFileError) {
        var isFolder = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
            throw VectorFileError(
                kind: .unreadable, file: path, pointer: "", reason: "it is a directory: expected a vector file")
        }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw VectorFileError(
                kind: .missing, file: path, pointer: "", reason: "no such file: expected a vector file")
        } catch {
            throw VectorFileError(kind: .unreadable, file: path, pointer: "", reason: "\(error)")
        }
        try self.init(Array(data), path: path)
    }

    /// Reads what a file holds; `path` is for messages and identifiers.
    ///
    /// - Throws: `VectorFileError`.
    package init(_ bytes: [UInt8], path: String) throws(VectorFileError) {
        func malformed(_ pointer: String, _ reason: String) -> VectorFileError {
            VectorFileError(kind: .malformed, file: path, pointer: pointer, reason: reason)
        }
        let whitespace = Array(" \t\r\n".utf8)
        guard let first = bytes.first(where: { !whitespace.contains($0) }) else {
            throw malformed("", "nothing but white space: expected vectors")
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") && !ResponseFile.hasSections(bytes) else {
            let file = try ResponseFile(bytes, path: path)
            self.init(source: file.source, groups: file.groups, unsupported: file.unsupported)
            try requireCase(malformed("", "no case in it: expected at least one COUNT"))
            return
        }
        if let mismatch = JSONSyntax.mismatch(in: bytes) {
            throw malformed("", "no JSON in line \(mismatch.line): expected \(mismatch.expected)")
        }
        guard let value = JSONValue.parse(bytes) else {
            throw malformed("", "\(bytes.count) bytes that are no JSON: expected an object")
        }
        let root = JSONCursor(value: value, file: path, pointer: "")
        if value["testGroups"] != nil, value["algorithm"] != nil {
            self = try WycheproofFile(root).vectors
            try requireCase(malformed("/testGroups", "no case in it: expected at least one test"))
        } else {
            try self.init(schema: root)
        }
    }

    init(source: String, groups: [VectorGroup], unsupported: [UnsupportedVector]) {
        self.source = source
        self.groups = groups
        self.unsupported = unsupported
    }

    private func requireCase(_ error: VectorFileError) throws(VectorFileError) {
        if groups.isEmpty, unsupported.isEmpty { throw error }
    }
}

#if Network
package import ByteSources
package import RandomAccess
package import SystemPackage

/// Objects of several pieces that the server decrypts, each under the name of its document without `.yml`.
///
/// A request opens the document and every piece that it has to look at, unless the object is still open from an earlier
/// request.
package struct ServedPieces: ContentCatalogue {
    /// Reads a document.
    package typealias Opener = @Sendable (FilePath) throws(DecryptionError) -> PieceFile

    private static let suffixes = [".yml", ".yaml"]
    /// The max number of files whose versions are checked to see that an object is unchanged.
    private static let maxLookedAt = 64

    private let paths: [String: FilePath]
    private let backend: any CipherBackend
    private let open: Opener

    /// Serves the objects of some documents.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if two documents have the same name.
    package init(
        documents: [FilePath], backend: any CipherBackend, open: @escaping Opener
    ) throws(DecryptionError) {
        var paths: [String: FilePath] = [:]
        for document in documents {
            let name = Self.name(of: document)
            if let other = paths.updateValue(document, forKey: name) {
                throw .invalidParameter(
                    name: "file", value: document.string, expected: "a name other than that of \(other)")
            }
        }
        (self.paths, self.backend, self.open) = (paths, backend, open)
    }

    /// Returns the name under which a document's object is served.
    package static func name(of document: FilePath) -> String {
        let name = document.lastComponent?.string ?? document.string
        return suffixes.first { name.hasSuffix($0) && name != $0 }.map { String(name.dropLast($0.count)) } ?? name
    }

    /// Opens the current version of an object.
    package func content(at path: [String]) throws(DecryptionError) -> ServedContent? {
        guard path.count == 1, let document = paths[path[0]] else { return nil }
        let list = try open(document)
        let object = CompositeObject(list, backend: backend)
        do throws(DecryptionError) {
            try object.requireAll()
        } catch {
            throw .inPart(path[0], error)
        }
        let keys = list.allKeys.map { EntityTag(of: [], key: $0).opaque }
        let versions = list.versions
        let texts = versions.map { "\($0): \($1)" }.sorted()
        var content = ServedContent(
            contentType: ContentType.ofFile(named: path[0]), byteCount: object.plaintextByteCount,
            entityTag: list.canBePinned ? EntityTag(of: ["pieces"] + texts + keys) : .unlikeAny, modified: nil
        ) { () throws(DecryptionError) in
            try object.makeCursor()
        }
        content.readerByteCount = object.cursorByteCount
        content.mayWait = { _ in true }
        if list.canBePinned, versions.count <= Self.maxLookedAt {
            content.isCurrent = { versions.allSatisfy { FileIdentity(ofFile: $0) == $1 } }
        }
        return content
    }

    /// Returns the names of all objects, in order.
    package func listing() -> [[String]] { paths.keys.sorted().map { [$0] } }
}
#endif

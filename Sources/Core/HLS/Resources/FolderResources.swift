import ByteSources
import Glibc
public import RandomAccess
public import SystemPackage

/// A source of the resources that a playlist names.
public protocol SegmentResources: Sendable {
    /// Opens a resource.
    ///
    /// - Parameter uri: The resource's URI as in the playlist.
    /// - Returns: The resource's bytes, encrypted or not.
    /// - Throws: `DecryptionError.io` if the resource cannot be opened, `.unsupported` for an unsupported scheme,
    ///   `.invalidParameter` for a URI that must not be opened.
    func source(for uri: String) throws(DecryptionError) -> any ByteSource

    /// The number of resources to open at once; `nil` for one per CPU, if opening does not wait for a network.
    var openingsAtOnce: Int? { get }
}

extension SegmentResources {
    /// `nil`: the resources are on this machine.
    public var openingsAtOnce: Int? { nil }
}

/// Files around a playlist.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2) and percent-decoded; query and fragment are
/// ignored. No file outside the root is opened; see `RootedFolder`.
public struct FolderResources: SegmentResources {
    /// The playlist's URI, the base of relative ones.
    public let base: URIReference
    private let root: RootedFolder

    /// The resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's path. It need not exist: a name in a folder is enough.
    ///   - root: The folder that paths cannot leave; `nil` for the playlist's folder, `/` for no restriction.
    /// - Throws: `DecryptionError.io` if the root does not exist.
    public init(playlist: FilePath, root: FilePath? = nil) throws(DecryptionError) {
        let path = try Self.absolute(playlist)
        self.base = URIReference(filePath: path.string)
        self.root = try RootedFolder(root ?? path.removingLastComponent())
    }

    /// Opens a file; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try FileSource(path: try path(for: uri))
    }

    /// Returns the path of a URI.
    ///
    /// - Throws: `DecryptionError.unsupported` for any scheme but `file`, `.invalidParameter` for a path that no file
    ///   can have or that leaves the root, `.io` if the file does not exist.
    public func path(for uri: String) throws(DecryptionError) -> FilePath {
        let target = URIReference(uri).resolved(against: base)
        let scheme = target.scheme?.lowercased() ?? ""
        guard scheme == "file" else {
            throw .unsupported(
                "fetching \(target.redacted) by the scheme \"\(scheme)\": expected a file, such as a relative URI")
        }
        guard ["", "localhost"].contains(target.authority?.lowercased() ?? "") else {
            throw .unsupported("the file \(target.redacted) of another host: expected a file of this machine")
        }
        var path = FilePath("/")
        for segment in target.path.split(separator: "/") {
            guard let name = PercentEncoding.decode(segment: segment), name != ".", name != ".." else {
                throw .invalidParameter(
                    name: "URI", value: target.redacted,
                    expected: "a path whose percent-encoded characters make names of files")
            }
            path.append(name)
        }
        return try root.path(path, named: target.redacted, kind: "URI")
    }

    private static func absolute(_ path: FilePath) throws(DecryptionError) -> FilePath {
        if path.isAbsolute { return path.lexicallyNormalized() }
        guard let folder = getcwd(nil, 0) else {
            throw SystemCall.failure("find the working folder")
        }
        defer { free(folder) }
        return FilePath(platformString: folder).pushing(path).lexicallyNormalized()
    }
}

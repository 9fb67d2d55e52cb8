import ByteSources
import Glibc
public import RandomAccess
public import SystemPackage

/// Where the resources come from that a playlist names.
public protocol SegmentResources: Sendable {
    /// Opens a resource.
    ///
    /// - Parameter uri: Its URI as the playlist has it.
    /// - Returns: Its bytes as they are, encrypted or not.
    /// - Throws: `DecryptionError.io` if it cannot be opened, `.unsupported` for a scheme that cannot be fetched,
    ///   `.invalidParameter` for a URI that must not be fetched.
    func source(for uri: String) throws(DecryptionError) -> any ByteSource

    /// How many resources are opened at once; `nil` for as many as there are CPUs, where nothing is waited for.
    var openingsAtOnce: Int? { get }
}

extension SegmentResources {
    /// Resources that are near.
    public var openingsAtOnce: Int? { nil }
}

/// Files that lie around a playlist.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2), percent-decoded, and used without query and
/// fragment. Nothing outside of a root is opened; see `RootedFolder`.
public struct FolderResources: SegmentResources {
    /// The playlist's URI, which relative ones start from.
    public let base: URIReference
    private let root: RootedFolder

    /// Creates the resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's path. It need not exist: a name in a folder will do.
    ///   - root: The folder that no path leaves; `nil` for the one that the playlist lies in, `/` for any file.
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

    /// The path that a URI means.
    ///
    /// - Throws: `DecryptionError.unsupported` for another scheme than `file`, `.invalidParameter` for a path that no
    ///   file has or that leaves the root, `.io` if there is no such file.
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

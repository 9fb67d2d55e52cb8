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
}

/// Files that lie around a playlist.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2), percent-decoded, and used without query and
/// fragment. With a root, nothing outside of that folder is opened, whatever dots, encodings and symbolic links say.
public struct FolderResources: SegmentResources {
    /// The playlist's URI, which relative ones start from.
    public let base: URIReference
    /// The folder that no path leaves, without symbolic links; `nil` if any file may be named.
    private let root: FilePath?

    /// Creates the resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's path. It need not exist: a name in a folder will do.
    ///   - root: The folder that no path leaves; `nil` if any file may be named.
    /// - Throws: `DecryptionError.io` if the root does not exist.
    public init(playlist: FilePath, root: FilePath? = nil) throws(DecryptionError) {
        self.base = URIReference(filePath: try Self.absolute(playlist).string)
        if let root {
            self.root = try Self.real(root)
        } else {
            self.root = nil
        }
    }

    /// Opens a file; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try FileSource(path: try path(for: uri))
    }

    /// The path that a URI means.
    ///
    /// - Throws: `DecryptionError.unsupported` for another scheme than `file`, `.invalidParameter` for a path that no
    ///   file has or that leaves the root, `.io` if there is a root and no such file.
    public func path(for uri: String) throws(DecryptionError) -> FilePath {
        let target = URIReference(uri).resolved(against: base)
        let scheme = target.scheme?.lowercased() ?? ""
        guard scheme == "file" else {
            throw .unsupported(
                "fetching \(target.shown) by the scheme \"\(scheme)\": expected a file, such as a relative URI")
        }
        guard ["", "localhost"].contains(target.authority?.lowercased() ?? "") else {
            throw .unsupported("the file \(target.shown) of another host: expected a file of this machine")
        }
        var path = FilePath("/")
        for segment in target.path.split(separator: "/") {
            guard let name = PercentEncoding.decode(segment: segment), name != ".", name != ".." else {
                throw .invalidParameter(
                    name: "URI", value: target.shown,
                    expected: "a path whose percent-encoded characters make names of files")
            }
            path.append(name)
        }
        guard let root else { return path }
        let inside = try Self.real(path, named: target.shown)
        guard inside.starts(with: root) else {
            throw .invalidParameter(name: "URI", value: target.shown, expected: "a path inside of the folder")
        }
        return inside
    }

    private static func absolute(_ path: FilePath) throws(DecryptionError) -> FilePath {
        if path.isAbsolute { return path.lexicallyNormalized() }
        guard let folder = getcwd(nil, 0) else {
            _ = try SystemCall.retrying("find the working folder") { -1 }
            return path
        }
        defer { free(folder) }
        return FilePath(platformString: folder).pushing(path).lexicallyNormalized()
    }

    /// A path without symbolic links. The corresponding C function is `realpath`.
    private static func real(_ path: FilePath, named name: String? = nil) throws(DecryptionError) -> FilePath {
        guard let found = path.withPlatformString({ realpath($0, nil) }) else {
            _ = try SystemCall.retrying("open \(name ?? path.string)") { -1 }
            return path
        }
        defer { free(found) }
        return FilePath(platformString: found)
    }
}

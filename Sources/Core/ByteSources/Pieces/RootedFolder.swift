import Glibc
package import RandomAccess
package import SystemPackage

/// A folder that no path leaves, despite dots, encodings and symbolic links. A list of files may come from anywhere.
/// Without this check it could have any of the user's files decrypted, or used as a key.
package struct RootedFolder: Sendable {
    /// The folder, without symbolic links.
    package let root: FilePath

    /// Resolves a folder.
    ///
    /// - Throws: `DecryptionError.io` if it does not exist.
    package init(_ path: FilePath) throws(DecryptionError) {
        root = try Self.real(path, named: path.string)
    }

    /// Resolves a file. If the root is `/`, the file need not exist.
    ///
    /// - Parameters:
    ///   - path: An absolute path, or one that is relative to the folder.
    ///   - name: The name that messages show.
    ///   - kind: The kind of the name, such as a URI.
    /// - Returns: The path without symbolic links; the path itself if the root is `/`.
    /// - Throws: `DecryptionError.invalidParameter` for a path that leaves the folder, `.io` if the file does not
    ///   exist.
    package func path(
        _ path: FilePath, named name: String, kind: String = "file"
    ) throws(DecryptionError) -> FilePath {
        let whole = root.pushing(path)
        guard root != "/" else { return whole }
        let inside = try Self.real(whole, named: name)
        guard inside.starts(with: root) else {
            throw .invalidParameter(name: kind, value: name, expected: "a file in \(root), which is the root")
        }
        return inside
    }

    /// Returns a path without symbolic links. The corresponding C function is `realpath`.
    private static func real(_ path: FilePath, named name: String) throws(DecryptionError) -> FilePath {
        guard let found = path.withPlatformString({ realpath($0, nil) }) else {
            throw SystemCall.failure("open \(name)")
        }
        defer { free(found) }
        return FilePath(platformString: found)
    }
}

import Glibc
package import RandomAccess
package import SystemPackage

/// A folder that no path leaves, whatever dots, encodings and symbolic links say: a list of files may be from anywhere,
/// and would otherwise have any file of its reader's decrypted, or used as a key.
package struct RootedFolder: Sendable {
    /// The folder, without symbolic links.
    package let root: FilePath

    /// Finds a folder.
    ///
    /// - Throws: `DecryptionError.io` if there is none.
    package init(_ path: FilePath) throws(DecryptionError) {
        root = try Self.real(path, named: path.string)
    }

    /// Finds a file; of a root `/`, it need not be there.
    ///
    /// - Parameters:
    ///   - path: An absolute path, or one that is relative to the folder.
    ///   - name: The name that messages show.
    ///   - kind: The kind of name that it is, such as a URI.
    /// - Returns: The path without symbolic links; of a root `/`, as it is.
    /// - Throws: `DecryptionError.invalidParameter` for a path that leaves the folder, `.io` if there is no such file.
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

    /// A path without symbolic links. The corresponding C function is `realpath`.
    private static func real(_ path: FilePath, named name: String) throws(DecryptionError) -> FilePath {
        guard let found = path.withPlatformString({ realpath($0, nil) }) else {
            throw SystemCall.failure("open \(name)")
        }
        defer { free(found) }
        return FilePath(platformString: found)
    }
}

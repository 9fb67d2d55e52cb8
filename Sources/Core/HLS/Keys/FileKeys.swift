public import SystemPackage

/// One key file for all URIs: 16 raw bytes.
public struct FileKeys: KeyProvider {
    private let path: FilePath

    /// Creates a provider; the file is read when a key is asked for.
    public init(path: FilePath) {
        self.path = path
    }

    /// Reads the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        try KeyBytes.read(path, mayWait: true)
    }

    /// The file's version; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? { KeyBytes.version(path) }
}

/// Key files in a folder, named by the last part of the URI's path, or by a map.
public struct FolderKeys: KeyProvider {
    private let folder: FilePath
    private let names: [String: String]

    /// Creates a provider; files are read when their keys are asked for.
    ///
    /// - Parameters:
    ///   - folder: Where the files lie.
    ///   - names: Names of files in the folder by the URI as the playlist has it. Other URIs mean the file with the name
    ///     of the last part of their path, percent-decoded: `mykey://host/a/film%201.key?x=1` is `film 1.key`.
    public init(folder: FilePath, names: [String: String] = [:]) {
        self.folder = folder
        self.names = names
    }

    /// Reads the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        guard let path = path(for: uri) else {
            throw .missing(
                place: "a key file in \(folder)", reason: "the URI's path does not end with a name that a file can have"
            )
        }
        return try KeyBytes.read(path)
    }

    /// The file's version; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? { path(for: uri).flatMap(KeyBytes.version) }

    private func path(for uri: String) -> FilePath? {
        let name = names[uri] ?? Self.lastName(of: uri)
        guard let name, let component = FilePath.Component(name), component.kind == .regular else { return nil }
        return folder.appending(component)
    }

    private static func lastName(of uri: String) -> String? {
        let reference = URIReference(uri)
        // `mykey://film1` has its name where others have a host.
        let path = reference.path.isEmpty ? reference.authority ?? "" : reference.path
        return path.split(separator: "/").last.flatMap { PercentEncoding.decode(segment: $0) }
    }
}

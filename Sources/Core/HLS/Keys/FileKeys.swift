import Glibc
import RandomAccess
public import SystemPackage

/// One key file for all URIs: 16 raw bytes.
public struct FileKeys: KeyProvider {
    private let path: FilePath

    /// A provider that reads the file when a key is requested.
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

/// Key files in a folder. A file is found by the whole URI, by the last part of the URI's path, or by a map.
public struct FolderKeys: KeyProvider {
    private let folder: FilePath
    private let names: [String: String]
    private let isExact: Bool

    /// A provider that reads files when their keys are requested.
    ///
    /// The URI without query and fragment names a file in nested folders, percent-decoded:
    /// `mykey://host/a/film%201.key?x=1` is `mykey/host/a/film 1.key`. If that file does not exist, the last part of
    /// the URI's path names a file directly in the folder: `film 1.key`.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files.
    ///   - names: Names of files in the folder, by the URI as in the playlist; they take precedence.
    ///   - isExact: True to accept a file by its whole path only. A server that grants keys by the start of the URI
    ///     needs this, because the start says nothing about a file that is found by the end of the URI.
    public init(folder: FilePath, names: [String: String] = [:], isExact: Bool = false) {
        self.folder = folder
        self.names = names
        self.isExact = isExact
    }

    /// Reads the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        var failure = KeyError.missing(
            location: "a key file in \(folder)",
            reason: isExact
                ? "the URI has a part that is no name of a folder or file"
                : "the URI's path does not end with a name that a file can have")
        for path in paths(for: uri) {
            do throws(KeyError) {
                return try KeyBytes.read(path)
            } catch {
                guard case .missing = error else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// The file's version; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? {
        for path in paths(for: uri) { if let version = KeyBytes.version(path) { return version } }
        return nil
    }

    /// Returns the possible paths of a key, the first to try first.
    private func paths(for uri: String) -> [FilePath] {
        if let name = names[uri] { return [path([name])].compactMap(\.self) }
        let whole = URIReference(uri).wholeNames.flatMap(path)
        let last = isExact ? nil : Self.lastName(of: uri).flatMap { path([$0]) }
        return [whole, last].compactMap(\.self)
    }

    private func path(_ names: [String]) -> FilePath? {
        var path = folder
        for name in names {
            guard let component = FilePath.Component(name), component.kind == .regular else { return nil }
            path.append(component)
        }
        return path
    }

    private static func lastName(of uri: String) -> String? {
        let reference = URIReference(uri)
        // In `mykey://film1`, the name is where other URIs have a host.
        let path = reference.path.isEmpty ? reference.authority ?? "" : reference.path
        return path.split(separator: "/").last.flatMap { PercentEncoding.decode(segment: $0) }
    }
}

/// Keys at their URIs, like segments: usually beside the playlist.
public struct PlaylistKeys: KeyProvider {
    private let resources: FolderResources

    /// A provider of the keys among a playlist's resources.
    public init(_ resources: FolderResources) {
        self.resources = resources
    }

    /// Reads the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let scheme = URIReference(uri).scheme?.lowercased() ?? ""
        guard ["", "file"].contains(scheme) else { throw .unhandledScheme(scheme, handled: ["", "file"]) }
        return try KeyBytes.read(try path(for: uri))
    }

    /// The file's version; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? {
        guard let path = try? path(for: uri) else { return nil }
        return KeyBytes.version(path)
    }

    private func path(for uri: String) throws(KeyError) -> FilePath {
        do throws(DecryptionError) {
            return try resources.path(for: uri)
        } catch {
            if case .io(_, _, let reason) = error { throw .missing(location: "the key file", reason: reason) }
            throw .unreadable(error)
        }
    }
}

/// Keys on servers at their URIs, like segments: players without content protection fetch them from there.
public struct ServedKeys: KeyProvider {
    private let resources: ServedResources

    /// A provider of the keys among a playlist's resources.
    public init(_ resources: ServedResources) {
        self.resources = resources
    }

    /// Fetches the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let target = URIReference(uri).resolved(against: resources.base)
        let scheme = target.scheme?.lowercased() ?? ""
        guard ["http", "https"].contains(scheme) else {
            throw .unhandledScheme(scheme, handled: ["", "https", "http"])
        }
        let location = "the key at \(target.redacted)"
        let bytes = KeyBytes()
        do throws(DecryptionError) {
            let source = try resources.short(for: uri).source
            let count = min(source.byteCount, UInt64(bytes.free.count))
            try source.fetch(at: 0, into: UnsafeMutableRawBufferPointer(rebasing: bytes.free[..<Int(count)]))
            bytes.add(Int(count))
        } catch {
            switch error {
            case .io(_, ENOENT, let reason): throw .missing(location: location, reason: reason)
            case .io: throw .notFetched(error)
            default: throw .unreadable(error)
            }
        }
        return ProvidedKey(
            try bytes.key(location: location), warnings: scheme == "http" ? [.inTheClear(location: location)] : [])
    }
}

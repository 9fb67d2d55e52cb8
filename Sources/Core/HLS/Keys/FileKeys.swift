import Glibc
import RandomAccess
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

/// Key files in a folder, where the whole URI says, or named by the last part of the URI's path, or by a map.
public struct FolderKeys: KeyProvider {
    private let folder: FilePath
    private let names: [String: String]
    private let isExact: Bool

    /// Creates a provider; files are read when their keys are asked for.
    ///
    /// The whole URI but its query and fragment names a file in folders of the folder, percent-decoded:
    /// `mykey://host/a/film%201.key?x=1` is `mykey/host/a/film 1.key`. Where there is none, the last part of the URI's path
    /// does, right in the folder: `film 1.key`.
    ///
    /// - Parameters:
    ///   - folder: Where the files lie.
    ///   - names: Names of files in the folder by the URI as the playlist has it, instead of the others.
    ///   - isExact: Whether a file's whole path counts, and its name alone is not enough: for those who hand keys out by
    ///     what the URI begins with, which says nothing about a file that is found by how the URI ends.
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

    /// Where a key may lie, the first place first.
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
        // `mykey://film1` has its name where others have a host.
        let path = reference.path.isEmpty ? reference.authority ?? "" : reference.path
        return path.split(separator: "/").last.flatMap { PercentEncoding.decode(segment: $0) }
    }
}

/// Keys that lie where their URIs say, like segments do: beside the playlist, as a rule.
public struct PlaylistKeys: KeyProvider {
    private let resources: FolderResources

    /// Creates a provider.
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

/// Keys that lie on servers where their URIs say, like segments do: what players without content protection fetch.
public struct ServedKeys: KeyProvider {
    private let resources: ServedResources

    /// Creates a provider.
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

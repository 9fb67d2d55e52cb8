internal import RandomAccess
internal import SystemPackage

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
            if case .io(_, _, let reason) = error { throw .missing(place: "the key file", reason: reason) }
            throw .unreadable(error)
        }
    }
}

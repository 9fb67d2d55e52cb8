import Glibc
internal import RandomAccess

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
        let place = "the key at \(target.shown)"
        let bytes = KeyBytes()
        do throws(DecryptionError) {
            let source = try resources.short(for: uri)
            let count = min(source.byteCount, UInt64(bytes.free.count))
            try source.fetch(at: 0, into: UnsafeMutableRawBufferPointer(rebasing: bytes.free[..<Int(count)]))
            bytes.add(Int(count))
        } catch {
            switch error {
            case .io(_, ENOENT, let reason): throw .missing(place: place, reason: reason)
            case .io: throw .notFetched(error)
            default: throw .unreadable(error)
            }
        }
        return ProvidedKey(try bytes.key(place: place), warnings: scheme == "http" ? [.inTheClear(place: place)] : [])
    }
}

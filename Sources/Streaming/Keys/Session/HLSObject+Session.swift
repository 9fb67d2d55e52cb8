public import HLS
public import RandomAccess

extension HLSObject {
    /// Opens a playlist with the keys of a session, all of them asked for at once.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - resources: Where segments come from.
    ///   - session: Where keys come from. Why it has none for a segment is among `problems`.
    ///   - backend: The library that decrypts.
    /// - Throws: See `HLSObject.init(playlist:resources:keys:backend:)`.
    public convenience init(
        playlist: MediaPlaylist, resources: any SegmentResources, session: KeySession, backend: any CipherBackend
    ) async throws(DecryptionError) {
        let keys = await session.keys(for: playlist.keyURIs)
        try self.init(
            playlist: playlist, resources: resources, keys: KeyRing(SessionKeys(keys: keys)), backend: backend)
    }

    /// Reads a range while the session permits it; keys that it lacks by now are asked for again.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - count: How many bytes, or as many as there are up to the end.
    ///   - session: The session that the object was opened with.
    ///   - windowByteCount: The most plaintext bytes that are decrypted in one step.
    /// - Returns: All of the bytes.
    /// - Throws: `PlaylistError.keyUnavailable` if there is no key, or it expires before the last byte is there; see
    ///   also `HLSCursor.read(at:into:)`.
    public func read(
        at offset: UInt64, count: Int, session: KeySession, windowByteCount: Int = .max
    ) async throws(DecryptionError) -> [UInt8] {
        let cursor = try makeCursor(windowByteCount: windowByteCount)
        let (end, isOver) = offset.addingReportingOverflow(UInt64(max(count, 0)))
        let uris = keyURIs(in: offset..<(isOver ? .max : end))
        let keys = await session.keys(for: uris)
        var leases: [String: KeyLease] = [:]
        var result: Result<[UInt8], DecryptionError>
        do throws(DecryptionError) {
            for uri in uris {
                do throws(KeyFailure) {
                    if case .failure(let failure)? = keys[uri] { throw failure }
                    leases[uri] = try await session.beginRead(with: uri)
                } catch {
                    throw DecryptionError.keyUnavailable(uri: URIReference(uri).shown, reason: "\(error)")
                }
            }
            result = .success(try HLSLeasedCursor(cursor, leases: leases).read(at: offset, count: max(count, 0)))
        } catch {
            result = .failure(error)
        }
        for lease in leases.values { await session.endRead(lease) }
        return try result.get()
    }
}

/// The keys that a session gave.
private struct SessionKeys: KeyProvider {
    let keys: [String: Result<SecretKey, KeyFailure>]

    func key(for uri: String) throws(KeyError) -> ProvidedKey {
        switch keys[uri] {
        case .success(let key): return ProvidedKey(key)
        case .failure(let failure): throw .noKey(reason: failure.description)
        case nil: throw .noKey(reason: KeyFailure.missing.description)
        }
    }
}

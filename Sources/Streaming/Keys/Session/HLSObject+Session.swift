public import HLS
public import RandomAccess
import Support

extension HLSObject {
    /// Opens a playlist with the keys of a session, all of them asked for at once. The resources are waited for on a
    /// thread of its own.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - resources: Where segments come from.
    ///   - session: Where keys come from. Why it has none for a segment is among `problems`.
    ///   - backend: The library that decrypts.
    /// - Returns: The object.
    /// - Throws: See `HLSObject.init(playlist:resources:keys:backend:)`.
    public static func open(
        _ playlist: MediaPlaylist, resources: any SegmentResources, session: KeySession, backend: any CipherBackend
    ) async throws(DecryptionError) -> HLSObject {
        let keys = await session.keys(for: playlist.keyURIs)
        let given = HandlerKeys { uri in
            do throws(KeyFailure) {
                return try (keys[uri] ?? .failure(.missing)).get()
            } catch {
                throw KeyError.noKey(reason: error.description)
            }
        }
        return try await WaitingThread.run {
            Result { () throws(DecryptionError) in
                try HLSObject(playlist: playlist, resources: resources, keys: KeyRing(given), backend: backend)
            }
        }.get()
    }

    /// Reads a range while the session permits it, on a thread of its own; keys that it lacks by now are asked for
    /// again.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - count: How many bytes, or as many as there are up to the end.
    ///   - session: The session that the object was opened with.
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step.
    /// - Returns: All of the bytes.
    /// - Throws: `PlaylistError.keyUnavailable` if there is no key, or it expires before the last byte is there; see
    ///   also `CompositeCursor.read(at:into:)`.
    public func read(
        at offset: UInt64, count: Int, session: KeySession, windowByteCount: Int = .max
    ) async throws(DecryptionError) -> [UInt8] {
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
                    throw DecryptionError.keyUnavailable(uri: URIReference(uri).redacted, reason: "\(error)")
                }
            }
            result = await WaitingThread.run { [leases] in
                Result { () throws(DecryptionError) in
                    try self.makeCursor(windowByteCount: windowByteCount, leases: leases)
                        .read(at: offset, count: max(count, 0))
                }
            }
        } catch {
            result = .failure(error)
        }
        for lease in leases.values { await session.endRead(lease) }
        return try result.get()
    }

    /// Makes a reader for one thread that delivers plaintext while the leases of its keys last; see `CompositeCursor`.
    ///
    /// - Parameters:
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    ///   - leases: A lease for each key's URI; segments of other keys cannot be read.
    /// - Returns: A cursor whose reads throw `PlaylistError.keyUnavailable` if a lease has ended or there is none.
    /// - Throws: `DecryptionError.invalidParameter`.
    public func makeCursor(
        windowByteCount: Int = .max, leases: [String: KeyLease]
    ) throws(DecryptionError) -> CompositeCursor {
        try makeCursor(windowByteCount: windowByteCount) { (piece) throws(DecryptionError) in
            guard let uri = keyURI(ofPiece: piece) else { return }
            guard let lease = leases[uri] else {
                throw .keyUnavailable(uri: URIReference(uri).redacted, reason: "there is no lease of it")
            }
            try lease.permitRead()
        }
    }
}

public import HLS
public import RandomAccess
import Support

extension HLSObject {
    /// Opens a playlist with the keys of a session, and asks for all of them at once. A thread of its own waits for the
    /// resources.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - resources: The source of the segments.
    ///   - session: The source of the keys. If it has none for a segment, `problems` names the reason.
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

    /// Reads a range while the session permits it, on a thread of its own. The session asks again for keys that it no
    /// longer has.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - count: The number of bytes; the read ends at the end of the plaintext if that comes first.
    ///   - session: The session that the object was opened with.
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step.
    /// - Returns: All of the bytes.
    /// - Throws: `PlaylistError.keyUnavailable` if there is no key, or if it expires before the last byte is read; see
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

    /// Returns a reader for one thread. It delivers plaintext while the leases of its keys last; see `CompositeCursor`.
    ///
    /// - Parameters:
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    ///   - leases: A lease for each key's URI. Segments with other keys cannot be read.
    /// - Returns: A cursor. Its reads throw `PlaylistError.keyUnavailable` if a lease has ended or is missing.
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

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

    /// Reads a range while the session permits it, on a thread of its own; keys that it lacks by now are asked for again.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - count: How many bytes, or as many as there are up to the end.
    ///   - session: The session that the object was opened with.
    ///   - windowByteCount: The max number of plaintext bytes that are decrypted in one step.
    /// - Returns: All of the bytes.
    /// - Throws: `PlaylistError.keyUnavailable` if there is no key, or it expires before the last byte is there; see
    ///   also `HLSCursor.read(at:into:)`.
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
                    let cursor = try self.makeCursor(windowByteCount: windowByteCount)
                    return try HLSLeasedCursor(cursor, leases: leases).read(at: offset, count: max(count, 0))
                }
            }
        } catch {
            result = .failure(error)
        }
        for lease in leases.values { await session.endRead(lease) }
        return try result.get()
    }
}

/// Reads an `HLSObject` while the leases of its keys last.
///
/// A read uses the leases of the keys that its segments are encrypted with. They are checked before and after each
/// piece, and once more before the read delivers: if one has ended, what was decrypted is erased and the read fails, so
/// that a segment whose key has expired is not delivered with the next one. Belongs to one thread.
public final class HLSLeasedCursor: RandomAccessDecryptor {
    private let cursor: HLSCursor
    private let leases: [String: KeyLease]

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - cursor: The cursor that decrypts.
    ///   - leases: A lease for each key's URI; segments of other keys cannot be read.
    public init(_ cursor: HLSCursor, leases: [String: KeyLease]) {
        self.cursor = cursor
        self.leases = leases
    }

    /// The plaintext's length in bytes; see `HLSCursor.plaintextByteCount`.
    public var plaintextByteCount: UInt64 { cursor.plaintextByteCount }

    /// Reads piece by piece; see `RandomAccessDecryptor.read(at:into:)`.
    ///
    /// - Throws: `PlaylistError.inPart` with `.keyUnavailable` if a lease has ended or there is none, and what
    ///   `HLSCursor.read(at:into:)` throws.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let object = cursor.object
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        let count = Int(min(UInt64(buffer.count), plaintextByteCount - offset))
        var delivered = 0
        var used: [HLSPart] = []
        do throws(DecryptionError) {
            while delivered < count {
                let position = offset + UInt64(delivered)
                let part = object.parts[object.partIndex(at: position)]
                let maximum = min(LeasedReader.pieceByteCount, cursor.windowByteCount, count - delivered)
                let end = delivered + Int(min(UInt64(maximum), part.plaintext.upperBound - position))
                if used.last?.plaintext != part.plaintext { used.append(part) }
                try permit(part)
                // Counted first, so that bytes that were decrypted and not permitted are erased as well.
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<end])
                delivered = end
                _ = try cursor.read(at: position, into: piece)
                try permit(part)
            }
            for part in used { try permit(part) }
        } catch {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<delivered]))
            throw error
        }
        return count
    }

    /// Asks the cursor; see `RandomAccessDecryptor.checkVersion()`.
    public func checkVersion() throws(DecryptionError) { cursor.checkVersion() }

    private func permit(_ part: HLSPart) throws(DecryptionError) {
        guard let uri = cursor.object.keyURI(of: part) else { return }
        do throws(DecryptionError) {
            guard let lease = leases[uri] else {
                throw .keyUnavailable(uri: URIReference(uri).redacted, reason: "there is no lease of it")
            }
            try lease.permitRead()
        } catch {
            throw .inPart(cursor.object.name(of: part), error)
        }
    }
}

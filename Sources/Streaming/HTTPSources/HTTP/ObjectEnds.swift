#if Network
/// The bytes that arrive when an object is opened.
struct ObjectEnds: Sendable {
    /// The object's first bytes.
    private var first: [UInt8] = []
    /// Its last bytes and their offset; empty if the first bytes are the whole object.
    private var last: (start: UInt64, bytes: [UInt8]) = (.max, [])

    /// Fetches the bytes from both ends at once.
    ///
    /// - Parameters:
    ///   - transport: The transport to the server.
    ///   - options: The numbers of bytes. If the last ones do not arrive, at least one first byte is fetched.
    ///   - limits: The time limits.
    /// - Returns: The bytes, all of one version, and the version.
    /// - Throws: ``HTTPFailure`` if no bytes arrive. The object can be read without its last bytes.
    static func fetch(
        _ transport: HTTPTransport, _ options: HTTPSource.Options, _ limits: Deadlines
    ) throws(HTTPFailure) -> (ends: ObjectEnds, version: ObjectVersion) {
        var ends = ObjectEnds()
        var pending = transport.startLast(options.lastByteCount, limits: limits)
        if options.firstByteCount == 0, let asked = pending {
            if let found = try transport.last(asked) {
                ends.last = (found.version.byteCount - UInt64(found.bytes.count), found.bytes)
                return (ends, found.version)
            }
            pending = nil
        }
        let version: ObjectVersion
        do throws(HTTPFailure) {
            (ends.first, version) = try transport.fetch(
                0..<UInt64(max(1, options.firstByteCount)), opened: nil, limits: limits)
        } catch {
            pending?.cancel()
            throw error
        }
        if ends.isWhole(version) {
            pending?.cancel()
        } else if let pending, let found = try? transport.last(pending), found.version.isSame(as: version) {
            ends.last = (version.byteCount - UInt64(found.bytes.count), found.bytes)
        }
        return (ends, version)
    }

    /// Returns whether the bytes of one answer are the whole object.
    func isWhole(_ version: ObjectVersion) -> Bool {
        version.byteCount == UInt64(first.count) || version.byteCount == UInt64(last.bytes.count)
    }

    /// Returns the bytes from `offset` on; `nil` if that byte is not among them.
    func bytes(at offset: UInt64) -> ArraySlice<UInt8>? {
        if offset < UInt64(first.count) { return first[Int(offset)...] }
        return offset >= last.start ? last.bytes[Int(offset - last.start)...] : nil
    }

    /// Returns the range that must still be fetched, for an object of this length.
    func unknown(of byteCount: UInt64) -> Range<UInt64> {
        let end = min(last.start, byteCount)
        return min(UInt64(first.count), end)..<end
    }
}
#endif

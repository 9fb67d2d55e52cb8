#if Network
/// The bytes that come when an object is opened.
struct ObjectEnds: Sendable {
    /// The object's first bytes.
    private var first: [UInt8] = []
    /// Its last ones, and where they start; none where the first ones are all.
    private var last: (start: UInt64, bytes: [UInt8]) = (.max, [])

    /// Fetches them, from both ends at once.
    ///
    /// - Parameters:
    ///   - transport: Asks the server.
    ///   - options: How many there are. Where the last ones do not come, there is a first one at least.
    ///   - limits: How long it may take.
    /// - Returns: The bytes, all of one version, and the version.
    /// - Throws: ``HTTPFailure`` if there are neither; without the last ones the object can be read.
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

    /// Whether they are all of an object, of one answer.
    func isWhole(_ version: ObjectVersion) -> Bool {
        version.byteCount == UInt64(first.count) || version.byteCount == UInt64(last.bytes.count)
    }

    /// The bytes from `offset` on; `nil` if it is none of them.
    func bytes(at offset: UInt64) -> ArraySlice<UInt8>? {
        if offset < UInt64(first.count) { return first[Int(offset)...] }
        return offset >= last.start ? last.bytes[Int(offset - last.start)...] : nil
    }

    /// What has to be asked for, of an object of so many bytes.
    func unknown(of byteCount: UInt64) -> Range<UInt64> {
        let end = min(last.start, byteCount)
        return min(UInt64(first.count), end)..<end
    }
}
#endif

package import RandomAccess
import Support
import Synchronization

/// A source on the other side of the protocol: each read requests bytes from the harness.
///
/// Source: PROTOCOL.md, "Served sources". Readers on several threads take turns, since only one `need` may be pending.
/// The class is `@unchecked` because the pipe is only used under the lock, or by the thread that waits for those
/// readers.
package final class ServedSource: ByteSource, @unchecked Sendable {
    /// The length that the harness announced.
    package let byteCount: UInt64
    /// The same as for a distant source: the harness may have the bytes from anywhere, and each `need` is a round trip.
    package var requestByteCount: Int { DistantSource.requestByteCount }
    private let pipe: PipeEnd
    /// The name that `need` has to give if there are several sources.
    private let uri: String?
    private let turn: ServedTurn

    package convenience init(byteCount: UInt64, pipe: PipeEnd) {
        self.init(byteCount: byteCount, pipe: pipe, uri: nil, turn: ServedTurn())
    }

    /// Sources of one object share a turn.
    init(byteCount: UInt64, pipe: PipeEnd, uri: String?, turn: ServedTurn) {
        self.byteCount = byteCount
        self.pipe = pipe
        self.uri = uri
        self.turn = turn
    }

    /// Reads bytes; see ``ByteSource/read(at:into:)``.
    package func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let wanted = min(UInt64(buffers.byteCount), byteCount - offset)
        return try turn.lock.withLock { (_) throws(DecryptionError) in try fetch(wanted, at: offset, into: buffers) }
    }

    private func fetch(_ wanted: UInt64, at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        var members: [String: JSONValue] = ["offset": .integer(offset), "count": .integer(wanted)]
        if let uri { members["uri"] = .string(uri) }
        let need: JSONValue = ["need": .object(members)]
        guard need.line.withUnsafeBytes({ pipe.writeAll($0) }), let line = pipe.readLine(),
            let answer = JSONValue.parse(line)
        else { throw Self.failure("the harness went away") }
        guard let payload = (answer["payload"] ?? 0).integer else {
            throw Self.failure("a payload that is no number of bytes was served")
        }
        guard answer["ok"]?.bool == true, payload <= wanted else {
            // A payload is always consumed, even if the answer is wrong.
            _ = pipe.skip(payload)
            throw Self.failure(
                payload > wanted
                    ? "\(payload) bytes served, at most \(wanted) asked for" : "the harness could not read")
        }
        let filled = buffers.prefix(Int(payload))
        var isWhole = true
        filled.forEach { _, buffer in isWhole = isWhole && pipe.readExactly(into: buffer) }
        guard isWhole else { throw Self.failure("the harness went away") }
        return Int(payload)
    }

    private static func failure(_ reason: String) -> DecryptionError {
        .io(operation: "read of served source", code: 0, reason: reason)
    }
}

/// The lock that a source holds while its `need` is pending; only one may be.
final class ServedTurn: Sendable {
    let lock = Mutex(())
}

/// The resources that the harness serves of one object: a `need` is answered from the resource that it names.
package protocol ServedResources: Sendable {
    /// Returns the resource that a `need` asks for.
    ///
    /// - Parameter uri: The member `uri`, or `nil` if there is none.
    /// - Returns: The resource, or `nil` if the object has none of that name.
    func resource(_ uri: String?) -> (any ByteSource)?
}

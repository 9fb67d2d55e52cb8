internal import ByteSources
internal import RandomAccess
internal import SubjectProtocol
import Synchronization
internal import Vectors

/// The source that the harness serves: notes what was asked for and what was delivered, and goes wrong where it is told
/// to.
final class ServedCiphertext: ByteSource {
    /// What goes wrong.
    enum Fault: Hashable, Sendable {
        case none
        /// At most so many bytes at once.
        case short(largest: Int)
        /// Each read fails.
        case failure
        /// Each read from this offset on fails; one before it delivers bytes up to there.
        case failureFrom(UInt64)
        /// The source ends here, whatever was announced.
        case end(at: UInt64)
    }

    /// A range that was asked for, and how much of it was delivered.
    struct Fetch: Hashable, Sendable {
        var asked: Range<UInt64>
        var deliveredByteCount: UInt64

        var delivered: Range<UInt64> { asked.lowerBound..<asked.lowerBound + deliveredByteCount }
    }

    private struct State {
        var fault = Fault.none
        var hasFaulted = false
        var fetches: [Fetch] = []
    }

    private let base: any ByteSource
    /// The resources of a playlist, by URI as written; `nil` for an object that is one source.
    private let resources: [String: any ByteSource]?
    private let state = Mutex(State())

    /// Serves a group's object.
    init(_ group: VectorGroup) {
        self.base = group.ciphertext
        self.resources = group.playlist?.resources.mapValues { MemorySource($0) }
    }

    var byteCount: UInt64 { base.byteCount }

    /// What was asked for since the last ``begin(_:)``.
    var fetches: [Fetch] { state.withLock { $0.fetches } }

    /// Whether the fault was met since the last ``begin(_:)``.
    var hasFaulted: Bool { state.withLock { $0.hasFaulted } }

    /// Forgets what was noted, and says what goes wrong from now on.
    func begin(_ fault: Fault = .none) {
        state.withLock { $0 = State(fault: fault) }
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try read(base, at: offset, into: buffers)
    }

    private func read(
        _ base: any ByteSource, at offset: UInt64, into buffers: FetchBuffers
    ) throws(DecryptionError) -> Int {
        let fault = state.withLock { $0.fault }
        let asked = offset..<offset + UInt64(buffers.byteCount)
        var maximum = buffers.byteCount
        switch fault {
        case .none: break
        case .short(let largest): maximum = min(maximum, largest)
        case .failureFrom(let place) where offset < place:
            maximum = Int(min(UInt64(maximum), place - offset))
        case .failure, .failureFrom:
            note(Fetch(asked: asked, deliveredByteCount: 0), isFault: true)
            throw .io(operation: "read", code: 5, reason: "injected fault")
        case .end(let end): maximum = Int(min(UInt64(maximum), end - min(end, offset)))
        }
        let isShort = maximum < buffers.byteCount
        // A source that fails on its own is the harness's fault, and still an answer to the subject.
        let count = maximum == 0 ? 0 : try base.read(at: offset, into: buffers.prefix(maximum))
        note(Fetch(asked: asked, deliveredByteCount: UInt64(count)), isFault: isShort)
        return count
    }

    private func note(_ fetch: Fetch, isFault: Bool) {
        state.withLock {
            $0.fetches.append(fetch)
            $0.hasFaulted = $0.hasFaulted || isFault
        }
    }
}

extension ServedCiphertext: ServedResources {
    /// One resource of a playlist, or the only source that there is.
    func resource(_ uri: String?) -> (any ByteSource)? {
        guard let resources else { return self }
        return uri.flatMap { resources[$0] }.map { Resource(of: self, base: $0) }
    }

    /// A resource of a playlist, in which goes wrong what does in all of them.
    private struct Resource: ByteSource {
        let of: ServedCiphertext
        let base: any ByteSource

        var byteCount: UInt64 { base.byteCount }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            try of.read(base, at: offset, into: buffers)
        }
    }
}

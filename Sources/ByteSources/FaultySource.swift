public import RandomAccess
import Synchronization

/// Fails or ends early where it is told to.
public final class FaultySource: ByteSource {
    /// What goes wrong with the next reads.
    public enum Fault: Hashable, Sendable {
        /// Nothing.
        case none
        /// Each read throws `DecryptionError.io`.
        case failure
        /// The source ends at this offset, whatever length it said.
        case end(at: UInt64)
    }

    private let base: any ByteSource
    private let fault: Mutex<Fault>

    /// Wraps a source.
    public init(_ base: any ByteSource, fault: Fault = .none) {
        self.base = base
        self.fault = Mutex(fault)
    }

    /// The wrapped source's length in bytes.
    public var byteCount: UInt64 { base.byteCount }

    /// Says what goes wrong from now on.
    public func inject(_ fault: Fault) {
        self.fault.withLock { $0 = fault }
    }

    /// Reads bytes; see ``ByteSource/read(at:into:)``.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        switch fault.withLock({ $0 }) {
        case .none:
            return try base.read(at: offset, into: buffers)
        case .failure:
            throw .io(operation: "read", code: 5, reason: "injected fault")
        case .end(let end):
            guard offset < end else { return 0 }
            return try base.read(at: offset, into: buffers.prefix(Int(min(UInt64(buffers.byteCount), end - offset))))
        }
    }

    /// Notices a change; see ``ByteSource/checkUnchanged()``.
    public func checkUnchanged() throws(DecryptionError) {
        try base.checkUnchanged()
    }
}

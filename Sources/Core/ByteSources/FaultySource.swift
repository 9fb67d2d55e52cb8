public import RandomAccess
import Synchronization

/// A source that fails or ends early on request.
public final class FaultySource: WrappingSource {
    /// The fault that the next reads meet.
    public enum Fault: Hashable, Sendable {
        /// Nothing.
        case none
        /// Each read throws `DecryptionError.io`.
        case failure
        /// Each read from this offset on throws `DecryptionError.io`; one before it delivers bytes up to there.
        case failureFrom(UInt64)
        /// The source ends at this offset, whatever its `byteCount` says.
        case end(at: UInt64)
        /// Reads succeed, but the source's length has changed.
        case changedLength
    }

    /// The wrapped source.
    public let base: any ByteSource
    private let fault: Mutex<Fault>

    /// A source with the faults of `fault`.
    public init(_ base: any ByteSource, fault: Fault = .none) {
        self.base = base
        self.fault = Mutex(fault)
    }

    /// Sets the fault of all later reads.
    public func inject(_ fault: Fault) {
        self.fault.withLock { $0 = fault }
    }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        switch fault.withLock({ $0 }) {
        case .none, .changedLength:
            return try base.read(at: offset, into: buffers)
        case .failure:
            throw Self.failure
        case .failureFrom(let limit):
            guard offset < limit else { throw Self.failure }
            return try base.read(at: offset, into: buffers.prefix(Int(min(UInt64(buffers.byteCount), limit - offset))))
        case .end(let end):
            guard offset < end else { return 0 }
            return try base.read(at: offset, into: buffers.prefix(Int(min(UInt64(buffers.byteCount), end - offset))))
        }
    }

    private static let failure = DecryptionError.io(operation: "read", code: 5, reason: "injected fault")

    /// Fails after a change; see `ByteSource.checkVersion()`.
    public func checkVersion() throws(DecryptionError) {
        if fault.withLock({ $0 }) == .changedLength {
            throw .sourceChanged(byteCount: byteCount + 16, expected: byteCount)
        }
        try base.checkVersion()
    }
}

/// A source that delivers fewer bytes than asked for, which the standard allows and few programs expect.
public struct ShortReadingSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    private let largestRead: Int

    /// A source whose reads are short.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - largestRead: The max number of bytes of one read, at least 1.
    public init(_ base: any ByteSource, largestRead: Int) {
        precondition(largestRead > 0, "reads of \(largestRead) bytes")
        self.base = base
        self.largestRead = largestRead
    }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers.prefix(min(largestRead, buffers.byteCount)))
    }
}

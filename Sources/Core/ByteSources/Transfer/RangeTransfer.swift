package import RandomAccess
import Support

/// Decrypts a range of an object to a sink, window by window, on one or more threads.
///
/// It holds one window with one thread, and two windows per thread with more, for any range.
package struct RangeTransfer {
    private let object: any TransferableObject
    private let range: Range<UInt64>
    private let windowByteCount: Int

    /// Prepares a transfer.
    ///
    /// - Parameters:
    ///   - object: The object to decrypt.
    ///   - range: Plaintext bytes, within the object.
    ///   - windowByteCount: The max number of bytes of one step, rounded down to whole blocks, at least one block.
    ///     Steps end at its multiples.
    package init(object: any TransferableObject, range: Range<UInt64>, windowByteCount: Int) {
        self.object = object
        self.range = range
        // If a window ended inside a block, that block would be fetched and decrypted twice.
        self.windowByteCount = max(16, windowByteCount / 16 * 16)
    }

    /// Runs the transfer. It does not commit the sink; the caller must not commit it if this fails.
    ///
    /// - Parameters:
    ///   - sink: The destination of the plaintext, whose first byte is at offset 0.
    ///   - threadCount: The number of threads, at least 1.
    ///   - progress: Called on the caller's thread with the bytes done so far.
    /// - Throws: The first error of any thread; at the end, the errors of ``TransferableObject/checkVersion()``.
    package func run(
        to sink: any ByteSink, threadCount: Int, progress: @escaping (UInt64) -> Void = { _ in }
    ) throws(DecryptionError) {
        let windows = firstWindow..<lastWindow
        let team = ThreadTeam(threadCount: max(1, min(threadCount, windows.count)))
        var cursors: [any RandomAccessDecryptor] = []
        for _ in 0..<team.threadCount { cursors.append(try object.makeReader(windowByteCount: windowByteCount)) }
        let ring = try WindowRing(
            windows: windows, bufferCount: team.threadCount == 1 ? 1 : team.threadCount * Self.buffersPerThread,
            bufferByteCount: Int(min(UInt64(windowByteCount), byteCount)), isOrdered: !sink.isSeekable)
        if byteCount > windowByteCount { object.adviseSequential(range) }
        // Each thread uses the cursor of its index and no other.
        nonisolated(unsafe) let ownCursors = cursors
        team.run { index in
            while let (window, buffer) = ring.claim() {
                do throws(DecryptionError) {
                    let bytes = try self.decrypt(window, with: ownCursors[index], into: buffer)
                    ring.finish(window, in: buffer, bytes) { (window, bytes) throws(DecryptionError) in
                        try sink.write(bytes, at: self.part(window).lowerBound - self.range.lowerBound)
                    }
                } catch {
                    ring.fail(error)
                }
                if index == 0 { progress((ring.turnNumber - windows.lowerBound) * UInt64(self.windowByteCount)) }
            }
        }
        if let failure = ring.failure { throw failure }
        try object.checkVersion()
    }

    /// With one buffer per thread, a fast thread would wait for a slow one at each window.
    private static let buffersPerThread = 2

    private func decrypt(
        _ window: UInt64, with cursor: any RandomAccessDecryptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> UnsafeRawBufferPointer {
        let part = part(window)
        let plaintext = UnsafeMutableRawBufferPointer(rebasing: buffer[..<part.count])
        let count = try cursor.read(at: part.lowerBound, into: plaintext)
        // A sink that takes windows in any order would keep a hole.
        guard count == part.count else {
            throw .truncatedCiphertext(
                byteCount: part.lowerBound + UInt64(count), expected: "\(part.upperBound) for this read")
        }
        return UnsafeRawBufferPointer(rebasing: plaintext[..<count])
    }

    /// The range's length, which may be more than an `Int` holds.
    private var byteCount: UInt64 { range.upperBound - range.lowerBound }

    private var firstWindow: UInt64 { range.lowerBound / UInt64(windowByteCount) }

    private var lastWindow: UInt64 {
        range.isEmpty ? firstWindow : (range.upperBound - 1) / UInt64(windowByteCount) + 1
    }

    /// Returns the part of the range within a window.
    private func part(_ window: UInt64) -> Range<UInt64> {
        let start = window * UInt64(windowByteCount)
        let count = min(UInt64(windowByteCount), range.upperBound - start)
        return max(range.lowerBound, start)..<start + count
    }
}

/// Ciphertext that several threads can decrypt window by window: one object, or several pieces.
package protocol TransferableObject: Sendable {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Returns a reader for one thread.
    ///
    /// - Parameter windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    /// - Returns: A reader without a position of its own.
    /// - Throws: `DecryptionError`.
    func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor

    /// Checks that all bytes read so far are of one version.
    ///
    /// - Throws: `DecryptionError.sourceChanged` or `.io` if they may be of several.
    func checkVersion() throws(DecryptionError)

    /// Tells the object that a range will be read whole and roughly in order.
    ///
    /// - Parameter range: Plaintext bytes, within the object.
    func adviseSequential(_ range: Range<UInt64>)
}

extension EncryptedObject: TransferableObject {
    /// Returns a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Asks the source; see `ByteSource.checkVersion()`.
    package func checkVersion() throws(DecryptionError) {
        try source.checkVersion()
    }

    /// Tells the source about the ciphertext bytes of that range.
    package func adviseSequential(_ range: Range<UInt64>) {
        guard let last = range.last else { return }
        var (first, end) = (layout.plan(range.lowerBound..<range.lowerBound + 1), layout.plan(last..<last + 1))
        guard let start = first.next()?.fetch.lowerBound, let stop = end.next()?.fetch.upperBound else { return }
        source.adviseSequential(start..<stop)
    }
}

extension CompositeObject: TransferableObject {
    /// Returns a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Does nothing; see `CompositeCursor.checkVersion()`.
    package func checkVersion() {}
}

/// A range in the user's notation, which is HTTP's. Source: RFC 9110, section 14.1.2.
package enum RangeRequest: Hashable, Sendable {
    /// `A-B`: from byte A to byte B, both included.
    case between(first: UInt64, last: UInt64)
    /// `A-`: from byte A to the end.
    case from(UInt64)
    /// `-N`: the last N bytes.
    case suffix(UInt64)

    /// Parses `A-B`, `A-` or `-N`. Numbers beyond 64 bits count as the largest 64-bit number, since all of them lie
    /// past every end.
    ///
    /// - Returns: `nil` if the text has none of these forms, or B is less than A.
    package init?(_ text: String) { self.init(text.utf8.span) }

    /// Parses the bytes of a text as `init(_:)` does the text.
    package init?(_ text: Span<UInt8>) {
        var (before, behind): (UInt64?, UInt64?)
        var hasMark = false
        for index in text.indices {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "-") where !hasMark: hasMark = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = UInt64(byte - UInt8(ascii: "0"))
                if hasMark { Self.add(digit, to: &behind) } else { Self.add(digit, to: &before) }
            default: return nil
            }
        }
        switch (before, behind) {
        case _ where !hasMark: return nil
        case (let first?, let last?) where first <= last: self = .between(first: first, last: last)
        case (let first?, nil): self = .from(first)
        case (nil, let count?): self = .suffix(count)
        default: return nil
        }
    }

    private static func add(_ digit: UInt64, to number: inout UInt64?) {
        let (tens, hasOverflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, hasCarry) = tens.addingReportingOverflow(digit)
        number = hasOverflow || hasCarry || number == .max ? .max : sum
    }

    /// Returns the plaintext bytes of the range, clipped at the end.
    ///
    /// - Returns: `nil` if the range starts at or past the end, where a server would answer 416.
    package func resolved(plaintextByteCount: UInt64) -> Range<UInt64>? {
        let start: UInt64
        var end = plaintextByteCount
        switch self {
        case .between(let first, let last):
            start = first
            if last < plaintextByteCount { end = last + 1 }
        case .from(let first):
            start = first
        case .suffix(let count):
            start = plaintextByteCount - min(count, plaintextByteCount)
        }
        return start < plaintextByteCount ? start..<end : nil
    }
}

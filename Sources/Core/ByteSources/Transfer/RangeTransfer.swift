package import RandomAccess
import Support

/// Decrypts a range of an object to a sink, window by window, on one or more threads.
///
/// Memory is one window for one thread, two windows a thread for more, whatever the range.
package struct RangeTransfer {
    private let object: any TransferableObject
    private let range: Range<UInt64>
    private let windowByteCount: Int

    /// Plans a transfer.
    ///
    /// - Parameters:
    ///   - object: What to decrypt.
    ///   - range: Plaintext bytes, within the object.
    ///   - windowByteCount: The max number of bytes of one step, rounded down to whole blocks, one at least; steps end
    ///     at its multiples.
    package init(object: any TransferableObject, range: Range<UInt64>, windowByteCount: Int) {
        self.object = object
        self.range = range
        // A window that ended inside a block would have that block fetched and decrypted twice.
        self.windowByteCount = max(16, windowByteCount / 16 * 16)
    }

    /// Runs the transfer; the sink is not committed, and is not to be if this fails.
    ///
    /// - Parameters:
    ///   - sink: Where the plaintext goes, its first byte at offset 0.
    ///   - threadCount: The number of threads, at least 1.
    ///   - progress: Called on the caller's thread with the bytes done so far.
    /// - Throws: The first error of any thread; at the end, what ``TransferableObject/checkVersion()`` throws.
    package func run(
        to sink: any ByteSink, threadCount: Int, progress: @escaping (UInt64) -> Void = { _ in }
    ) throws(DecryptionError) {
        let windows = firstWindow..<lastWindow
        let team = ThreadTeam(threadCount: max(1, min(threadCount, windows.count)))
        var cursors: [any RandomAccessDecryptor] = []
        for _ in 0..<team.threadCount { cursors.append(try object.makeReader(windowByteCount: windowByteCount)) }
        let ring = try WindowRing(
            windows: windows, slotCount: team.threadCount == 1 ? 1 : team.threadCount * Self.slotsPerThread,
            bufferByteCount: Int(min(UInt64(windowByteCount), byteCount)), isOrdered: !sink.isSeekable)
        if byteCount > windowByteCount { object.adviseSequential(range) }
        // Each thread uses the cursor of its index and no other.
        nonisolated(unsafe) let ownCursors = cursors
        team.run { index in
            while let (window, buffer) = ring.claim() {
                do throws(DecryptionError) {
                    let bytes = try self.decrypt(window, with: ownCursors[index], into: buffer)
                    ring.finish(window, bytes) { (window, bytes) throws(DecryptionError) in
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

    /// With one buffer a thread, a thread that is ahead would wait for the one behind at each window.
    private static let slotsPerThread = 2

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

    /// The part of the range that lies in a window.
    private func part(_ window: UInt64) -> Range<UInt64> {
        let start = window * UInt64(windowByteCount)
        let count = min(UInt64(windowByteCount), range.upperBound - start)
        return max(range.lowerBound, start)..<start + count
    }
}

/// Ciphertext that can be decrypted window by window, on several threads: one object, or several pieces.
package protocol TransferableObject: Sendable {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Makes a reader for one thread.
    ///
    /// - Parameter windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    /// - Returns: A reader without a position of its own.
    /// - Throws: `DecryptionError`.
    func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor

    /// Checks that all that was read is of one version.
    ///
    /// - Throws: `DecryptionError.sourceChanged` or `.io` if it may be of several.
    func checkVersion() throws(DecryptionError)

    /// Tells the object that a range will be read whole and about in order.
    ///
    /// - Parameter range: Plaintext bytes, within the object.
    func adviseSequential(_ range: Range<UInt64>)
}

extension EncryptedObject: TransferableObject {
    /// Makes a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Asks the source; see `ByteSource.checkVersion()`.
    package func checkVersion() throws(DecryptionError) {
        try source.checkVersion()
    }

    /// Tells the source which of its bytes that takes.
    package func adviseSequential(_ range: Range<UInt64>) {
        guard let last = range.last else { return }
        var (first, end) = (layout.plan(range.lowerBound..<range.lowerBound + 1), layout.plan(last..<last + 1))
        guard let start = first.next()?.fetch.lowerBound, let stop = end.next()?.fetch.upperBound else { return }
        source.adviseSequential(start..<stop)
    }
}

extension CompositeObject: TransferableObject {
    /// Makes a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Does nothing; see `CompositeCursor.checkVersion()`.
    package func checkVersion() {}
}

/// A range as a user asks for it, in the words of HTTP. Source: RFC 9110, section 14.1.2.
package enum RangeRequest: Hashable, Sendable {
    /// `A-B`: from byte A to byte B, both included.
    case between(first: UInt64, last: UInt64)
    /// `A-`: from byte A to the end.
    case from(UInt64)
    /// `-N`: the last N bytes.
    case suffix(UInt64)

    /// Reads `A-B`, `A-` or `-N`; numbers that 64 bits do not hold count as the largest that they do, since all of
    /// them lie past every end.
    ///
    /// - Returns: `nil` if the text is none of these, or B lies before A.
    package init?(_ text: String) { self.init(text.utf8.span) }

    /// Reads the bytes of a text as `init(_:)` does the text.
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

    /// The plaintext bytes that are meant, clipped at the end.
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

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
    ///   - windowByteCount: The most bytes of one step, rounded down to whole blocks, one at least; steps end at its
    ///     multiples.
    package init(object: any TransferableObject, range: Range<UInt64>, windowByteCount: Int) {
        self.object = object
        self.range = range
        // A window that ended inside a block would have that block fetched and decrypted twice.
        self.windowByteCount = max(16, windowByteCount / 16 * 16)
    }

    /// Runs the transfer; the sink is not committed.
    ///
    /// - Parameters:
    ///   - sink: Where the plaintext goes, its first byte at offset 0.
    ///   - threadCount: The number of threads, at least 1.
    ///   - progress: Called on the caller's thread with the bytes done so far.
    /// - Throws: The first error of any thread.
    package func run(
        to sink: any ByteSink, threadCount: Int, progress: @escaping (UInt64) -> Void = { _ in }
    ) throws(DecryptionError) {
        let windows = firstWindow..<lastWindow
        let team = ThreadTeam(threadCount: max(1, min(threadCount, windows.count)))
        var cursors: [any RandomAccessDecryptor] = []
        for _ in 0..<team.threadCount { cursors.append(try object.makeReader(windowByteCount: windowByteCount)) }
        let ring = WindowRing(
            windows: windows, slotCount: team.threadCount == 1 ? 1 : team.threadCount * Self.slotsPerThread,
            bufferByteCount: Int(min(UInt64(windowByteCount), UInt64(range.count))), isOrdered: !sink.isSeekable)
        if range.count > windowByteCount { object.adviseSequential(range) }
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
    }

    /// With one buffer a thread, a thread that is ahead would wait for the one behind at each window.
    private static let slotsPerThread = 2

    private func decrypt(
        _ window: UInt64, with cursor: any RandomAccessDecryptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> UnsafeRawBufferPointer {
        let part = part(window)
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<part.count])
        let count = try cursor.read(at: part.lowerBound, into: room)
        return UnsafeRawBufferPointer(rebasing: room[..<count])
    }

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

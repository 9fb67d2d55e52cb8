import Glibc
import Results
import Support
import Synchronization

/// A team of threads, with the duration and the number of timed samples.
struct Sampling {
    let team: ThreadTeam
    let sampleNanoseconds: UInt64
    let sampleCount: Int

    /// Times work that all threads do in parallel.
    ///
    /// Each sample repeats the work often enough to reach the minimum duration. The first runs only find this number.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes of one round over all threads.
    ///   - round: Does one round of the thread with the given index.
    /// - Returns: The samples, in the order in which they were taken.
    func rate(byteCount: Int, round: @escaping (Int) -> Void) -> Rate {
        var repeats = 1
        // The first run is the warm-up.
        _ = time(repeats, round)
        while true {
            let nanoseconds = max(1, time(repeats, round))
            if nanoseconds >= sampleNanoseconds || repeats >= 1 << 30 { break }
            let factor = Double(sampleNanoseconds) / Double(nanoseconds) * 1.1
            repeats = Int(Double(repeats) * min(max(factor, 1.2), 16)) + 1
        }
        let samples = (0..<max(1, sampleCount)).map { _ in time(repeats, round) }
        return Rate(byteCount: UInt64(byteCount) * UInt64(repeats), nanoseconds: samples)
    }

    private func time(_ repeats: Int, _ round: @escaping (Int) -> Void) -> UInt64 {
        let start = monotonicNanoseconds()
        team.run { index in
            for _ in 0..<repeats { round(index) }
        }
        return monotonicNanoseconds() - start
    }

    /// Times reads of each thread's share of a file, window by window.
    ///
    /// - Throws: `LimitError` if a read fails.
    func pageCacheRead(from file: CachedFile, windowByteCount: Int) throws(LimitError) -> BufferRate {
        let count = team.threadCount
        let windows = (0..<count).map { _ in Buffer(byteCount: windowByteCount) }
        let steps = share(of: file.byteCount, 0, count).count / windowByteCount
        let failures = FailureCount()
        let rate = rate(byteCount: steps * windowByteCount * count) { index in
            let start = share(of: file.byteCount, index, count).lowerBound
            for step in 0..<steps
            where !file.read(into: windows[index].bytes, at: start + step * windowByteCount) {
                failures.add()
            }
        }
        guard failures.isZero else { throw LimitError("read a file of \(file.byteCount) bytes", code: 0) }
        return BufferRate(bufferByteCount: UInt64(windowByteCount), rate: rate)
    }
}

/// A count of failures in several threads.
private final class FailureCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    func add() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

extension Sampling {
    /// Times copies within the cache of each thread's CPU. The corresponding C function is `memmove`.
    func cacheCopy(byteCount: Int) -> BufferRate {
        let sources = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        let targets = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        let rate = rate(byteCount: byteCount * team.threadCount) { index in
            targets[index].bytes.copyMemory(from: UnsafeRawBufferPointer(sources[index].bytes))
        }
        return BufferRate(bufferByteCount: UInt64(byteCount), rate: rate)
    }

    /// Times copies from memory to memory, of each thread's share. The corresponding C function is `memmove`.
    func memoryCopy(from source: Buffer, to target: Buffer) -> BufferRate {
        let count = team.threadCount
        let copied = share(of: source.bytes.count, 0, count).count * count
        let rate = rate(byteCount: copied) { index in
            target.slice(index, of: count).copyMemory(from: UnsafeRawBufferPointer(source.slice(index, of: count)))
        }
        return BufferRate(bufferByteCount: UInt64(source.bytes.count), rate: rate)
    }

    /// Times copies from memory into a window of each thread, window by window.
    func memoryRead(from source: Buffer, windowByteCount: Int) -> BufferRate {
        let count = team.threadCount
        let windows = (0..<count).map { _ in Buffer(byteCount: windowByteCount) }
        let steps = share(of: source.bytes.count, 0, count).count / windowByteCount
        let rate = rate(byteCount: steps * windowByteCount * count) { index in
            let slice = source.slice(index, of: count)
            let window = windows[index].bytes
            for step in 0..<steps {
                let start = step * windowByteCount
                window.copyMemory(from: UnsafeRawBufferPointer(rebasing: slice[start..<start + windowByteCount]))
            }
        }
        return BufferRate(bufferByteCount: UInt64(windowByteCount), rate: rate)
    }

    /// The length of the blocks in bytes. Input and output together fit the smallest cache of any CPU with an AES unit.
    private static var blockByteCount: Int { 12 << 10 }

    /// Times the decryption of independent blocks in cache.
    ///
    /// - Returns: `nil` if the CPU lacks the unit.
    func decryption(unit: AESUnit, keyByteCount: Int) -> Rate? {
        guard let key = AESUnitKey(unit: unit, key: (0..<keyByteCount).map { UInt8($0) }) else { return nil }
        let byteCount = Self.blockByteCount
        let inputs = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        let outputs = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        return rate(byteCount: byteCount * team.threadCount) { index in
            key.decrypt(UnsafeRawBufferPointer(inputs[index].bytes), into: outputs[index].bytes)
        }
    }

    /// The fastest of the CPU's units. Wider registers count as faster only from 5 % on, so that the choice between two
    /// equally fast units is the same in every run.
    func fastestUnit() -> AESUnit? {
        var fastest: (unit: AESUnit, bytesPerSecond: UInt64)?
        for unit in AESUnit.present {
            guard let rate = decryption(unit: unit, keyByteCount: 16)?.bytesPerSecond else { continue }
            if let known = fastest?.bytesPerSecond, Double(rate) < Double(known) * 1.05 { continue }
            fastest = (unit, rate)
        }
        return fastest?.unit
    }
}

/// The memory of one measurement. Every page is allocated before the clock runs.
final class Buffer {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 4096)
        // Not zeros, because pages of zeros may share one page.
        if let start = bytes.baseAddress { memset(start, 0x5A, byteCount) }
    }

    deinit {
        bytes.deallocate()
    }

    /// The share of a thread: whole pages, the same number for each thread.
    func slice(_ index: Int, of count: Int) -> UnsafeMutableRawBufferPointer {
        let range = share(of: bytes.count, index, count)
        return UnsafeMutableRawBufferPointer(rebasing: bytes[range])
    }
}

/// The byte range of a thread's share of `byteCount`. All shares have the same number of whole pages. The remainder is
/// not used.
func share(of byteCount: Int, _ index: Int, _ count: Int) -> Range<Int> {
    let each = byteCount / count / 4096 * 4096
    return index * each..<(index + 1) * each
}

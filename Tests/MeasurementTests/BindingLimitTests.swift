import Measurement
import Results
import Testing

private func rate(_ bytesPerSecond: UInt64) -> Rate {
    Rate(byteCount: bytesPerSecond, nanoseconds: [1_000_000_000])
}

private func limits(_ threads: Int, factor: UInt64, aes: Bool = true) -> ThreadLimits {
    func at(_ bufferByteCount: UInt64, _ bytesPerSecond: UInt64) -> BufferRate {
        BufferRate(bufferByteCount: bufferByteCount, rate: rate(bytesPerSecond * factor))
    }
    return ThreadLimits(
        threads: threads,
        aesDecrypt: aes ? [KeyRate(keyByteCount: 16, rate: rate(1000 * factor))] : [],
        cacheCopy: at(1 << 19, 9000), memoryCopy: at(1 << 28, 400), memoryRead: [at(1 << 16, 2000), at(1 << 20, 1200)],
        pageCacheRead: [at(1 << 12, 300), at(1 << 16, 700), at(1 << 20, 1500)])
}

@Suite("which limit binds")
struct BindingLimitTests {
    private let machine = MachineLimits(
        aesUnit: "aes-ni", oneThread: limits(1, factor: 1), allThreads: limits(4, factor: 3))

    private func bound(
        _ source: LimitedSource, window: UInt64, threads: Int = 1, key: Int = 16
    ) -> BindingLimit? {
        machine.bindingLimit(
            bytesPerSecond: 150, keyByteCount: key, windowByteCount: window, source: source, threads: threads)
    }

    @Test("the smaller one of two, and the share of it")
    func smaller() {
        #expect(bound(.file, window: 1 << 12) == BindingLimit(kind: .pageCacheRead, bytesPerSecond: 300, share: 0.5))
        #expect(bound(.file, window: 1 << 20) == BindingLimit(kind: .aesUnit, bytesPerSecond: 1000, share: 0.15))
        #expect(bound(.memory, window: 1 << 16) == BindingLimit(kind: .aesUnit, bytesPerSecond: 1000, share: 0.15))
        #expect(bound(.generated, window: 1) == BindingLimit(kind: .aesUnit, bytesPerSecond: 1000, share: 0.15))
    }

    @Test("between two windows the rate lies on a line over their logarithms, beyond them it stays")
    func interpolation() {
        #expect(bound(.file, window: 1 << 14)?.bytesPerSecond == 500)
        #expect(bound(.file, window: 1)?.bytesPerSecond == 300)
        #expect(bound(.file, window: 1 << 40)?.kind == .aesUnit)
        #expect(bound(.memory, window: 1 << 24)?.bytesPerSecond == 800)
        #expect(bound(.memory, window: 1 << 28)?.kind == .memoryCopy)
        #expect(bound(.memory, window: 1 << 40)?.bytesPerSecond == 400)
        #expect(bound(.mmap, window: 1 << 28)?.kind == .memoryCopy)
    }

    @Test(
        "some threads do as many times what one does, up to what all do", arguments: [(1, 1), (2, 2), (3, 3), (9, 3)])
    func threads(count: Int, factor: UInt64) {
        #expect(bound(.file, window: 1 << 12, threads: count)?.bytesPerSecond == 300 * factor)
    }

    @Test("all threads can do what one can, even where the machine was busy meanwhile", arguments: [2, 4, 9])
    func busyMachine(threads: Int) {
        let busy = MachineLimits(
            aesUnit: "aes-ni", oneThread: limits(1, factor: 3), allThreads: limits(4, factor: 2))
        let bound = busy.bindingLimit(
            bytesPerSecond: 1, keyByteCount: 16, windowByteCount: 1, source: .generated, threads: threads)
        #expect(bound?.bytesPerSecond == 3000)
    }

    @Test("one thread can do its share of what all can, even where the machine was busy meanwhile")
    func busyThread() {
        let busy = MachineLimits(
            aesUnit: "aes-ni", oneThread: limits(1, factor: 1), allThreads: limits(4, factor: 8))
        let bound = busy.bindingLimit(
            bytesPerSecond: 1, keyByteCount: 16, windowByteCount: 1, source: .generated, threads: 1)
        #expect(bound?.bytesPerSecond == 2000)
    }

    @Test("a machine without an AES unit, or a key that was not measured, is limited by reading alone")
    func noUnit() {
        #expect(bound(.file, window: 1 << 20, key: 32)?.kind == .pageCacheRead)
        #expect(bound(.generated, window: 1 << 20, key: 32) == nil)
        let plain = MachineLimits(
            aesUnit: "none", oneThread: limits(1, factor: 1, aes: false), allThreads: limits(1, factor: 1, aes: false))
        let bound = plain.bindingLimit(
            bytesPerSecond: 3000, keyByteCount: 16, windowByteCount: 1 << 20, source: .file, threads: 1)
        #expect(bound == BindingLimit(kind: .pageCacheRead, bytesPerSecond: 1500, share: 2))
    }
}

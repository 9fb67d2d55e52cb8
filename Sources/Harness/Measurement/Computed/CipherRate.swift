import Glibc
package import RandomAccess
import Statistics
import Support

/// How fast a library decrypts in cache: for what is computed, where no reader is timed.
package enum CipherRate {
    /// What is decrypted at once: it stays in a core's cache.
    private static let byteCount = 256 << 10
    private static let (nanoseconds, minCount) = (20_000_000 as UInt64, 5)

    /// Times a mode of a backend, and checks what comes out.
    ///
    /// - Parameters:
    ///   - backend: The library.
    ///   - mode: The mode.
    /// - Returns: The median, in plaintext bytes per second.
    /// - Throws: `DecryptionError.unsupported` for a mode that the backend lacks; `.backend` if it fails, or if what comes
    ///   out is wrong.
    package static func bytesPerSecond(
        of backend: any CipherBackend, _ mode: CipherMode
    ) throws(DecryptionError) -> UInt64 {
        let key = try SecretKey([UInt8](repeating: 7, count: 16))
        let tag = mode == .gcm ? ChunkFormat.tagByteCount : 0
        let buffers = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCounts: [byteCount, byteCount + tag, byteCount])
        defer { buffers.forEach { $0.deallocate() } }
        let (plain, sealed) = (buffers[0], buffers[1])
        guard let original = plain.baseAddress, let output = sealed.baseAddress, let opened = buffers[2].baseAddress
        else {
            return 0
        }
        for index in plain.indices { plain[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
        let start = Block(bigEndianValue: 1)
        let work = try work(backend, mode, key)
        _ = try work.seal(UnsafeRawBufferPointer(plain), output, start)
        var times: [UInt64] = []
        repeat {
            buffers[2].initializeMemory(as: UInt8.self, repeating: 0)
            let began = monotonicNanoseconds()
            let isRight = try work.open(UnsafeRawBufferPointer(sealed), opened, start)
            times.append(max(1, monotonicNanoseconds() - began))
            guard isRight, memcmp(opened, original, byteCount) == 0 else {
                throw .backend(
                    name: backend.name, operation: "decrypt \(mode.rawValue)", reason: "other bytes than were encrypted"
                )
            }
        } while times.count < minCount || times.reduce(0, +) < nanoseconds
        let median = percentile(tenthsOfPercent: 500, of: times) ?? 1
        return UInt64(Double(byteCount) * 1e9 / Double(median))
    }

    /// The median time of a `pread` of a page that the system keeps, in nanoseconds; 0 where there is none to read.
    package static func callNanoseconds() -> UInt64 {
        let descriptor = Glibc.open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var page = [UInt8](repeating: 0, count: 4096)
        let times = (0..<1000).map { _ in
            let began = monotonicNanoseconds()
            pread(descriptor, &page, page.count, 0)
            return monotonicNanoseconds() - began
        }
        return percentile(tenthsOfPercent: 500, of: times) ?? 0
    }

    private typealias Call = (UnsafeRawBufferPointer, UnsafeMutableRawPointer, Block) throws(DecryptionError) -> Bool

    private static func work(
        _ backend: any CipherBackend, _ mode: CipherMode, _ key: SecretKey
    ) throws(DecryptionError) -> (seal: Call, open: Call) {
        guard mode != .gcm else {
            let seal = try backend.makeChunkContext(direction: .encrypt, key: key)
            let open = try backend.makeChunkContext(direction: .decrypt, key: key)
            return (
                { (input, output, start) throws(DecryptionError) in
                    try seal.process(input, into: output, start: start)
                },
                { (input, output, start) throws(DecryptionError) in
                    try open.process(input, into: output, start: start)
                }
            )
        }
        let seal = try backend.makeContext(mode: mode, direction: .encrypt, key: key)
        let open = try backend.makeContext(mode: mode, direction: .decrypt, key: key)
        return (
            { (input, output, iv) throws(DecryptionError) in
                try seal.process(input, into: output, iv: iv)
                return true
            },
            { (input, output, iv) throws(DecryptionError) in
                try open.process(input, into: output, iv: iv)
                return true
            }
        )
    }
}

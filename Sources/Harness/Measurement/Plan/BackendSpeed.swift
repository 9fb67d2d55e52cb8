package import RandomAccess

/// A first idea of how fast backends decrypt, for estimates and for nothing else.
package enum BackendSpeed {
    /// Decrypts a few hundred KiB, twice, and takes the second time.
    ///
    /// - Returns: Bytes per second; a guess for a backend that fails at it.
    package static func bytesPerSecond(_ backend: any CipherBackend) -> Double {
        let guess = 1e9
        guard let key = try? SecretKey([UInt8](repeating: 1, count: 16)),
            let context = try? backend.makeContext(mode: .cbc, direction: .decrypt, key: key)
        else { return guess }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { room.deallocate() }
        room.initializeMemory(as: UInt8.self, repeating: 0)
        let iv = Block(bigEndianValue: 0)
        guard (try? context.process(inPlace: room, iv: iv)) != nil else { return guess }
        let start = monotonicNanoseconds()
        guard (try? context.process(inPlace: room, iv: iv)) != nil else { return guess }
        return Double(room.count) / Double(max(1, monotonicNanoseconds() - start)) * 1e9
    }
}

extension Sampling {
    /// In and out together fit the smallest cache of any CPU with an AES unit.
    private static var blockByteCount: Int { 12 << 10 }

    /// Decrypts independent blocks in cache.
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

    /// The fastest of the CPU's units; the one with the widest registers need not be.
    func fastestUnit() -> AESUnit? {
        AESUnit.present.compactMap { unit in
            decryption(unit: unit, keyByteCount: 16).map { (unit, $0.bytesPerSecond) }
        }.max { $0.1 < $1.1 }?.0
    }
}

import Results

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

    /// The fastest of the CPU's units. Wider registers count as faster from 5 % on, so that the choice is the same in
    /// every run where two do the same work in the same time.
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

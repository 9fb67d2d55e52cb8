internal import CLinux

/// One kind of CPU instructions for AES.
enum AESUnit: String, CaseIterable {
    /// 128-bit registers on x86.
    case aesNI = "aes-ni"
    /// 256-bit registers on x86.
    case vaesAVX2 = "vaes-avx2"
    /// 512-bit registers on x86.
    case vaesAVX512 = "vaes-avx512"
    /// Arm's cryptographic extension.
    case arm

    /// The kinds that this CPU has.
    static var present: [AESUnit] { allCases.filter { chunkwise_unit_is_present($0.code) } }

    /// The kind's number in the C functions.
    var code: chunkwise_unit {
        switch self {
        case .aesNI: chunkwise_unit_aes_ni
        case .vaesAVX2: chunkwise_unit_vaes_avx2
        case .vaesAVX512: chunkwise_unit_vaes_avx512
        case .arm: chunkwise_unit_arm
        }
    }
}

/// A key with which a unit decrypts independent blocks. It is only for measurements, because it is not erased.
struct AESUnitKey {
    private let unit: AESUnit
    private let schedule: chunkwise_schedule

    /// The corresponding C function is `chunkwise_schedule_init`.
    ///
    /// - Returns: `nil` if the CPU lacks the unit, or if the key does not have 16, 24 or 32 bytes.
    init?(unit: AESUnit, key: [UInt8]) {
        var schedule = chunkwise_schedule()
        guard chunkwise_schedule_init(&schedule, unit.code, key, key.count) else { return nil }
        self.unit = unit
        self.schedule = schedule
    }

    /// Decrypts independent blocks. The corresponding C function is `chunkwise_decrypt_blocks`.
    ///
    /// - Parameters:
    ///   - input: Whole blocks. An incomplete last block is ignored.
    ///   - output: Exactly `input.count` bytes, in the same memory as `input` or without overlap.
    func decrypt(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count == input.count, "\(output.count) bytes of output for \(input.count)")
        withUnsafePointer(to: schedule) { schedule in
            chunkwise_decrypt_blocks(
                schedule, unit.code, input.assumingMemoryBound(to: UInt8.self).baseAddress,
                output.assumingMemoryBound(to: UInt8.self).baseAddress, input.count / 16)
        }
    }
}

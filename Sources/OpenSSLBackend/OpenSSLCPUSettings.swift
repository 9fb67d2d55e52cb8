/// The CPU features that OpenSSL says it found, decoded.
///
/// - Source: OPENSSL_ia32cap(3): the first vector is CPUID.1 (EDX, then ECX in its upper half), the second CPUID.7 (EBX,
///   then ECX in its upper half).
struct OpenSSLCPUSettings {
    private let vectors: [UInt64]
    private let text: String

    /// Reads a setting such as `OPENSSL_ia32cap=0x7ffaf3ffffebffff:0x18405f5ef1bf27ab`.
    init(_ setting: String) {
        self.text = setting
        // Masks that the user set follow as " env:…"; what comes before is what is in force.
        let value = setting.split(separator: "=").last?.split(separator: " ").first ?? ""
        self.vectors = value.split(separator: ":").map { part in
            UInt64(part.hasPrefix("0x") ? part.dropFirst(2) : part, radix: 16) ?? 0
        }
    }

    /// Features that libcrypto's AES code asks for, in the order of their age.
    var featuresForAES: [String] {
        guard text.contains("ia32cap"), let first = vectors.first else { return armFeatures }
        let known: [(String, Int, Int)] = [
            ("ssse3", 0, 41), ("aes", 0, 57), ("pclmulqdq", 0, 33), ("avx", 0, 60), ("avx2", 1, 5),
            ("avx512f", 1, 16), ("vaes", 1, 41), ("vpclmulqdq", 1, 42),
        ]
        let second = vectors.count > 1 ? vectors[1] : 0
        return known.filter { ($0.1 == 0 ? first : second) >> UInt64($0.2) & 1 == 1 }.map { $0.0 }
    }

    /// Source: arm_arch.h of OpenSSL (`ARMV7_NEON` 1 << 0, `ARMV8_AES` 1 << 2, `ARMV8_PMULL` 1 << 5).
    private var armFeatures: [String] {
        guard text.contains("armcap"), let first = vectors.first else { return [] }
        return [("neon", 0), ("aes", 2), ("pmull", 5)].filter { first >> UInt64($0.1) & 1 == 1 }.map { $0.0 }
    }
}

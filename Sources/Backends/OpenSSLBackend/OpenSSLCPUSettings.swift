/// The CPU features that OpenSSL says it found, decoded.
///
/// - Source: OPENSSL_ia32cap(3): the first vector is CPUID.1, EDX in its lower half and ECX in its upper one, so that bit
///   41 is SSSE3 and bit 57 AES-NI.
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

    /// The features that libcrypto's AES-CBC and AES-CTR code uses: AES-NI, or else vector permutation with SSSE3.
    ///
    /// Newer features that libcrypto also finds, such as VAES, serve other modes.
    var featuresForAES: [String] {
        guard text.contains("ia32cap"), let first = vectors.first else { return armFeatures }
        if first >> 57 & 1 == 1 { return ["aes"] }
        return first >> 41 & 1 == 1 ? ["ssse3"] : []
    }

    /// Source: arm_arch.h of OpenSSL (`ARMV7_NEON` 1 << 0, `ARMV8_AES` 1 << 2).
    private var armFeatures: [String] {
        guard text.contains("armcap"), let first = vectors.first else { return [] }
        if first >> 2 & 1 == 1 { return ["aes"] }
        return first & 1 == 1 ? ["neon"] : []
    }
}

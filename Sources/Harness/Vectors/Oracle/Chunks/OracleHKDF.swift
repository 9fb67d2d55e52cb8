/// HKDF for the oracle: on arrays, as RFC 5869 prints it.
struct OracleHKDF {
    let hash: @Sendable ([UInt8]) -> [UInt8]
    let blockByteCount: Int

    static let sha256 = OracleHKDF(hash: { SHA256.hash($0) }, blockByteCount: 64)
    static let sha512 = OracleHKDF(hash: { SHA512.hash($0) }, blockByteCount: SHA512.blockByteCount)

    /// H(K ⊕ opad, H(K ⊕ ipad, text)), for keys of at most a block. Source: RFC 2104, section 2.
    func mac(_ key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        let short = key.count > blockByteCount ? hash(key) : key
        let padded = short + [UInt8](repeating: 0, count: blockByteCount - short.count)
        return hash(padded.map { $0 ^ 0x5c } + hash(padded.map { $0 ^ 0x36 } + text))
    }

    /// Source: RFC 5869, section 2.3.
    func expand(_ pseudorandomKey: [UInt8], info: [UInt8], byteCount: Int) -> [UInt8] {
        var (output, last): ([UInt8], [UInt8]) = ([], [])
        var number: UInt8 = 0
        while output.count < byteCount {
            number += 1
            last = mac(pseudorandomKey, last + info + [number])
            output += last
        }
        return Array(output.prefix(byteCount))
    }
}

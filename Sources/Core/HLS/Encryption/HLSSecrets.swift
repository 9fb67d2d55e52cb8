public import RandomAccess

/// Where new keys and IVs come from.
public struct HLSSecrets: Sendable {
    /// The key with a number from 0 on: 16 bytes.
    public let key: @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey
    /// The IV of a segment by its place from 0, or of the initialization section (-1).
    public let iv: @Sendable (_ segment: Int) -> Block

    /// Creates a source of secrets, such as one for tests.
    public init(
        key: @escaping @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey,
        iv: @escaping @Sendable (_ segment: Int) -> Block
    ) {
        self.key = key
        self.iv = iv
    }

    /// Keys and IVs from the system's generator, new each time.
    public static let random = HLSSecrets(
        key: { (_) throws(DecryptionError) in
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
            defer {
                eraseBytes(room)
                room.deallocate()
            }
            room.storeBytes(of: UInt128.random(in: .min ... .max), as: UInt128.self)
            return try SecretKey(room)
        },
        iv: { _ in Block(bigEndianValue: .random(in: .min ... .max)) })
}

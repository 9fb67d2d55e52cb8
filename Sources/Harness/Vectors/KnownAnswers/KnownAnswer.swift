internal import ByteSources
internal import RandomAccess

/// A case of somebody else's suite, which knows whole messages only.
struct KnownAnswer {
    let id: String
    let source: String
    let flags: [VectorFlag]
    let strategy: Strategy
    let key: SecretKey
    let ciphertext: [UInt8]
    /// What it decrypts to, or why it does not.
    let outcome: Result<[UInt8], OpenFailure>

    struct OpenFailure: Error {
        let name: ErrorName
    }

    /// The case as a group that reads the message whole, around its first block, by its last byte, and past its end.
    var group: VectorGroup {
        switch outcome {
        case .failure(let failure):
            return VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key,
                ciphertext: MemorySource(ciphertext), plaintext: GroupPlaintext([]), opening: .fails(failure.name),
                reads: [])
        case .success(let plaintext):
            return VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key,
                ciphertext: MemorySource(ciphertext), plaintext: GroupPlaintext(plaintext),
                patterns: Self.patterns(of: UInt64(plaintext.count), flags: flags))
        }
    }

    static func patterns(of byteCount: UInt64, flags: [VectorFlag]) -> [ReadPattern] {
        let offsets = [0, 1, 15, 16, 17, byteCount - min(1, byteCount)].filter { $0 < byteCount || $0 == 0 }
        return [
            .product(offsets: [0...0], toEnd: [0, 1], flags: flags),
            .product(offsets: Set(offsets).sorted().map { $0...$0 }, counts: [1, 16, 17], flags: flags),
        ]
    }
}

internal import RandomAccess

/// A backend over a right one, that changes the IV of each stretch, or what comes of it.
struct FaultyBackend: CipherBackend {
    typealias Change =
        @Sendable (_ mode: CipherMode, _ base: any CipherContext, _ stretch: Stretch) throws(DecryptionError) -> Void

    /// What a context is asked to decrypt.
    struct Stretch {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableRawPointer
        let iv: Block

        /// Whether the plaintext takes the ciphertext's place.
        var isInPlace: Bool { input.baseAddress == UnsafeRawPointer(output) }

        var blockCount: Int { (input.count + 15) / 16 }

        /// Decrypts it.
        func process(with base: any CipherContext, iv: Block? = nil) throws(DecryptionError) {
            try base.process(input, into: output, iv: iv ?? self.iv)
        }

        /// Decrypts a part in place of itself; blocks are counted from the stretch's start.
        func part(_ blocks: Range<Int>, iv: Block) -> Stretch {
            let bytes = 16 * blocks.lowerBound..<min(input.count, 16 * blocks.upperBound)
            return Stretch(
                input: UnsafeRawBufferPointer(rebasing: input[bytes]), output: output + bytes.lowerBound, iv: iv)
        }

        /// Ciphertext block `index`, which must not have been overwritten.
        func ciphertext(_ index: Int) -> Block { Block(loadingFrom: input, at: 16 * index) }
    }

    let base: any CipherBackend
    let change: Change
    let name = "planted"
    let version = "0"
    let cpuFeatures: [String] = []

    var modes: [CipherMode] { base.modes.filter { $0 != .gcm } }
    var keyByteCounts: [Int] { base.keyByteCounts }

    private final class Context: CipherContext {
        let base: any CipherContext
        let mode: CipherMode
        let change: Change

        init(base: any CipherContext, mode: CipherMode, change: @escaping Change) {
            (self.base, self.mode, self.change) = (base, mode, change)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
        ) throws(DecryptionError) {
            try change(mode, base, Stretch(input: input, output: output, iv: iv))
        }
    }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        Context(
            base: try base.makeContext(mode: mode, direction: direction, key: key), mode: mode, change: change)
    }
}

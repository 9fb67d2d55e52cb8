package import RandomAccess

/// The Monte Carlo test for CBC: a hundred keys, and under each a chain of a thousand blocks made of its own results.
///
/// The inputs of a step, one behind the other, are an ordinary CBC object: block 0 is given, block 1 is the step's IV,
/// and each later one is the result of two blocks before. So a step's last result, which is what NIST publishes, is a
/// range read of that object's last block.
///
/// - Source: NIST, "The Advanced Encryption Standard Algorithm Validation Suite (AESAVS)" (2002), section 6.4.2.
package struct MonteCarlo: Sendable {
    /// Whether blocks are encrypted or decrypted.
    package enum Direction: Sendable {
        /// Plaintexts are fed in.
        case encrypt
        /// Ciphertexts are fed in.
        case decrypt
    }

    /// One of the hundred steps.
    package struct Step: Sendable {
        /// The step's key.
        package let key: SecretKey
        /// The step's IV.
        package let iv: Block
        /// The thousand blocks that are fed in.
        package let inputs: [UInt8]
        /// What comes of them.
        package let outputs: [UInt8]
    }

    /// The steps that a run has.
    package static let stepCount = 100
    /// The blocks of a step.
    package static let blockCount = 1000

    /// The direction.
    package let direction: Direction
    private var key: [UInt8]
    private var iv: OracleBlock
    private var input: OracleBlock

    /// Starts a run from its seed.
    package init(_ direction: Direction, key: [UInt8], iv: Block, input: Block) {
        self.direction = direction
        self.key = key
        self.iv = OracleBlock(iv.bytes)
        self.input = OracleBlock(input.bytes)
    }

    /// Runs the next step.
    ///
    /// - Throws: `DecryptionError.invalidKey` if the seed's key has a wrong length.
    package mutating func step() throws(DecryptionError) -> Step {
        let secret = try SecretKey(key)
        let aes = OracleAES(key: secret)
        let stepIV = iv
        var (chain, beforeLast, last) = (iv, iv, iv)
        var (inputs, outputs): ([UInt8], [UInt8]) = ([], [])
        for index in 0..<Self.blockCount {
            let output: OracleBlock
            switch direction {
            case .encrypt:
                output = aes.encrypt(input ^ chain)
                chain = output
            case .decrypt:
                output = aes.decrypt(input) ^ chain
                chain = input
            }
            inputs += input.bytes
            outputs += output.bytes
            input = index == 0 ? stepIV : last
            (beforeLast, last) = (last, output)
        }
        let change = (beforeLast.bytes + last.bytes).suffix(key.count)
        key = zip(key, change).map { $0 ^ $1 }
        iv = last
        input = beforeLast
        return Step(key: secret, iv: Block(of: stepIV), inputs: inputs, outputs: outputs)
    }
}

extension Block {
    init(of block: OracleBlock) {
        self.init(bigEndianValue: block.bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }
}

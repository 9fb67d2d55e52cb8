package import RandomAccess
import Support

/// The Monte Carlo test for CBC: a hundred keys, each with a chain of a thousand blocks made from its own results.
///
/// Concatenated, the inputs of a step are an ordinary CBC object: block 0 is given, block 1 is the step's IV, and each
/// later block is the result of two blocks before. So a step's last result, which NIST publishes, is a read of that
/// object's last block.
///
/// - Source: NIST, "The Advanced Encryption Standard Algorithm Validation Suite (AESAVS)" (2002), section 6.4.2.
package struct MonteCarlo: Sendable {
    /// The direction in which blocks are processed.
    package enum Direction: Sendable {
        /// The inputs are plaintexts.
        case encrypt
        /// The inputs are ciphertexts.
        case decrypt
    }

    /// One of the hundred steps.
    package struct Step: Sendable {
        /// The step's key.
        package let key: SecretKey
        /// The step's IV.
        package let iv: Block
        /// The thousand input blocks.
        package let inputs: [UInt8]
        /// The results of the thousand blocks.
        package let outputs: [UInt8]
    }

    /// The number of steps in a run.
    package static let stepCount = 100
    /// The number of blocks in a step.
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

/// A run of the Monte Carlo test that NIST published: its start, and its last result.
struct MonteCarloSeed: Sendable {
    let name: String
    let direction: MonteCarlo.Direction
    /// In hexadecimal digits, like the other values.
    let key: String
    let iv: String
    let input: String
    let lastOutput: String

    func start() throws(DecryptionError) -> MonteCarlo {
        func bytes(_ hex: String) -> [UInt8] { Hexadecimal.decode(hex) ?? [] }
        return MonteCarlo(direction, key: bytes(key), iv: try Block(bytes(iv)), input: try Block(bytes(input)))
    }

    /// Both directions for each key length. The outputs are those of COUNT = 99.
    ///
    /// - Source: NIST CAVP, "AES Monte Carlo Test (MCT) sample vectors", CBCMCT128.rsp, CBCMCT192.rsp, CBCMCT256.rsp.
    static let published: [MonteCarloSeed] = [
        MonteCarloSeed(
            name: "CBCMCT128", direction: .encrypt, key: "8809e7dd3a959ee5d8dbb13f501f2274",
            iv: "e5c0bb535d7d54572ad06d170a0e58ae",
            input: "1fd4ee65603e6130cfc2a82ab3d56c24", lastOutput: "7bed7671c8913aa1330f193761523e67"),
        MonteCarloSeed(
            name: "CBCMCT128", direction: .decrypt, key: "287b07c78f8e3e1be7c41b3d96c04e6e",
            iv: "41b461f9464fd515d25413b4241002b8",
            input: "7c54923b0490a9d4de4ec1ce6790aa4d", lastOutput: "4769317b0562c45949c18b3855f8bf4a"),
        MonteCarloSeed(
            name: "CBCMCT192", direction: .encrypt, key: "dea64f83cfe6a0a183ddbe865cfca059b3c615c1623d63fc",
            iv: "426fbc087b50b395c0fc81ef9fd6d1aa", input: "cd0b8c8a8179ecb171b64c894a4d60fd",
            lastOutput: "e6457bfc3433e80299c52b2be418f582"),
        MonteCarloSeed(
            name: "CBCMCT192", direction: .decrypt, key: "a24ebd4d7a080c28caae984b5098a9ea38cf7280e2c5f122",
            iv: "c5aeb9b51ad5108371c59d0b90816310", input: "eb2c4e2712591ff13b8ac7870c9c404c",
            lastOutput: "836424eadf8155aaf9a9a51391a1cf7e"),
        MonteCarloSeed(
            name: "CBCMCT256", direction: .encrypt,
            key: "632bac4fe4db44cfcf18cfa90b43f86f378611b8d968595eb89e7ae98624564a",
            iv: "ff8127621be616803e3f002377730185", input: "90ed17475f0a62bc381ba1f3ffbfff33",
            lastOutput: "bade1667b42f537f0cb3f5573a949aaa"),
        MonteCarloSeed(
            name: "CBCMCT256", direction: .decrypt,
            key: "31397ad8cc79c519e0f46e0f70303587e38958d70723b771552336b7771f6311",
            iv: "4139cb54eeac3fcf36ed72941122c40f", input: "27a1d5c10fe45b801d15f56e654a70f0",
            lastOutput: "9be831799a79b0955241f308f0d5b2e1"),
    ]
}

internal import RandomAccess
internal import Support

/// A run of the Monte Carlo test that NIST published: where it starts, and its last result.
struct MonteCarloSeed: Sendable {
    let name: String
    let direction: MonteCarlo.Direction
    let key: [UInt8]
    let iv: [UInt8]
    let input: [UInt8]
    let lastOutput: [UInt8]

    private init(
        _ name: String, _ direction: MonteCarlo.Direction, key: String, iv: String, input: String, lastOutput: String
    ) {
        func bytes(_ hex: String) -> [UInt8] { Hexadecimal.decode(hex) ?? [] }
        self.name = name
        self.direction = direction
        self.key = bytes(key)
        self.iv = bytes(iv)
        self.input = bytes(input)
        self.lastOutput = bytes(lastOutput)
    }

    func start() throws(DecryptionError) -> MonteCarlo {
        MonteCarlo(direction, key: key, iv: try Block(iv), input: try Block(input))
    }

    /// Both directions for each key length; the outputs are those of COUNT = 99.
    ///
    /// - Source: NIST CAVP, "AES Monte Carlo Test (MCT) sample vectors", CBCMCT128.rsp, CBCMCT192.rsp, CBCMCT256.rsp.
    static let published: [MonteCarloSeed] = [
        MonteCarloSeed(
            "CBCMCT128", .encrypt, key: "8809e7dd3a959ee5d8dbb13f501f2274", iv: "e5c0bb535d7d54572ad06d170a0e58ae",
            input: "1fd4ee65603e6130cfc2a82ab3d56c24", lastOutput: "7bed7671c8913aa1330f193761523e67"),
        MonteCarloSeed(
            "CBCMCT128", .decrypt, key: "287b07c78f8e3e1be7c41b3d96c04e6e", iv: "41b461f9464fd515d25413b4241002b8",
            input: "7c54923b0490a9d4de4ec1ce6790aa4d", lastOutput: "4769317b0562c45949c18b3855f8bf4a"),
        MonteCarloSeed(
            "CBCMCT192", .encrypt, key: "dea64f83cfe6a0a183ddbe865cfca059b3c615c1623d63fc",
            iv: "426fbc087b50b395c0fc81ef9fd6d1aa", input: "cd0b8c8a8179ecb171b64c894a4d60fd",
            lastOutput: "e6457bfc3433e80299c52b2be418f582"),
        MonteCarloSeed(
            "CBCMCT192", .decrypt, key: "a24ebd4d7a080c28caae984b5098a9ea38cf7280e2c5f122",
            iv: "c5aeb9b51ad5108371c59d0b90816310", input: "eb2c4e2712591ff13b8ac7870c9c404c",
            lastOutput: "836424eadf8155aaf9a9a51391a1cf7e"),
        MonteCarloSeed(
            "CBCMCT256", .encrypt, key: "632bac4fe4db44cfcf18cfa90b43f86f378611b8d968595eb89e7ae98624564a",
            iv: "ff8127621be616803e3f002377730185", input: "90ed17475f0a62bc381ba1f3ffbfff33",
            lastOutput: "bade1667b42f537f0cb3f5573a949aaa"),
        MonteCarloSeed(
            "CBCMCT256", .decrypt, key: "31397ad8cc79c519e0f46e0f70303587e38958d70723b771552336b7771f6311",
            iv: "4139cb54eeac3fcf36ed72941122c40f", input: "27a1d5c10fe45b801d15f56e654a70f0",
            lastOutput: "9be831799a79b0955241f308f0d5b2e1"),
    ]
}

internal import ByteSources
internal import JSON
internal import RandomAccess

/// A group's ciphertext and plaintext: held by the file, or made by a rule.
struct VectorObject {
    let ciphertext: any ByteSource
    let plaintext: GroupPlaintext
    let rule: CiphertextRule?

    init(_ place: JSONPlace, strategy: Strategy, key: SecretKey) throws(VectorFileError) {
        guard let object = try place.optionalMember("object") else {
            self.ciphertext = MemorySource(try place.member("ciphertext").bytes())
            self.plaintext = GroupPlaintext(try place.member("plaintext").bytes())
            self.rule = nil
            return
        }
        for name in ["ciphertext", "plaintext"] {
            if let other = try place.optionalMember(name) {
                throw other.error("beside \"object\": expected one of the two")
            }
        }
        try object.allow(["plaintextByteCount", "seed", "monteCarlo"])
        guard let first = try object.optionalMember("monteCarlo") else {
            let byteCount = try object.member("plaintextByteCount").integer(UInt64.self)
            let seed = try object.member("seed").integer(UInt64.self)
            let generated = try object.check {
                try GeneratedObject(strategy: strategy, key: key, plaintextByteCount: byteCount, seed: seed)
            }
            self.ciphertext = generated.source
            self.plaintext = GroupPlaintext(
                oracle: generated.oracle, ciphertext: generated.source, byteCount: byteCount)
            self.rule = .generated(generated)
            return
        }
        guard case .cbcContinuous(let iv, .none) = strategy else {
            throw first.error("of strategy \(strategy.label): expected cbc-continuous without padding")
        }
        let bytes = try first.bytes()
        let block = try first.check { try Block(bytes) }
        let step = try first.check { () throws(DecryptionError) in
            var run = MonteCarlo(.decrypt, key: key.withUnsafeBytes { Array($0) }, iv: iv, input: block)
            return try run.step()
        }
        self.ciphertext = MemorySource(step.inputs)
        self.plaintext = GroupPlaintext(step.outputs)
        self.rule = .monteCarlo(firstBlock: block)
    }
}

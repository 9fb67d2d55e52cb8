internal import ByteSources
internal import RandomAccess
internal import Support

/// A group's ciphertext and plaintext: held by the file, or made by a rule.
struct VectorObject {
    let ciphertext: any ByteSource
    let plaintext: GroupPlaintext
    let rule: CiphertextRule?

    init(_ place: JSONCursor, strategy: Strategy, key: SecretKey) throws(VectorFileError) {
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
        try object.allow(["plaintextByteCount", "seed", "monteCarlo", "edits"])
        guard let first = try object.optionalMember("monteCarlo") else {
            let byteCount = try object.member("plaintextByteCount").integer(UInt64.self)
            let seed = try object.member("seed").integer(UInt64.self)
            let generated = try object.check {
                try GeneratedObject(strategy: strategy, key: key, plaintextByteCount: byteCount, seed: seed)
            }
            if let edits = try object.optionalMember("edits") {
                self = try VectorObject(generated, edits: edits)
                return
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

extension VectorObject {
    /// An object that was tampered with.
    private init(_ object: GeneratedObject, edits place: JSONCursor) throws(VectorFileError) {
        try place.allow(["pieces", "flips"])
        var pieces: [CiphertextEdits.Piece] = []
        for piece in try place.member("pieces").elements() {
            var numbers: [UInt64] = []
            for number in try piece.elements() { numbers.append(try number.integer(UInt64.self)) }
            guard (2...3).contains(numbers.count), numbers[0] <= numbers[1] else {
                throw piece.error("not two or three numbers, the first not above the second: expected [from, to]")
            }
            pieces.append(.init(numbers[0]..<numbers[1], seed: numbers.count == 3 ? numbers[2] : nil))
        }
        var flips: [UInt64] = []
        for flip in try place.optionalMember("flips")?.elements() ?? [] { flips.append(try flip.integer(UInt64.self)) }
        let edits = CiphertextEdits(pieces: pieces, flips: flips)
        self = try place.check { () throws(DecryptionError) in try VectorObject(object, edits: edits) }
    }

    /// An object that was tampered with; the plaintext of one of an impossible length is empty.
    init(_ object: GeneratedObject, edits: CiphertextEdits) throws(DecryptionError) {
        let source = try edits.apply(to: object)
        var byteCount: UInt64 = 0
        if let format = object.strategy.chunkFormat,
            let places = try? OracleChunkPlaces(format, ciphertextByteCount: source.byteCount)
        {
            byteCount = places.plaintextByteCount
        }
        self.ciphertext = source
        self.plaintext = GroupPlaintext(oracle: object.oracle, ciphertext: source, byteCount: byteCount)
        self.rule = .edited(object, edits)
    }
}

internal import ByteSources
internal import RandomAccess
internal import Support

/// A case of an `.rsp` file as a group.
struct ResponseCase {
    let group: VectorGroup

    init(
        _ entry: ResponseReader.Entry, id: String, mode: CipherMode, isMonteCarlo: Bool, in reader: ResponseReader
    ) throws(VectorFileError) {
        func bytes(_ name: String) throws(VectorFileError) -> [UInt8] {
            guard let (value, line) = entry.members[name] else {
                throw reader.error("case \(entry.count) has no \(name): expected one", line: entry.line)
            }
            guard let bytes = Hexadecimal.decode(value, allowsUpperCase: true) else {
                throw reader.error(
                    "\(name) has \(value.utf8.count) characters: expected hex digits, an even number of them",
                    line: line)
            }
            return bytes
        }
        func check<Value>(
            _ name: String, _ make: () throws(DecryptionError) -> Value
        ) throws(VectorFileError) -> Value {
            do {
                return try make()
            } catch {
                throw reader.error("\(error)", line: entry.members[name]?.line ?? entry.line)
            }
        }
        guard ["[ENCRYPT]", "[DECRYPT]"].contains(entry.section) else {
            throw reader.error(
                "case \(entry.count) in section \"\(entry.section)\": expected [ENCRYPT] or [DECRYPT]",
                line: entry.line)
        }
        let (keyBytes, ivBytes) = (try bytes("KEY"), try bytes("IV"))
        let (plaintext, ciphertext) = (try bytes("PLAINTEXT"), try bytes("CIPHERTEXT"))
        let key = try check("KEY") { () throws(DecryptionError) in try SecretKey(keyBytes) }
        let iv = try check("IV") { () throws(DecryptionError) in try Block(ivBytes) }
        guard plaintext.count == ciphertext.count, mode == .ctr || plaintext.count % 16 == 0 else {
            throw reader.error(
                "\(plaintext.count) bytes of plaintext and \(ciphertext.count) of ciphertext: expected as many, "
                    + "and in CBC whole blocks", line: entry.line)
        }
        let source = "\(FileName.withoutFolder(reader.path)), \(entry.section), COUNT = \(entry.count)"
        let strategy: Strategy = mode == .ctr ? .ctr(iv: iv) : .cbcContinuous(iv: iv, padding: .none)
        guard isMonteCarlo else {
            self.group =
                KnownAnswer(
                    id: id, source: source, flags: [.knownAnswer], strategy: strategy, key: key,
                    ciphertext: ciphertext, outcome: .success(plaintext)
                ).group
            return
        }
        let isDecryption = entry.section == "[DECRYPT]"
        let step = try check("PLAINTEXT") { () throws(DecryptionError) in
            var run = MonteCarlo(
                isDecryption ? .decrypt : .encrypt, key: keyBytes, iv: iv,
                input: try Block(isDecryption ? ciphertext : plaintext))
            return try run.step()
        }
        // The inputs of a step are made of its results; if the last one is not the file's, they are not its inputs.
        let name = isDecryption ? "PLAINTEXT" : "CIPHERTEXT"
        guard step.outputs.suffix(16).elementsEqual(isDecryption ? plaintext : ciphertext) else {
            throw reader.error(
                "not what a step of the Monte Carlo test comes to: \(Hexadecimal.encode(step.outputs.suffix(16)))",
                line: entry.members[name]?.line)
        }
        let flags: [VectorFlag] = [.monteCarlo, .knownAnswer]
        let last = UInt64(step.outputs.count) - 16
        self.group = VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key,
            ciphertext: MemorySource(isDecryption ? step.inputs : step.outputs),
            plaintext: GroupPlaintext(isDecryption ? step.outputs : step.inputs),
            patterns: [
                .product(offsets: [0...0, last - 1...last], counts: [16, 33], flags: flags),
                .product(offsets: [0...0], toEnd: [0], flags: flags),
            ])
    }
}

internal import RandomAccess
internal import Support

/// A file of Wycheproof's: `testGroups` of `tests`, each of which is valid or not.
///
/// - Source: github.com/C2SP/wycheproof, `schemas/ind_cpa_test_schema.json`.
struct WycheproofFile {
    private let root: JSONCursor
    private let algorithm: String
    private let notes: Set<String>
    private let name: String

    init(_ root: JSONCursor) throws(VectorFileError) {
        self.root = root
        self.algorithm = try root.member("algorithm").string()
        var notes: Set<String> = []
        for note in try root.optionalMember("notes")?.members() ?? [] { notes.insert(try note.name.string()) }
        self.notes = notes
        self.name = FileName.withoutFolder(root.file)
    }

    /// The cases that our readers know, and those that they do not.
    var vectors: VectorFile {
        get throws(VectorFileError) {
            var groups: [VectorGroup] = []
            var unsupported: [UnsupportedVector] = []
            var ids: Set<UInt64> = []
            for group in try root.member("testGroups").elements() {
                for test in try group.member("tests").elements() {
                    let number = try test.member("tcId").integer(UInt64.self)
                    guard ids.insert(number).inserted else {
                        throw try test.member("tcId")
                            .error("\(number) stands here twice: expected one test of a number")
                    }
                    let id = "\(name)/\(number)"
                    if let keyByteCount = Self.cobblestoneKeyByteCount(algorithm) {
                        _ = try flags(of: test)
                        groups.append(
                            try Self.chunkedGroup(
                                test, keyByteCount: keyByteCount, id: id, source: "Wycheproof, \(name), tcId \(number)")
                        )
                        continue
                    }
                    switch try read(test, id: id, number: number) {
                    case .success(let known): groups.append(known.group)
                    case .failure(let missing): unsupported.append(UnsupportedVector(id: id, reason: missing.reason))
                    }
                }
            }
            if let count = try root.optionalMember("numberOfTests") {
                guard try count.integer(Int.self) == groups.count + unsupported.count else {
                    throw count.unexpected("\(groups.count + unsupported.count), which were counted")
                }
            }
            return VectorFile(source: "Wycheproof, \(name)", groups: groups, unsupported: unsupported)
        }
    }

    private struct Missing: Error {
        let reason: String
    }

    private func strategy(iv: Block) -> Strategy? {
        switch algorithm {
        case "AES-CBC-PKCS5": .cbcContinuous(iv: iv, padding: .pkcs7)
        case "AES-CBC": .cbcContinuous(iv: iv, padding: .none)
        case "AES-CTR": .ctr(iv: iv)
        default: nil
        }
    }

    private func read(
        _ test: JSONCursor, id: String, number: UInt64
    ) throws(VectorFileError) -> Result<KnownAnswer, Missing> {
        let flags = try flags(of: test)
        let resultPlace = try test.member("result")
        let result = try resultPlace.string()
        guard ["valid", "invalid", "acceptable"].contains(result) else {
            throw resultPlace.unexpected("one of valid, invalid, acceptable")
        }
        guard strategy(iv: Block(bigEndianValue: 0)) != nil else {
            return .failure(Missing(reason: "no backend has \(algorithm)"))
        }
        guard result != "acceptable" else {
            return .failure(Missing(reason: "any outcome is acceptable, so that none can be checked"))
        }
        let keyBytes = try test.member("key").bytes()
        let ivBytes = try test.member("iv").bytes()
        let ciphertext = try test.member("ct").bytes()
        let message = try test.member("msg").bytes()
        guard let key = try? SecretKey(keyBytes), let iv = try? Block(ivBytes), let strategy = strategy(iv: iv) else {
            return .failure(Missing(reason: "a key of \(keyBytes.count) and an IV of \(ivBytes.count) bytes"))
        }
        // Wycheproof does not say why a case is invalid; PROTOCOL.md's order of checks does.
        let isPossibleLength = ciphertext.count % 16 == 0 && (!ciphertext.isEmpty || strategy.padding != .pkcs7)
        let failure = KnownAnswer.OpenFailure(name: isPossibleLength ? .invalidPadding : .truncatedCiphertext)
        return .success(
            KnownAnswer(
                id: id, source: "Wycheproof, \(name), tcId \(number)", flags: flags, strategy: strategy, key: key,
                ciphertext: ciphertext, outcome: result == "valid" ? .success(message) : .failure(failure)))
    }

    /// Our flags for Wycheproof's; those that stand for no class of ours are known answers.
    private func flags(of test: JSONCursor) throws(VectorFileError) -> [VectorFlag] {
        var flags: [VectorFlag] = []
        guard let list = try test.optionalMember("flags"), list.value != .array([]) else { return [.knownAnswer] }
        for place in try list.elements() {
            let name = try place.string()
            guard notes.contains(name) else {
                throw place.unexpected(
                    "one of the flags that \"notes\" explains: \(notes.sorted().joined(separator: ", "))")
            }
            let flag: VectorFlag =
                switch name {
                case "BadPadding": .badPadding
                case "NoPadding": .emptyCiphertext
                default: .knownAnswer
                }
            if !flags.contains(flag) { flags.append(flag) }
        }
        return flags
    }
}

/// File names as parts of identifiers.
enum FileName {
    static func withoutFolder(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

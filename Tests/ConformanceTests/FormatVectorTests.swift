import BackendRegistry
import RandomAccess
import Testing

@testable import Conformance
@testable import Vectors

@Suite("vectors of formats that only their descriptions tell of")
struct FormatVectorTests {
    private static let groups = VectorSet.files.first { $0.name == "formats" }?.groups() ?? []

    @Test("each known format has vectors")
    func formats() throws {
        let names = Set(VectorSet.standard().map(\.strategyName))
        #expect(names.isSuperset(of: Format.names), "\(Set(Format.names).subtracting(names))")
        #expect(Set(Self.groups.map(\.id)).count == Self.groups.count)
        // Each kind of tampering, noticed and not.
        for flag in [VectorFlag.chunkTag, .chunkOrder, .truncatedChunks, .trailingData, .headerCheck, .chunkCounter] {
            #expect(Self.groups.contains { $0.flags.contains(flag) }, "\(flag)")
        }
        for format in Set(Self.groups.map(\.strategyName)) {
            let own = Self.groups.filter { $0.strategyName == format }
            #expect(own.contains { $0.flags.contains(.emptyObject) }, "\(format)")
            let isEmptyRefused = try Format.named(format).emptyLast == .onlyChunk
            #expect(
                !isEmptyRefused || own.contains { $0.id.hasPrefix("formats/ends with nothing/") }, "\(format)")
            // Of a stream alone, any length is right.
            let strategy = Strategy(sampling: try Format.named(format))
            guard strategy.isAuthenticated || strategy.cipher != .aesCTR else { continue }
            #expect(own.contains { if case .fails = $0.opening { true } else { false } }, "\(format)")
        }
    }

    @Test("a foreign chunk that a format notices is also read from its middle alone")
    func foreignChunks() throws {
        var (noticing, inside) = (Set<String>(), Set<String>())
        for group in Self.groups where group.flags.contains(.chunkOrder) {
            let refused = group.reads.filter { if case .error = $0.expected { true } else { false } }
            guard !refused.isEmpty else { continue }
            let object = try Oracle(strategy: group.strategy, key: group.key).object(group.ciphertext)
            guard object.chunkCount > 1 else { continue }
            noticing.insert(group.strategyName)
            let isInside = refused.contains { read in
                let (chunk, end) = (object.sizes.chunk(at: read.offset), read.offset + UInt64(read.count))
                let next = object.sizes.plaintextStart(ofChunk: chunk + 1)
                return object.sizes.plaintextStart(ofChunk: chunk) + 1 < read.offset
                    && end < min(next, object.plaintextByteCount)
            }
            if isInside { inside.insert(group.strategyName) }
        }
        #expect(noticing == inside && noticing.count > 10, "\(noticing.subtracting(inside))")
    }

    /// The backends that take little time over long chunks.
    private static let quickBackends = BackendRegistry.availableNames.filter { !$0.hasPrefix("swift-") }

    @Test("every backend passes those that it has the ciphers for, of which each has a share", arguments: quickBackends)
    func backends(name: String) throws {
        let number = try #require(Self.quickBackends.firstIndex(of: name))
        // All of them with every backend is what `verify` does, and `scripts/run`.
        let share = Self.groups.enumerated().filter { $0.offset % Self.quickBackends.count == number }.map(\.element)
        let record = try #require(
            Verification(backends: [try BackendRegistry.backend(named: name)]).run(share).first)
        #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
        #expect(record.passed > 0 && record.notRun == 0)
        #expect(record.passed + record.unsupported == share.reduce(0) { $0 + $1.vectorCount })
    }

    @Test("a change that makes an object ask for a cipher that a backend lacks is no fault of the backend")
    func otherCiphers() throws {
        let changed = Self.groups.filter { group in
            guard let told = group.toldNeed, let need = group.need else { return false }
            return told.cipher != need.cipher
        }
        var unsupportedCount = 0
        for group in changed {
            let backend = LimitedBackend(
                base: try BackendRegistry.backend(named: "openssl"), lacks: try #require(group.toldNeed).cipher)
            let record = try #require(Verification(backends: [backend]).run([group]).first)
            #expect(record.failed == 0, "\(group.id)")
            unsupportedCount += record.unsupported
        }
        // Others are refused before the cipher is needed.
        #expect(unsupportedCount > 0)
    }

    @Test(
        "of a format whose header chooses the cipher, a backend reads the objects that it has the cipher of",
        arguments: ["dare", "dare-1"])
    func chosenCiphers(name: String) throws {
        let groups = Self.groups.filter { $0.strategyName == name }
        for cipher in [Cipher.aesGCM, .chaCha20Poly1305] {
            let backend = LimitedBackend(base: try BackendRegistry.backend(named: "openssl"), lacks: cipher)
            let record = try #require(Verification(backends: [backend]).run(groups).first)
            #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
            #expect(record.passed > 0 && record.unsupported > 0, "without \(cipher)")
        }
    }

    @Test("faults in rules that no other format has are found by their own class")
    func rules() throws {
        let names = [
            "part-unchecked", "hole-refused", "header-unchecked", "number-from-0", "number-unscaled",
            "first-counter-lower",
        ]
        let mutants = Mutant.all.filter { names.contains($0.name) }
        #expect(mutants.count == names.count)
        let matrix = KillMatrix.run(
            mutants, over: try BackendRegistry.backend(named: "openssl"), groups: Self.groups)
        #expect(matrix.survivors.map(\.mutant.name) == [])
    }

    @Test(
        "a fault in the header of a format whose header tells the cipher or the fields is found by the choice",
        arguments: ["openpgp-seipd2", "aws-esdk"])
    func tellingHeader(name: String) throws {
        let mutant = try #require(Mutant.named("header-unchecked"))
        let groups = Self.groups.filter { $0.strategyName == name && $0.flags.contains(.headerCheck) }
        let backend = try BackendRegistry.backend(named: "openssl")
        let choice = try #require(ChoiceMatrix.run([mutant], over: backend, groups: groups))
        #expect(choice.outcomes.count == 1 && choice.survivors.isEmpty)
    }

    @Test("headers with other fields are tampered with, too, under names of their own")
    func headers() throws {
        let vectors = try DescribedVectors([try Format.named("aws-esdk"), try Format.named("openpgp-seipd2")])
        #expect(try vectors.tamperTargets().map(\.label) == ["aws-esdk", "aws-esdk, header 2", "openpgp-seipd2"])
        let groups = try vectors.chosenGroups()
        #expect(Set(groups.map(\.id)).count == groups.count)
        #expect(groups.contains { $0.id.contains("/header: reserved") })
    }

    @Test("a mutant of the header reads right objects, and is left out where nothing is compared")
    func comparedHeader() throws {
        let mutant = try #require(Mutant.named("header-unchecked"))
        let backend = try BackendRegistry.backend(named: "openssl")
        let strategy = Strategy(sampling: try Format.named("openpgp-seipd2"))
        let object = try GeneratedObject(
            strategy: strategy, key: SecretKey([UInt8](repeating: 1, count: 32)), plaintextByteCount: 16, seed: 1)
        let reader = try mutant.subject(over: backend).open(
            ReaderSetup(.cursor(windowByteCount: .max)), object.source, strategy, object.key)
        #expect(reader.plaintextByteCount == 16)
        // A header that is a look at the first chunk is compared again with the last one.
        for (name, isFault) in [("dare", false), ("dare-1", true)] {
            let names = Mutant.rules(of: [try Format.named(name)]).map(\.name)
            #expect(names.contains("header-unchecked") == isFault, "\(name)")
        }
    }

    @Test("where vectors of any class may kill a mutant, none is left out")
    func anyFlag() throws {
        func group(_ byteCount: UInt64) throws -> VectorGroup {
            let object = try GeneratedObject(
                strategy: Strategy(sampling: Format.named("dare")), key: SecretKey([UInt8](repeating: 1, count: 32)),
                plaintextByteCount: byteCount, seed: 1)
            return VectorGroup(
                id: "\(byteCount)", source: "", flags: [.chunkEdge], strategy: object.strategy, key: object.key,
                ciphertext: object.source, plaintext: object.plaintext,
                patterns: [.single(RangeRead(offset: byteCount - 16, count: 16, of: byteCount, flags: [.chunkEdge]))])
        }
        let groups = [VectorGroup](repeating: try group(16), count: KillMatrix.maxQuietCount + 1) + [try group(65_552)]
        let mutant = try #require(Mutant.named("number-constant"))
        let backend = try BackendRegistry.backend(named: "openssl")
        for anyFlagKills in [false, true] {
            let outcome = try #require(
                KillMatrix.run([mutant], over: backend, groups: groups, anyFlagKills: anyFlagKills).outcomes.first)
            #expect(outcome.killedBy == (anyFlagKills ? [.chunkEdge] : []))
            #expect(outcome.isKilled == anyFlagKills && (outcome.killer != nil) == anyFlagKills)
        }
    }
}

/// A backend over another, without one of its ciphers.
private struct LimitedBackend: WrappingBackend {
    let base: any CipherBackend
    let lacks: Cipher
    var ciphers: [CipherSupport] { base.ciphers.filter { $0.cipher != lacks } }

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard cipher != lacks else { throw .unsupported("\(cipher) in \(name)") }
        return try base.makeContext(cipher, direction, key: key)
    }
}

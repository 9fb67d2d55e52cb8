import ByteSources
import Glibc
import RandomAccess
import Results
import Statistics
import Synchronization
import TestSupport
import Testing
import Vectors

@testable import Conformance

@Suite("checks of subjects in other processes")
struct ExternalCheckTests {
    private let iv = Block(bigEndianValue: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)

    private func group(_ strategy: Strategy) throws -> VectorGroup {
        try #require(
            ExternalFixture.group(
                id: "g", strategy: strategy, keyByteCount: 16, number: 1, plaintextByteCount: 160))
    }

    /// The plaintext's bytes, a block of them as another IV would have it.
    private func bytes(
        _ group: VectorGroup, _ range: Range<UInt64>, block: Int, right: [UInt8], used: [UInt8]
    ) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
        defer { buffer.deallocate() }
        try group.plaintext.copy(range, into: buffer)
        var bytes = Array(buffer)
        for index in 0..<16 { bytes[block + index] ^= right[index] ^ used[index] }
        return bytes
    }

    private func ciphertext(_ group: VectorGroup, _ start: UInt64) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
        defer { buffer.deallocate() }
        try group.ciphertext.fetch(at: start, into: buffer)
        return Array(buffer)
    }

    private func hello(_ listed: [String], keys: [UInt64] = [16, 32]) throws -> ExternalHello {
        try ExternalHello([
            "name": "s", "version": "1", "protocol": 1, "strategies": .array(listed.map { .string($0) }),
            "keyByteCounts": .array(keys.map { .integer($0) }), "sources": ["served"], "granularity": "chunk",
            "measures": false,
        ])
    }

    private func strategies(
        _ listed: [String], among names: [String], keys: [UInt64] = [16, 32],
        opens: (VectorGroup) -> Bool = { _ in true }
    ) throws -> [Strategy] {
        ExternalFixture.strategies(
            of: try hello(listed, keys: keys), among: try names.map { try Format.named($0) }, opens: opens)
    }

    private func fixtures(_ listed: [String], among names: [String]) throws -> [String] {
        try strategies(listed, among: names).map(\.name)
    }

    @Test("checks of other things than ranges open a format under test")
    func fixtures() throws {
        let all = ["cbc-continuous", "ctr", "floe", "tink-aes-gcm-hkdf"]
        #expect(try fixtures(["described"], among: ["floe"]) == ["floe"])
        #expect(try fixtures(["described"], among: all) == ["cbc-continuous"])
        #expect(try fixtures(["described"], among: []) == ["cbc-continuous"])
        #expect(try fixtures(["cbc-continuous", "described"], among: ["floe"]) == ["floe"])
        #expect(try fixtures(["ctr", "cbc-continuous"], among: all).sorted() == ["cbc-continuous", "ctr"])
        #expect(try fixtures(["tink-aes-gcm-hkdf"], among: all) == ["tink-aes-gcm-hkdf"])
        #expect(try fixtures(["ctr"], among: ["floe"]) == ["ctr"])
        #expect(try fixtures(["hls-aes128"], among: all) == [])
    }

    @Test("these objects have ciphers and key lengths that the subject lists, also where a parameter or header chooses")
    func fixtureCiphers() throws {
        let tink = try #require(strategies(["tink-aes-gcm-hkdf"], among: ["tink-aes-gcm-hkdf"], keys: [32]).first)
        #expect(tink["derivedKeyByteCount"] == .integer(32))
        let hello = try hello(["tink-aes-gcm-hkdf"], keys: [32])
        let usual = Strategy(sampling: tink.format)
        #expect(ExternalFixture.keyByteCount(usual, hello) == nil && ExternalFixture.keyByteCount(tink, hello) == 32)
        // An object under another name is not promised either, and is asked for.
        let described = try strategies(["described"], among: ["floe", "age"], opens: { $0.strategy.name != "floe" })
        #expect(described.map(\.name) == ["age"])
        #expect(try strategies(["dare"], among: ["dare"], opens: { _ in false }) == [])
        for name in ["cryptomator-gcm", "cryptomator-ctrmac", "chunk-iv-ct-mac", "iv-prefix-cbc-mac"] {
            #expect(try fixtures([name], among: [name]) == [name])
        }
        for name in ["dare", "openpgp-seipd2"] {
            let strategy = Strategy(sampling: try Format.named(name))
            let ciphers = try [0, 1, 100, 101].map { number in
                let group = ExternalFixture.group(
                    id: "g", strategy: strategy, keyByteCount: 32, number: number, plaintextByteCount: 100)
                return try #require(group?.need?.cipher)
            }
            #expect(Set(ciphers).count == 1, "\(name): \(ciphers)")
        }
    }

    @Test("checks of the protocol that no object of the subject's formats can be made for count as not run")
    func noFixture() throws {
        let hello = """
            {"ok":true,"name":"s","version":"1","protocol":1,"strategies":["dare"],"keyByteCounts":[32],\
            "sources":["served"],"granularity":"chunk","measures":false}
            """
        let command = """
            while IFS= read -r line; do case "$line" in *hello*) echo '\(hello)';; \
            *) echo '{"ok":false,"error":"unsupported"}';; esac; done
            """
        let record = try ExternalVerification(command: command).run([]).record
        let counts = try #require(record.flags?.first { $0.flag == ExternalFlag.subjectProtocol.rawValue })
        // The one that passes is hello.
        #expect(record.failed == 0 && counts.passed == 1 && counts.notRun > 20, "\(counts)")
    }

    @Test("a subject is not expected to refuse what is no fault in a format")
    func errorOrder() throws {
        func names(_ format: String, keys: [UInt64] = [16]) throws -> [String] {
            ProtocolCheck.errorOrder(
                for: Strategy(sampling: try Format.named(format)), hello: try hello([format], keys: keys)
            ).map(\.name).filter { $0.contains("hello does not list") && $0.contains("a key of") }
        }
        #expect(try names("ctr").count == 2 && names("ctr", keys: [16, 24, 32]).isEmpty)
        // Of any length; no AES key; two AES keys in one.
        #expect(try names("tink-aes-gcm-hkdf").isEmpty && names("crypt4gh").isEmpty && names("xts-sectors").isEmpty)
        let variant = Strategy(sampling: try Format.named("dare"))
        #expect(variant.format.inputs.contains { $0.name == "version" && $0.isFixed })
        #expect(!ProtocolCheck.openings(for: variant).contains { $0.name.contains("version") })
    }

    @Test("wrong keys and IVs are those that the format cannot have")
    func wrongLengths() throws {
        func names(_ format: String) throws -> [String] {
            ProtocolCheck.wrongLengths(for: Strategy(sampling: try Format.named(format))).map(\.name)
        }
        #expect(try names("cbc-continuous").count == 9)
        #expect(try names("floe").allSatisfy { $0.contains(" key ") } && names("floe").count == 4)
    }

    @Test("the block that was used as IV is named")
    func chain() throws {
        let group = try group(.cbcContinuous(iv: iv, padding: .pkcs7))
        let wrong = WrongBytes(group: group, offset: 48, expectedByteCount: 32, listed: nil)
        let right = try ciphertext(group, 32)
        for (used, name) in [
            ([UInt8](repeating: 0, count: 16), "all zeros"), (iv.bytes, "the object's IV"),
            (try ciphertext(group, 16), "C[1]"), (iv.advanced(by: 1).bytes, "the IV + 1"),
        ] {
            let delivered = try bytes(group, 48..<80, block: 0, right: right, used: used)
            let mismatch = try wrong.mismatch(in: delivered)
            #expect(mismatch?.contains("the IV used for block 3 was \(name)") == true, "\(mismatch ?? "none")")
        }
        #expect(try wrong.mismatch(in: bytes(group, 48..<80, block: 0, right: right, used: right)) == nil)
    }

    @Test("the counter that was used is named")
    func counter() throws {
        let high = Block(bigEndianValue: 0xffff_fffe)
        let group = try group(.ctr(iv: high))
        let narrow = Oracle(strategy: .ctr(iv: Block(bigEndianValue: 1)), key: group.key)
        var delivered = [UInt8](repeating: 0, count: 16)
        let source = MemorySource(try ciphertext(group, 48))
        try delivered.withUnsafeMutableBytes {
            try narrow.decrypt(ciphertext: source, plaintextByteCount: 16, range: 0..<16, into: $0)
        }
        let mismatch = try WrongBytes(group: group, offset: 48, expectedByteCount: 16, listed: nil)
            .mismatch(in: delivered)
        #expect(mismatch?.contains("without a carry past 32 bits") == true, "\(mismatch ?? "none")")
    }

    @Test("surplus and missing bytes are explained")
    func lengths() throws {
        let group = try group(.cbcChunked(chunkByteCount: 64, iv: iv, ivRule: .fixed, padding: .pkcs7))
        let same = [UInt8](repeating: 0, count: 16)
        let good = try bytes(group, 40..<104, block: 0, right: same, used: same)
        let wrong = WrongBytes(group: group, offset: 40, expectedByteCount: 40, listed: nil)
        #expect(try wrong.mismatch(in: Array(good[..<24]))?.contains("where chunk 0 ends") == true)
        #expect(try wrong.mismatch(in: Array(good[..<44]))?.contains("what follows") == true)
        #expect(try wrong.mismatch(in: good[..<40] + [0, 0, 0])?.contains("zeros") == true)
        #expect(try wrong.mismatch(in: good[..<40] + [3, 3, 3])?.contains("padding") == true)
    }

    @Test("fetches are judged by the granularity")
    func fetches() {
        func fetch(_ range: Range<UInt64>) -> FetchRule.Fetch {
            .init(asked: range, deliveredByteCount: UInt64(range.count))
        }
        let strategy = Strategy.cbcChunked(chunkByteCount: 32, iv: iv, ivRule: .fixed, padding: .pkcs7)
        let block = FetchRule(strategy: strategy, granularity: .block, ciphertextByteCount: 144)
        let none = RangeSet<UInt64>()
        // Chunks take 48 bytes: 16..<40 is the last block of the first chunk and the first of the second.
        let goods: [[Range<UInt64>]] = [
            [0..<32, 48..<64], [0..<64], [0..<16, 16..<32, 48..<64], [0..<32, 16..<32, 48..<64],
        ]
        for good in goods {
            #expect(block.mismatch(in: good.map(fetch), delivering: 16..<40, having: none) == nil)
        }
        let bads: [[Range<UInt64>]] = [
            [16..<32, 48..<64], [0..<32], [0..<80], [0..<144], [0..<64, 0..<64, 0..<64],
        ]
        for bad in bads {
            #expect(block.mismatch(in: bad.map(fetch), delivering: 16..<40, having: none) != nil)
        }
        #expect(block.mismatch(in: [fetch(0..<1)], delivering: 16..<16, having: none) != nil)
        #expect(block.mismatch(in: [], delivering: 16..<40, having: RangeSet(0..<64)) == nil, "kept")
        let chunk = FetchRule(strategy: strategy, granularity: .chunk, ciphertextByteCount: 144)
        #expect(chunk.mismatch(in: [fetch(0..<96)], delivering: 16..<40, having: none) == nil)
        #expect(chunk.mismatch(in: [fetch(0..<97)], delivering: 16..<40, having: none) != nil)
        #expect(block.openingMismatch([fetch(112..<144)]) == nil)
        #expect(block.openingMismatch([fetch(111..<144)]) != nil)
    }

    /// Most reads are judged without sets of ranges; here the sets are asked each time.
    @Test("fetches of any kind are judged as sets of ranges would judge them", arguments: 0..<6)
    func randomFetches(_ kind: Int) {
        let strategy: Strategy = [
            .cbcChunked(chunkByteCount: 48, iv: iv, ivRule: .fixed, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 48, iv: iv, ivRule: .fixed, padding: .none), .ctr(iv: iv),
        ][kind / 2]
        let rule = FetchRule(
            strategy: strategy, granularity: kind % 2 == 0 ? .block : .window(byteCount: 32), ciphertextByteCount: 320)
        var generator = SplitMix64(seed: UInt64(kind))
        var (passed, failed) = (0, 0)
        for _ in 0..<5000 {
            let start = UInt64.random(in: 0..<200, using: &generator)
            let range = start..<start + UInt64.random(in: 1...60, using: &generator)
            // What is needed, in pieces, with something wrong or superfluous now and then.
            var asked: [Range<UInt64>] = []
            for part in rule.needed(for: range).ranges {
                let cut = part.lowerBound + 16 * UInt64.random(in: 0...UInt64(part.count) / 16, using: &generator)
                asked += [part.lowerBound..<cut, cut..<part.upperBound].filter { !$0.isEmpty }
            }
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<asked.count, using: &generator)
                let (old, step) = (asked[index], UInt64([1, 16, 32].randomElement(using: &generator) ?? 16))
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: asked[index] = old.lowerBound..<old.upperBound + step
                case 1: asked[index] = old.lowerBound - min(step, old.lowerBound)..<old.upperBound
                case 2:
                    asked[index] = old.lowerBound..<max(old.lowerBound + 1, old.upperBound - min(step, old.upperBound))
                case 3: asked.insert(old, at: index)
                case 4 where asked.count > 1: asked.remove(at: index)
                default: asked.swapAt(index, 0)
                }
            }
            let (fetched, allowed) = (RangeSet(asked), rule.allowed(for: range))
            let count = { (set: RangeSet<UInt64>) in set.ranges.reduce(0) { $0 + $1.count } }
            let repeats = asked.reduce(0) { $0 + $1.count } - count(fetched)
            let maxRepeats =
                kind % 2 == 0 ? UInt64(asked.count) : rule.touchedCount(of: range, windowByteCount: 32)
            let isRight =
                asked.allSatisfy { RangeSet($0).isSubset(of: allowed) } && repeats <= 16 * Int(maxRepeats)
                && rule.needed(for: range).isSubset(of: fetched)
            let mismatch = rule.mismatch(
                in: asked.map { .init(asked: $0, deliveredByteCount: UInt64($0.count)) }, delivering: range)
            #expect((mismatch == nil) == isRight, "\(asked) for \(range): \(mismatch ?? "no mismatch")")
            if isRight { passed += 1 } else { failed += 1 }
        }
        #expect(passed > 1000 && failed > 1000, "\(passed) right ones, \(failed) wrong ones")
    }
}

@Suite("example subjects")
struct AdapterTests {
    private func expectPass(_ command: String) throws {
        let groups =
            VectorSet.exhaustive(blockCounts: 2...2) + VectorSet.impossibleLengths()
            + VectorSet.counterCarries() + VectorSet.sequenceCarries() + VectorSet.largeOffsets()
        let tier = VectorTier(of: groups, largestCount: 250)
        let outcome = try ExternalVerification(command: command, timeout: .seconds(300)).run(groups, tier: tier)
        let first = outcome.record.failures.first
        #expect(outcome.record.failed == 0, "\(first?.id ?? ""): \(first?.reason ?? "")")
        #expect(outcome.record.passed > 500)
    }

    @Test(
        "processes that share the vectors count what one counts", .enabled(if: SubjectPrograms.hasPython, "no python3"),
        arguments: ["python_cryptography.py", "playing_on_ios.py"])
    func processes(_ name: String) throws {
        let groups = VectorSet.exhaustive(blockCounts: 2...3)
        let tier = VectorTier(of: groups, largestCount: 300)
        let finished = Mutex<[Int]>([])
        let outcomes = try [1, 3].map { count in
            try ExternalVerification(
                command: "python3 \(path(name))", timeout: .seconds(100), checksProtocol: false, processCount: count
            ).run(groups, tier: tier) { done, total in
                if done == total { finished.withLock { $0.append(total) } }
            }
        }
        let (one, shared) = (outcomes[0], outcomes[1])
        #expect(one.record.passed > 100 && (one.record.failed > 0) == (name == "playing_on_ios.py"))
        #expect(
            (shared.record.passed, shared.record.failed, shared.record.notRun, shared.record.unsupported)
                == (one.record.passed, one.record.failed, one.record.notRun, one.record.unsupported))
        #expect(shared.record.flags == one.record.flags && shared.record.commonTrait == one.record.commonTrait)
        #expect(Set(shared.record.failures.map(\.id)) == Set(one.record.failures.map(\.id)))
        #expect(shared.readCount == one.readCount)
        #expect(finished.withLock { $0.count } == 2)
    }

    private func path(_ name: String) -> String { "'\(SubjectPrograms.package)/Examples/subjects/\(name)'" }

    @Test("Python's cryptography", .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"))
    func python() throws { try expectPass("python3 \(path("python_cryptography.py"))") }

    @Test("Node's crypto", .enabled(if: SubjectPrograms.hasNode, "no node"))
    func node() throws { try expectPass("node \(path("node_crypto.mjs"))") }

    @Test("the Web Crypto API", .enabled(if: SubjectPrograms.hasNode, "no node"))
    func webCrypto() throws { try expectPass("node \(path("web_crypto.mjs"))") }

    @Test("Go's crypto", .enabled(if: SubjectPrograms.hasGo, "no go"))
    func go() throws { try expectPass("go run \(path("go_crypto.go"))") }

    @Test("Java's JCE", .enabled(if: SubjectPrograms.hasJava, "no java"))
    func java() throws { try expectPass("java \(path("JavaJce.java"))") }

    @Test(
        "the openssl command",
        .enabled(if: SubjectPrograms.hasOpenSSL && SubjectPrograms.hasPython, "no openssl or no python3"))
    func openssl() throws { try expectPass("python3 \(path("openssl_command.py"))") }

    @Test(
        "the articles' code fails in its bugs, and says which",
        .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"),
        arguments: [
            (
                "playing_on_ios.py",
                [
                    "they end where chunk", "the IV used for block 0 of chunk 1 was the object's IV",
                    "expected the error rangeOutOfBounds",
                ]
            ),
            ("huge_files_on_ios.py", ["the plaintext has 32 bytes", "the surplus is zeros"]),
        ])
    func articles(name: String, reasons: [String]) throws {
        let groups = VectorSet.exhaustive(blockCounts: 2...6) + VectorSet.badPaddings()
        let record = try ExternalVerification(
            command: "python3 \(path(name))", timeout: .seconds(100), listedFailureCount: 500
        ).run(groups, tier: VectorTier(of: groups, largestCount: 1500)).record
        #expect(record.passed > 100)
        for reason in reasons {
            #expect(record.failures.contains { $0.reason.contains(reason) }, "no failure says \"\(reason)\"")
        }
    }
}

/// The programs that tests start.
enum SubjectPrograms {
    /// The package's folder.
    static let package = String(#filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 })

    /// The command line of a script in `Tests/Subjects`.
    static func hostile(_ mode: String) -> String {
        "python3 '\(package)/Tests/Subjects/hostile.py' \(mode)"
    }

    /// Tells if a command ends with 0.
    static func succeeds(_ command: String) -> Bool { system("(\(command)) >/dev/null 2>&1") == 0 }

    static let hasPython = succeeds("python3 -c 'import cryptography'")
    static let hasNode = succeeds("node --version")
    static let hasJava = succeeds("java --version")
    static let hasGo = succeeds("go version")
    static let hasOpenSSL = succeeds("openssl version")

    /// One padded CBC object of 19 bytes, and all its ranges.
    static let groups = VectorSet.exhaustive(blockCounts: 1...1).filter {
        $0.id.hasPrefix("exhaustive/cbc-continuous/") && $0.id.hasSuffix("/19")
    }
}

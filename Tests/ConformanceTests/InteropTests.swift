import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import Support
import Synchronization
import Testing

@testable import Conformance
@testable import Vectors

@Suite("objects of the formats' own tools")
struct InteropTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../data/interop").standardized.path

    private static func indexes() throws -> [InteropIndex] {
        try InteropIndex.folders(in: folder).map { try InteropIndex(folder: $0) }
    }

    @Test("a description is known only with three objects of its reference implementation, and each variant with one")
    func complete() throws {
        let objects = try Self.indexes().flatMap(\.objects)
        for variants in Dictionary(grouping: Format.known, by: \.text).values {
            let counts = variants.map { format in objects.count { $0.strategy?.format == format } }
            let names = variants.map(\.name)
            #expect(counts.reduce(0, +) >= 3 && !counts.contains(0), "\(names): \(counts) objects in data/interop")
        }
    }

    @Test("all of them pass", arguments: ["openssl", "libgcrypt"])
    func all(name: String) throws {
        let indexes = try Self.indexes()
        let records = InteropVerification(backends: [try BackendRegistry.backend(named: name)]).run(indexes)
        for record in records {
            let failure = record.failures.first
            #expect(record.failed == 0, "\(record.format)/\(failure?.file ?? ""): \(failure?.reason ?? "")")
            #expect(record.passed > 0 || record.unsupported == record.files, "\(record.format)")
            #expect(record.passed + record.failed + record.notDetectable == record.ranges + record.damages)
        }
        let gcm = try #require(records.first { $0.format == "cobblestone-128" })
        #expect(gcm.damages > 0 && gcm.notDetectable == 0)
        let ctr = try #require(records.first { $0.format == "ctr" })
        #expect(ctr.damages > 0 && ctr.notDetectable == ctr.damages)
    }

    @Test("other bytes are failures, and so is a damage that a tag would have shown")
    func faults() throws {
        let openSSL = try BackendRegistry.backend(named: "openssl")
        func records(_ name: String, _ backends: [any CipherBackend]) throws -> [InteropRecord] {
            InteropVerification(backends: backends).run([try InteropIndex(folder: "\(Self.folder)/\(name)")])
        }
        let wrong = try records("ctr", [Faulty(base: openSSL, hasOtherKey: true)])
        #expect(wrong.count == 1 && wrong[0].failed > 0 && wrong[0].passed < wrong[0].ranges)
        let blind = try records("cobblestone", [Faulty(base: openSSL, hasOtherKey: false)])
        #expect(blind.count == 2 && blind.allSatisfy { $0.failed > 0 && $0.failed < $0.damages })
        #expect(blind.flatMap(\.failures).allSatisfy { $0.reason.contains("was not noticed") })
        // Only backends read lists of pieces.
        let parts = try InteropIndex(folder: "\(Self.folder)/ctr-parts")
        let asked = InteropVerification(subjects: [InProcessSubject(backend: openSSL)]).run([parts])
        #expect(asked.allSatisfy { $0.unsupported == $0.files && $0.passed == 0 && $0.failed == 0 })
        let none = try records("ctr", [])
        #expect(none.count == 1 && none[0].passed == 0 && none[0].ranges == 0)
    }

    @Test("an error that a format has no use for tells nothing of a damage")
    func untelling() throws {
        let index = try InteropIndex(folder: "\(Self.folder)/cobblestone")
        let originals = Set(index.objects.map(\.ciphertext))
        let right = InProcessSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let subject = InProcessSubject(name: "s") { (setup, source, strategy, key) throws(DecryptionError) in
            guard originals.contains(try source.bytes(0..<source.byteCount)) else { throw .unsupported("a damage") }
            return try right.open(setup, source, strategy, key)
        }
        for record in InteropVerification(subjects: [subject]).run([index]) {
            #expect(record.failed == record.damages && record.passed == record.ranges && record.damages > 0)
        }
    }

    @Test("what an interrupt ends is not counted, and no subject is asked after it")
    func interrupted() throws {
        let interrupt = Interrupt()
        let right = InProcessSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let dying = InProcessSubject(name: "dying") { (_, _, _, _) throws(DecryptionError) in
            interrupt.isOn.store(true, ordering: .relaxed)
            throw .unsupported("an interrupt")
        }
        let verification = InteropVerification(
            subjects: [dying, right], isInterrupted: { interrupt.isOn.load(ordering: .relaxed) })
        let records = verification.run([try InteropIndex(folder: "\(Self.folder)/ctr")])
        #expect(records.map(\.files) == [1])
        #expect(records.allSatisfy { $0.failed == 0 && $0.passed == 0 && $0.ranges == 0 && $0.damages == 0 })
    }

    private final class Interrupt: Sendable {
        let isOn = Atomic(false)
    }

    @Test("a file whose first part is empty is read")
    func emptyPart() throws {
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash([1, 2, 3]))
        let zeros = String(repeating: "0", count: 32)
        // AES-128 of a block of zeros under a key of zeros: NIST, AESAVS, appendix B, encrypts to 66e94b….
        let plaintext: [UInt8] = [1 ^ 0x66, 2 ^ 0xe9, 3 ^ 0x4b]
        let folder = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let index = """
            {"format": "ctr-parts", "tool": {"name": "t", "version": "1"}, "files": [{"file": "a.bin", "byteCount": 3,
            "sha256": "\(digest)", "key": "\(zeros)",
            "parameters": {"partByteCounts": [0, 3], "partIVs": ["\(zeros)", "\(zeros)"]}, "plaintextByteCount": 3,
            "plaintextSHA256": "\(Hexadecimal.encode(SHAFunction.sha256.hash(plaintext)))",
            "ranges": [{"offset": 0, "count": 3, "delivered": 3, "hex": "\(Hexadecimal.encode(plaintext))"}]}]}
            """
        try Data([1, 2, 3]).write(to: folder.appending(path: "a.bin"))
        try Data(index.utf8).write(to: folder.appending(path: InteropIndex.fileName))
        let records = InteropVerification(backends: [try BackendRegistry.backend(named: "openssl")])
            .run([try InteropIndex(folder: folder.path)])
        #expect(records.map(\.failed) == [0] && records[0].passed > 20, "\(records)")
    }

    @Test("no read is longer than a subject takes")
    func longObject() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, byteCount, longest) = ([UInt8](1...16), 5 << 20, 4 << 20)
        let ciphertext = [UInt8](repeating: 7, count: byteCount)
        let right = InProcessSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let reader = try right.open(
            ReaderSetup(.cursor(windowByteCount: .max)), MemorySource(ciphertext),
            .ctr(iv: Block(bigEndianValue: 5)), SecretKey(key))
        var plaintext = [UInt8](repeating: 0, count: byteCount)
        #expect(try plaintext.withUnsafeMutableBytes { try reader.read(at: 0, into: $0) } == byteCount)
        func digest(_ bytes: [UInt8]) -> String { Hexadecimal.encode(SHAFunction.sha256.hash(bytes)) }
        let index = """
            {"format": "ctr", "tool": {"name": "t", "version": "1"}, "files": [{
            "file": "a.bin", "byteCount": \(byteCount), "sha256": "\(digest(ciphertext))",
            "key": "\(Hexadecimal.encode(key))", "parameters": {"iv": "\(String(repeating: "0", count: 31))5"},
            "plaintextByteCount": \(byteCount), "plaintextSHA256": "\(digest(plaintext))",
            "ranges": [{"offset": 0, "count": 1, "delivered": 1, "hex": "\(Hexadecimal.encode([plaintext[0]]))"}]}]}
            """
        try Data(ciphertext).write(to: folder.appending(path: "a.bin"))
        try Data(index.utf8).write(to: folder.appending(path: InteropIndex.fileName))
        let subject = InProcessSubject(name: "s", largestReadByteCount: longest) {
            (setup, source, strategy, key) throws(DecryptionError) in
            FaultyReader(try right.open(setup, source, strategy, key)) { base, offset, buffer throws(DecryptionError) in
                guard buffer.count <= longest else { throw .unsupported("a long read") }
                return try base.read(at: offset, into: buffer)
            }
        }
        let records = InteropVerification(subjects: [subject]).run([try InteropIndex(folder: folder.path)])
        let record = try #require(records.first)
        #expect(record.failed == 0 && record.ranges > 1 && record.damages > 0, "\(record.failures)")
    }

    @Test("a check over all chunks holds, notices each bit of what it covers, and is none where a format has none")
    func whole() throws {
        let objects = try InteropIndex(folder: "\(Self.folder)/seal").objects
        var kinds: Set<String> = []
        for object in objects {
            let strategy = try #require(object.strategy)
            let (bytes, oracle) = (object.ciphertext, Oracle(strategy: strategy, key: object.key))
            func holds(_ bytes: [UInt8]) throws -> Bool? { try oracle.holdsWhole(of: MemorySource(bytes)) }
            guard strategy["snapshotID"] == .integer(1) else {
                #expect(try holds(bytes) == nil, "\(object.name)")
                continue
            }
            kinds.insert(strategy.format.name)
            #expect(try holds(bytes) == true, "\(object.name)")
            let table = try oracle.object(MemorySource(bytes)).table
            // The snapshot stands behind salt and commitment, or behind the table, which the last tag ends.
            let (tagEnd, isBehind) = (table.map { Int($0.gap.lowerBound) } ?? bytes.count, table?.gap.count == 64)
            for place in [tagEnd - 1] + (isBehind ? [tagEnd, tagEnd + 63] : [64]) {
                var changed = bytes
                changed[place] ^= 0x80
                #expect(try holds(changed) == false, "\(object.name), \(place)")
            }
        }
        #expect(kinds == ["seal-editable", "seal-memory", "seal-disk", "seal-compact"])
    }

    /// A backend that decrypts with another key, or that does not look at tags.
    private struct Faulty: WrappingBackend {
        let base: any CipherBackend
        let hasOtherKey: Bool

        func makeContext(
            _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
        ) throws(DecryptionError) -> any CipherContext {
            let key = hasOtherKey ? try SecretKey([UInt8](repeating: 1, count: key.byteCount)) : key
            return Context(base: try base.makeContext(cipher, direction, key: key))
        }
    }

    private final class Context: CipherContext {
        private let base: any CipherContext

        init(base: any CipherContext) { self.base = base }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
            associatedData: UnsafeRawBufferPointer
        ) throws(DecryptionError) -> Bool {
            _ = try base.process(input, into: output, nonce: nonce, associatedData: associatedData)
            return true
        }
    }

    @Test("an index that is not what its files are is an error")
    func wrong() throws {
        let source = URL(filePath: Self.folder).appending(path: "ctr")
        let copy = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: source, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let index = copy.appending(path: InteropIndex.fileName)
        let text = try String(contentsOf: index, encoding: .utf8)
        func kind(_ text: String) throws -> VectorFileError.Kind? {
            try Data(text.utf8).write(to: index)
            return #expect(throws: VectorFileError.self) { _ = try InteropIndex(folder: copy.path) }?.kind
        }
        #expect(try InteropIndex(folder: copy.path).objects.count == 6)
        for (good, bad) in [
            ("\"sha256\": \"", "\"sha256\": \"00"), ("\"plaintextSHA256\": \"", "\"plaintextSHA256\": \"00"),
            ("\"byteCount\": 0", "\"byteCount\": 1"), ("\"files\"", "\"objects\""), ("shake256", "shake128"),
            ("\"delivered\": 0", "\"delivered\": 7"), ("\"key\": \"", "\"key\": \"x"), ("\"iv\": \"", "\"iv\": \"00"),
            ("{", "["), ("\"file\": \"", "\"file\": \"../ctr/"),
        ] {
            #expect(text.contains(good), "\(good)")
            #expect(try kind(text.replacing(good, with: bad, maxReplacements: 1)) == .malformed, "\(good)")
        }
        #expect(try kind(text.replacing("ctr-256-0.bin", with: "nothing.bin")) == .missing)
        #expect(throws: VectorFileError.self) { try InteropIndex.folders(in: copy.path + "/nowhere") }
    }

    @Test("an index may list the chunks' lengths: of the first, of all others, and of the last")
    func listedChunks() throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: URL(filePath: Self.folder).appending(path: "seal"), to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let index = copy.appending(path: InteropIndex.fileName)
        let text = try String(contentsOf: index, encoding: .utf8)
        let list = "12,\n     20\n"
        #expect(text.contains(list))
        func object(_ lengths: String) throws -> InteropObject {
            try Data(text.replacing(list, with: lengths).utf8).write(to: index)
            return try #require(try InteropIndex(folder: copy.path).objects.first { $0.name == "kat-F9.seal" })
        }
        for (lengths, first, chunk) in [("12, 20", 12, nil), ("12, 20, 20, 3", 12, 20)] as [(String, Int128, Int128?)] {
            let listed = try object(lengths)
            let format = try #require(listed.strategy).format
            #expect(!listed.isTold, "\(lengths)")
            #expect(format.firstChunk?.expression == .integer(first), "\(lengths)")
            #expect(format.chunk?.expression == chunk.map { .integer($0) } ?? .name("segmentByteCount"), "\(lengths)")
        }
        let plain = try object("12")
        #expect(plain.strategy?.format.firstChunk == nil && plain.isTold)
        for lengths in ["12, 20, 21", "12, 20, 19, 3", "21, 20, 20"] {
            #expect(try object(lengths).gap?.contains("two lengths") == true, "\(lengths)")
        }
    }

    @Test("SHAKE-256 of nothing, and of a seed")
    func shake() {
        // Source: FIPS 202; the first bytes of SHAKE-256 of the empty message.
        let expected: [UInt8] = [0x46, 0xB9, 0xDD, 0x2B, 0x0B, 0xA8, 0x8D, 0x13]
        #expect(SHAKE256.bytes(of: [], count: 8) == expected)
        #expect(SHAKE256.bytes(of: [1], count: 0).isEmpty)
    }
}

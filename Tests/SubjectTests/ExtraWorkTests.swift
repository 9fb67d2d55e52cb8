import RandomAccess
import Subject
import SubjectProtocol
import Support
import TestSupport
import Testing

@Suite("extra work")
struct ExtraWorkTests {
    private static let iv = Block(bigEndianValue: 42)
    static let strategies: [Strategy] = [
        .cbcContinuous(iv: iv, padding: .pkcs7), .ctr(iv: iv),
        .cbcChunked(chunkByteCount: 112, iv: iv, ivRule: .sequence, padding: .pkcs7),
    ]
    private let plaintext = Samples.bytes(4000)

    /// Some reads of whole blocks, so that what they decrypt by themselves is what they deliver.
    private static func reads(_ byteCount: Int) -> [Workload.Read] {
        stride(from: 0, to: 3936, by: byteCount).map {
            Workload.Read(offset: UInt64($0), count: UInt64(min(byteCount, 3936 - $0)))
        }
    }

    private func counts(
        _ reads: [Workload.Read], _ share: Double, _ strategy: Strategy, threadCount: Int = 1
    ) throws -> (delivered: Int, decrypted: Int, digest: String) {
        let folder = try TemporaryFolder()
        let subject = try openSubject(
            plaintext, strategy, threadCount: threadCount, extraWork: ExtraWork(share: share), folder: folder)
        let answer = try subject.measure(
            id: 1, request: ["workload": Workload.trace(reads).json, "collect": "digest", "extended": true])
        return (
            Int(try #require(answer["deliveredByteCount"]?.integer)),
            Int(try #require(answer["decryptedByteCount"]?.integer)), try #require(answer["digest"]?.string)
        )
    }

    @Test(
        "as many further blocks are decrypted as the share says, whatever the reads' length",
        arguments: strategies, [0.0, 0.000001, 0.03, 0.05, 0.3, 1, 2.5, 10])
    func blocks(strategy: Strategy, share: Double) throws {
        for byteCount in [16, 48, 112, 1008, 3936] {
            let reads = Self.reads(byteCount)
            let plain = try counts(reads, 0, strategy)
            let found = try counts(reads, share, strategy)
            #expect(found.delivered == plain.delivered)
            #expect(found.digest == plain.digest, "reads of \(byteCount)")
            // 3936 bytes are 246 blocks; a millionth of that is not one.
            let expected = Int((246 * share).rounded(.down)) * 16
            #expect(found.decrypted - plain.decrypted == expected, "reads of \(byteCount)")
        }
    }

    @Test("reads of one byte add the same share as long ones")
    func smallReads() throws {
        let reads = (0..<1000).map { Workload.Read(offset: UInt64($0 * 3), count: 1) }
        let plain = try counts(reads, 0, .ctr(iv: Self.iv))
        let found = try counts(reads, 0.5, .ctr(iv: Self.iv))
        #expect(found.decrypted - plain.decrypted == 1000 / 2 / 16 * 16)
        #expect(found.digest == plain.digest)
    }

    @Test("each thread adds its share, less a block at most", arguments: [2, 3, 8])
    func threads(threadCount: Int) throws {
        let reads = Self.reads(112)
        let plain = try counts(reads, 0, .ctr(iv: Self.iv))
        let found = try counts(reads, 0.3, .ctr(iv: Self.iv), threadCount: threadCount)
        let maximum = 3936 * 3 / 10
        #expect((maximum - 16 * threadCount...maximum).contains(found.decrypted - plain.decrypted))
        #expect(found.digest == plain.digest)
    }

    @Test("every access delivers the same bytes as without", arguments: AccessPolicy.allCases, strategies)
    func bytes(access: AccessPolicy, strategy: Strategy) throws {
        let folder = try TemporaryFolder()
        let subject = try openSubject(
            plaintext, strategy, access: access, extraWork: ExtraWork(share: 0.7), folder: folder)
        for (offset, count) in [(0, 4000), (5, 100), (111, 2), (3990, 10), (17, 0)] {
            let found = try subject.read(id: 1, offset: UInt64(offset), count: UInt64(count))
            #expect(Array(found) == Array(plaintext[offset..<offset + count]), "\(count) bytes at \(offset)")
        }
    }

    @Test("the subject's version says what share it adds, and nothing without one")
    func version() throws {
        let folder = try TemporaryFolder()
        func version(_ share: Double) throws -> String {
            let subject = try openSubject(
                plaintext, .ctr(iv: Self.iv), extraWork: ExtraWork(share: share), folder: folder)
            return try #require(subject.hello["version"]?.string)
        }
        #expect(try version(0.05).contains("extra work 0.05"))
        #expect(try !version(0).contains("extra work"))
    }

    @Test("a subject with extra work names only formats that take it")
    func offered() throws {
        let folder = try TemporaryFolder()
        func names(_ share: Double) throws -> [String] {
            let subject = try openSubject(
                plaintext, .ctr(iv: Self.iv), extraWork: ExtraWork(share: share), folder: folder)
            return try #require(subject.hello["strategies"]?.array).compactMap(\.string)
        }
        let (plain, slow) = (Set(try names(0)), Set(try names(0.05)))
        #expect(plain.isSuperset(of: ["cbc-chunked", "age", "hls-aes128", "film", "described"]))
        #expect(slow.isStrictSubset(of: plain) && slow.isSuperset(of: ["cbc-continuous", "cbc-chunked", "ctr"]))
        #expect(slow.isDisjoint(with: ["age", "cobblestone-128", "hls-aes128", "film", "described"]))
    }

    @Test("a share is 0 to 10", arguments: [(-0.01, false), (0, true), (10, true), (10.01, false), (.nan, false)])
    func shares(share: Double, isTaken: Bool) {
        #expect((ExtraWork(share: share) != nil) == isTaken)
    }
}

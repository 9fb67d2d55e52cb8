import BackendRegistry
import RandomAccess
import Results
import TestSupport
import Testing
import Vectors

@testable import Conformance

/// A part of the standard vectors that a debug build gets through in seconds.
let fewGroups: [VectorGroup] =
    VectorSet.exhaustive(blockCounts: 0...1)
    + VectorSet.exhaustive(blockCounts: 4...4).filter { $0.id.hasSuffix("/64") }
    + VectorSet.badPaddings() + VectorSet.impossibleLengths() + VectorSet.sequenceCarries().suffix(2)
    + VectorSet.counterCarries().suffix(1) + VectorSet.paddingLookalikes()

@Suite("verdicts")
struct VerificationTests {
    @Test("every backend passes", arguments: BackendRegistry.availableNames(having: .aesCBC))
    func backends(name: String) throws {
        let edges =
            name == "swift-reference" ? [] : VectorSet.chunkEdges().suffix(1) + VectorSet.largeOffsets().suffix(1)
        let groups = fewGroups + edges
        let records = Verification(backends: [try BackendRegistry.backend(named: name)]).run(groups)
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
        #expect(record.passed == groups.reduce(0) { $0 + $1.vectorCount })
        #expect(record.unsupported == 0 && record.notRun == 0)
    }

    @Test("an injected fault is found", arguments: Fault.all)
    func faults(fault: Fault) throws {
        let subject = fault.subject(try BackendRegistry.backend(named: "openssl"))
        let record = try #require(Verification(subjects: [subject]).run(fewGroups).first)
        #expect(record.failed > 0)
        #expect(record.passed > 0, "a fault that fails everything proves little")
        #expect(!record.failures.isEmpty && record.failures.count <= 20)
        #expect(record.failures.allSatisfy { !$0.flags.isEmpty && !$0.reason.isEmpty })
    }

    @Test("no groups give no passes")
    func nothing() throws {
        let record = try #require(Verification(backends: [try BackendRegistry.backend(named: "openssl")]).run([]).first)
        #expect(record.passed == 0 && record.failed == 0 && record.notRun == 0 && record.unsupported == 0)
        #expect(Verification(backends: []).run(fewGroups).isEmpty)
    }

    @Test("what a backend lacks is unsupported, what is too large is not run")
    func counts() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let right = InProcessSubject(backend: backend)
        let limited = InProcessSubject(
            name: "limited", largestReadByteCount: 10,
            supports: { strategy, count in strategy.cipher == .aesCTR && count == 16 },
            open: right.open)
        let groups = VectorSet.exhaustive(blockCounts: 1...1)
        let record = try #require(Verification(subjects: [limited]).run(groups).first)
        let supported = groups.filter { $0.strategy.cipher == .aesCTR && $0.key.byteCount == 16 }
        let total = groups.reduce(0) { $0 + $1.vectorCount }
        #expect(record.unsupported == total - supported.reduce(0) { $0 + $1.vectorCount })
        #expect(record.notRun == supported.flatMap { Array($0.reads) }.filter { $0.count > 10 }.count)
        #expect(record.failed == 0 && record.passed + record.unsupported + record.notRun == total)
    }

    @Test("failures come smallest first, and all are counted")
    func order() {
        var (left, right) = (Tally(capacity: 3), Tally(capacity: 3))
        for size in [5, 1, 4, 9] as [UInt64] { left.add(failure(size: size)) }
        for size in [2, 7, 0] as [UInt64] { right.add(failure(size: size)) }
        left.merge(right)
        let record = left.record(subject: "s")
        #expect(record.failures.map(\.id) == ["0", "1", "2"])
        #expect(record.failed == 7)
    }

    private func failure(
        size: UInt64, _ flags: [String] = [], _ subject: Verdict.Subject = .bytes, _ reason: String = ""
    ) -> Verdict {
        Verdict(id: "\(size)", flags: flags, subject: subject, mismatch: reason, size: [size, 0, 0])
    }

    @Test("wrong bytes come before errors, errors before the adapter, and no flag loses its only counterexample")
    func subjects() {
        var tally = Tally(capacity: 4)
        for size in 1...20 { tally.add(failure(size: UInt64(size), ["Protocol"], .adapter, "reason \(size)")) }
        tally.add(failure(size: 700, ["BadPadding"], .error, "opened"))
        for size in 100...120 { tally.add(failure(size: UInt64(size), ["LongRead"], .bytes, "wrong")) }
        tally.add(failure(size: 900, ["Fetches"], .adapter, "too many"))
        let record = tally.record(subject: "s")
        #expect(record.failures.map(\.id).first == "100")
        #expect(record.failures.map { $0.flags[0] }.sorted() == ["BadPadding", "Fetches", "LongRead", "Protocol"])
        #expect(record.failures.map { $0.flags[0] }.prefix(2) == ["LongRead", "BadPadding"])
        #expect(record.failed == 43)
    }
}

@Suite("what may be fetched")
struct FetchRuleTests {
    private let iv = Block(bigEndianValue: 0)

    private func mismatch(
        _ rule: FetchRule, _ fetches: [Range<UInt64>], delivering range: Range<UInt64>
    ) -> String? {
        rule.mismatch(
            in: fetches.map { .init(asked: $0, deliveredByteCount: UInt64($0.count)) }, delivering: range)
    }

    @Test("the previous block belongs to it, the start does not")
    func continuous() {
        let rule = FetchRule(
            strategy: .cbcContinuous(iv: iv, padding: .pkcs7), granularity: .window(byteCount: .max),
            ciphertextByteCount: 160)
        #expect(mismatch(rule, [48..<80], delivering: 65..<70) == nil)
        #expect(mismatch(rule, [64..<80], delivering: 65..<70) != nil, "the previous block is missing")
        #expect(mismatch(rule, [0..<80], delivering: 65..<70) != nil, "from the start of the file")
        #expect(mismatch(rule, [48..<80, 0..<1], delivering: 65..<70) != nil, "a byte from the start")
        #expect(mismatch(rule, [0..<16], delivering: 0..<1) == nil)
        #expect(mismatch(rule, [0..<16], delivering: 5..<5) != nil, "a fetch for nothing")
    }

    @Test("padding between chunks may be fetched or left out, data may not")
    func chunked() {
        let rule = FetchRule(
            strategy: .cbcChunked(chunkByteCount: 32, iv: iv, ivRule: .fixed, padding: .pkcs7),
            granularity: .window(byteCount: .max), ciphertextByteCount: 144)
        #expect(mismatch(rule, [0..<32, 48..<64], delivering: 16..<40) == nil)
        #expect(mismatch(rule, [0..<64], delivering: 16..<40) == nil)
        #expect(mismatch(rule, [0..<16, 48..<64], delivering: 16..<40) != nil)
        #expect(rule.touchedCount(of: 16..<40, windowByteCount: .max) == 2)
        #expect(rule.touchedCount(of: 0..<32, windowByteCount: .max) == 1)
    }

    @Test("what lies together is one request, and of long reads one for each 128 KiB at least")
    func requests() {
        let rule = FetchRule(
            strategy: .cbcChunked(chunkByteCount: 32, iv: iv, ivRule: .fixed, padding: .pkcs7),
            granularity: .window(byteCount: 16), ciphertextByteCount: 144, mergesRequests: true)
        #expect(mismatch(rule, [0..<64], delivering: 16..<40) == nil)
        #expect(mismatch(rule, [0..<32, 48..<64], delivering: 16..<40)?.contains("2 requests") == true)
        #expect(mismatch(rule, [0..<32, 32..<64], delivering: 16..<40)?.contains("2 requests") == true)
        let long = FetchRule(
            strategy: .ctr(iv: iv), granularity: .window(byteCount: 16), ciphertextByteCount: 1 << 20,
            mergesRequests: true)
        let parts = stride(from: 0, to: 1 << 20, by: 1 << 17).map { UInt64($0)..<UInt64($0 + 1 << 17) }
        #expect(mismatch(long, parts, delivering: 0..<1 << 20) == nil)
        let halves = parts.flatMap {
            [$0.lowerBound..<$0.lowerBound + 1 << 16, $0.lowerBound + 1 << 16..<$0.upperBound]
        }
        #expect(mismatch(long, halves, delivering: 0..<1 << 20)?.contains("16 requests") == true)
    }
}

import BackendRegistry
import RandomAccess
import Results
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
    @Test("every backend passes", arguments: BackendRegistry.availableNames)
    func backends(name: String) throws {
        let edges =
            name == "swift-reference" ? [] : VectorSet.chunkEdges().suffix(1) + VectorSet.largeOffsets().suffix(1)
        let groups = fewGroups + edges
        let records = verify(backends: [try BackendRegistry.backend(named: name)], groups: groups)
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.failed == 0, "\(record.failures.first?.id ?? ""): \(record.failures.first?.reason ?? "")")
        #expect(record.passed == groups.reduce(0) { $0 + $1.vectorCount })
        #expect(record.unsupported == 0 && record.notRun == 0)
    }

    @Test("a planted fault is found", arguments: Fault.all)
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
        let record = try #require(verify(backends: [try BackendRegistry.backend(named: "openssl")], groups: []).first)
        #expect(record.passed == 0 && record.failed == 0 && record.notRun == 0 && record.unsupported == 0)
        #expect(verify(backends: [], groups: fewGroups).isEmpty)
    }

    @Test("what a backend lacks is unsupported, what is too large is not run")
    func counts() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let right = ConformanceSubject(backend: backend)
        let limited = ConformanceSubject(
            name: "limited", largestReadByteCount: 10,
            supports: { strategy, count in strategy.mode == .ctr && count == 16 },
            open: right.open)
        let groups = VectorSet.exhaustive(blockCounts: 1...1)
        let record = try #require(Verification(subjects: [limited]).run(groups).first)
        let supported = groups.filter { $0.strategy.mode == .ctr && $0.key.byteCount == 16 }
        let total = groups.reduce(0) { $0 + $1.vectorCount }
        #expect(record.unsupported == total - supported.reduce(0) { $0 + $1.vectorCount })
        #expect(record.notRun == supported.flatMap { Array($0.reads) }.filter { $0.count > 10 }.count)
        #expect(record.failed == 0 && record.passed + record.unsupported + record.notRun == total)
    }

    @Test("failures come smallest first, and all are counted")
    func order() {
        var (left, right) = (Tally(capacity: 3), Tally(capacity: 3))
        for size in [5, 1, 4, 9] { left.fail(id: "\(size)", flags: [], reason: "", size: [UInt64(size), 0, 0]) }
        for size in [2, 7, 0] { right.fail(id: "\(size)", flags: [], reason: "", size: [UInt64(size), 0, 0]) }
        left.merge(right)
        let record = left.record(subject: "s")
        #expect(record.failures.map(\.id) == ["0", "1", "2"])
        #expect(record.failed == 7)
    }
}

@Suite("what may be fetched")
struct FetchRuleTests {
    private let iv = Block(bigEndianValue: 0)

    @Test("the previous block belongs to it, the start does not")
    func continuous() {
        let rule = FetchRule(strategy: .cbcContinuous(iv: iv, padding: .pkcs7), windowByteCount: .max)
        #expect(rule.mismatch(in: [48..<80], delivering: 65..<70) == nil)
        #expect(rule.mismatch(in: [64..<80], delivering: 65..<70) != nil, "the previous block is missing")
        #expect(rule.mismatch(in: [0..<80], delivering: 65..<70) != nil, "from the start of the file")
        #expect(rule.mismatch(in: [48..<80, 0..<1], delivering: 65..<70) != nil, "a byte from the start")
        #expect(rule.mismatch(in: [0..<16], delivering: 0..<1) == nil)
        #expect(rule.mismatch(in: [0..<16], delivering: 5..<5) != nil, "a fetch for nothing")
    }

    @Test("padding between chunks may be fetched or left out, data may not")
    func chunked() {
        let rule = FetchRule(
            strategy: .cbcChunked(chunkByteCount: 32, iv: iv, ivRule: .fixed, padding: .pkcs7), windowByteCount: .max)
        #expect(rule.mismatch(in: [0..<32, 48..<64], delivering: 16..<40) == nil)
        #expect(rule.mismatch(in: [0..<64], delivering: 16..<40) == nil)
        #expect(rule.mismatch(in: [0..<16, 48..<64], delivering: 16..<40) != nil)
        #expect(rule.touchedCount(of: 16..<40) == 2)
        #expect(rule.touchedCount(of: 0..<32) == 1)
    }
}

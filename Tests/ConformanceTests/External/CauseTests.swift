import BackendRegistry
import RandomAccess
import Results
import Testing
import Vectors

@testable import Conformance

@Suite("what failures are most like")
struct CauseTests {
    private static let backend = try? BackendRegistry.backend(named: "openssl")
    /// A few small groups of several classes, and a few dozen reads of each.
    private static let members: [[InterleavedRun.Member]] = {
        let classes = [
            VectorSet.chaining(), VectorSet.counterCarries(), VectorSet.paddingLookalikes(), VectorSet.circumstances(),
            VectorSet.exhaustive(blockCounts: 1...1),
        ]
        return classes.flatMap { groups in
            groups.filter { $0.strategy.isStreaming && $0.readCount > 0 }.prefix(14).map { group in
                [(group, Array(group.reads.prefix(90).numbered.filter { $0.number % 3 == 0 }))]
            }
        }
    }()

    private func cause(of subject: InProcessSubject) throws -> ConformanceRecord.Cause? {
        var finder = CauseFinder(backend: try #require(Self.backend))
        var tally = Tally(capacity: 4, counting: .findings)
        for set in Self.members { finder.run(set, subject: ServedReader(base: subject), into: &tally) }
        return finder.cause()
    }

    @Test(
        "a mutant is known again",
        arguments: ["iv-frozen", "counter-32-bit", "padding-stripped-in-middle", "short-read-stacked"])
    func mutants(name: String) throws {
        let backend = try #require(Self.backend)
        let mutant = try #require(Mutant.named(name))
        let cause = try #require(try cause(of: mutant.subject(over: backend)))
        #expect(cause.mutant == name && cause.likeness == 1 && cause.sameCount == cause.wrongCount)
        #expect(cause.wrongCount > 0 && cause.text.contains("fails as \(name)"))
    }

    @Test("a fault of no mutant gets none, though others fail in the same places; what is right gets none")
    func unknown() throws {
        let backend = try #require(Self.backend)
        #expect(try cause(of: InProcessSubject(backend: backend)) == nil)
        let fault = Mutant.backend("unlisted", "Nine is added to each byte.", flag: .previousBlock, source: "none") {
            (_, base, stretch) throws(DecryptionError) in
            try stretch.process(with: base)
            for index in 0..<stretch.input.count {
                let byte = stretch.output.load(fromByteOffset: index, as: UInt8.self)
                stretch.output.storeBytes(of: byte &+ 9, toByteOffset: index, as: UInt8.self)
            }
        }
        let cause = try #require(try cause(of: fault.subject(over: backend)))
        #expect(cause.mutant == nil && cause.text.hasPrefix("no injected fault fails like it"), "\(cause)")
    }

    @Test("an answer that is right while a source fails is no fault's, though ours had kept what it needs")
    func faults() {
        func delivered(wrong: Range<Int>?) -> LoggedAnswer {
            .delivered(.init(byteCount: 32, digest: 0, wrong: wrong, isFetchedWrong: false))
        }
        #expect(LoggedAnswer.refused("io").isRight(despite: .failure))
        #expect(!LoggedAnswer.refused("internal").isRight(despite: .failure))
        #expect(!LoggedAnswer.refused("io").isRight(despite: .none))
        #expect(LoggedAnswer.refused("truncatedCiphertext").isRight(despite: .end(at: 3)))
        #expect(delivered(wrong: nil).isRight(despite: .failure) && !delivered(wrong: 0..<1).isRight(despite: .failure))
    }

    @Test("most failures' kind is counted, with its smallest counterexample")
    func kinds() throws {
        let backend = try #require(Self.backend)
        let mutant = try #require(Mutant.named("iv-frozen")).subject(over: backend)
        var tally = Tally(capacity: 4, counting: .findings)
        for set in Self.members { InterleavedRun.run(set, subject: CountedGuesses(base: mutant), into: &tally) }
        let record = tally.record(subject: "iv-frozen")
        let kind = try #require(record.kinds?.first)
        #expect(kind.reason.contains("the IV used for block"), "\(kind)")
        #expect(kind.failedCount == record.failed && kind.count * 4 >= record.failed)
    }

    @Test("what all failed vectors have in common is said with its counts, and nothing that most vectors are of")
    func traits() throws {
        let groups = VectorSet.chaining() + VectorSet.keyLengths()
        func text(_ fails: (VectorGroup) -> Bool) -> String? {
            var trait = CommonTrait()
            for group in groups { trait.note([group], executed: 10, failed: fails(group) ? 4 : 0) }
            return trait.text
        }
        let long = groups.count { $0.key.byteCount == 24 }
        #expect(text { $0.key.byteCount == 24 } == "keys of 24 bytes (\(4 * long) of \(10 * long) of these failed)")
        #expect(text { $0.strategyName == "ctr" && $0.key.byteCount == 24 }?.hasPrefix("ctr (") == true)
        #expect(text { _ in true } == nil && text { _ in false } == nil)
    }

    /// A reader whose wrong bytes are all explained.
    private struct CountedGuesses: SubjectUnderTest {
        let base: InProcessSubject
        private var served: ServedReader { ServedReader(base: base) }
        var name: String { base.name }
        func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool { base.supports(strategy, keyByteCount) }
        func supportStatus(for group: VectorGroup) -> SupportStatus { served.supportStatus(for: group) }
        func takes(offset: UInt64, count: Int) -> Bool { served.takes(offset: offset, count: count) }
        func setups(for group: VectorGroup) -> [ReaderSetup] { served.setups(for: group) }
        func object(_ group: VectorGroup, setup: ReaderSetup) throws(DecryptionError) -> any ObjectUnderTest {
            try served.object(group, setup: setup)
        }
    }
}

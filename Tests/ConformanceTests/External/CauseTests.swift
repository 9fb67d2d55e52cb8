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
            groups.filter { $0.strategy.mode != .gcm && $0.readCount > 0 }.prefix(14).map { group in
                [(group, Array(group.reads.prefix(90).numbered.filter { $0.number % 3 == 0 }))]
            }
        }
    }()

    private func cause(of subject: ConformanceSubject) throws -> ConformanceRecord.Cause? {
        var finder = CauseFinder(backend: try #require(Self.backend))
        var tally = Tally(capacity: 4)
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

    @Test("a fault of no mutant gets one of its class; what is right gets none")
    func unknown() throws {
        let backend = try #require(Self.backend)
        #expect(try cause(of: ConformanceSubject(backend: backend)) == nil)
        let fault = Mutant.backend("unlisted", "The counter has 40 bits.", flag: .counterCarry64, source: "none") {
            (mode, base, stretch) throws(DecryptionError) in
            guard mode == .ctr else { return try stretch.process(with: base) }
            for index in 0..<stretch.blockCount {
                let iv = stretch.iv.advanced(by: UInt64(index), bitWidth: 40)
                try stretch.part(index..<index + 1, iv: iv).process(with: base)
            }
        }
        let cause = try #require(try cause(of: fault.subject(over: backend)))
        #expect(cause.mutant?.hasPrefix("counter-") == true && cause.likeness < 1, "\(cause)")
    }

    @Test("answers are the more alike, the more of what is wrong is at the same place")
    func likeness() {
        func delivered(_ count: Int, _ digest: Int, wrong: Range<Int>?) -> LoggedAnswer {
            .delivered(.init(byteCount: count, digest: digest, wrong: wrong, isFetchedWrong: false))
        }
        let right = delivered(32, 0, wrong: nil)
        let wrong = delivered(32, 1, wrong: 0..<16)
        #expect(wrong.likeness(to: wrong, right: right) == 10)
        #expect(wrong.likeness(to: delivered(32, 2, wrong: 1..<16), right: right) == 6)
        #expect(wrong.likeness(to: delivered(32, 2, wrong: 0..<32), right: right) == 3)
        #expect(wrong.likeness(to: delivered(32, 2, wrong: 16..<32), right: right) == 2)
        #expect(delivered(31, 1, wrong: nil).likeness(to: delivered(16, 2, wrong: nil), right: right) == 3)
        #expect(delivered(31, 1, wrong: nil).likeness(to: delivered(33, 2, wrong: nil), right: right) == 2)
        #expect(LoggedAnswer.refused("io").likeness(to: wrong, right: right) == 2)
        #expect(LoggedAnswer.refused("io").likeness(to: .refused("internal"), right: right) == 3)
        #expect(LoggedAnswer.refused("io").likeness(to: .refused("io"), right: right) == 10)
    }
}

import BackendRegistry
import Foundation
import RandomAccess
import Results
import Support
import Testing

@testable import Conformance
@testable import Vectors

@Suite("differential search")
struct DifferentialSearchTests {
    private func mutant(_ name: String) throws -> Mutant {
        try #require(Mutant.all.first { $0.name == name })
    }

    @Test("a right reader has no difference, and the same seed gives the same counts")
    func right() throws {
        let subject = InProcessSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let search = DifferentialSearch(subjects: [subject], seed: 3)
        let (first, second) = (search.run { drawn, _ in drawn < 150 }, search.run { drawn, _ in drawn < 150 })
        #expect(first.differences.isEmpty, "\(first.differences.first?.reason ?? "")")
        #expect(first.drawn == 150 && first.executed == 150 && first.readCount > 150)
        #expect(first.readCount == second.readCount)
        #expect(search.run { _, _ in false }.executed == 0)
    }

    @Test(
        "an injected fault is found and shrunk",
        arguments: [
            ("iv-frozen", 1, 32), ("chunk-stops", 1, 32), ("padding-kept", 0, 16), ("skip-ignored", 1, 32),
            ("repeat-empty", 2, 16), ("counter-8-bit", 1, 400), ("past-end-zeros", 1, 16), ("zero-count-fails", 1, 0),
        ])
    func injected(name: String, readCount: Int, largestByteCount: UInt64) throws {
        let subject = try mutant(name).subject(over: try BackendRegistry.backend(named: "openssl"))
        let outcome = DifferentialSearch(subjects: [subject], seed: 1).run { drawn, _ in drawn < 400 }
        let found = try #require(outcome.differences.first?.searchCase)
        #expect(found.objects.count == 1 && found.reads.count <= max(1, readCount))
        #expect(found.objects.allSatisfy { $0.plaintextByteCount <= largestByteCount }, "\(found)")
    }

    @Test("a difference is printed as vectors that can be read, and that the subject fails")
    func vectors() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let subject = try mutant("iv-frozen").subject(over: backend)
        let outcome = DifferentialSearch(subjects: [subject], seed: 1).run { drawn, _ in drawn < 400 }
        let found = try #require(outcome.differences.first)
        let text = try found.searchCase.vectorFile(id: "search/1/\(found.number)", source: "a test").text
        let path = FileManager.default.temporaryDirectory.appending(path: "search-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(text.utf8).write(to: path)
        let groups = try VectorFile(path: path.path).groups
        let records = Verification(subjects: [subject, InProcessSubject(backend: backend)]).run(groups)
        #expect(records.map { $0.failed > 0 } == [true, false])
        #expect(records[1].passed > 0)
    }

    @Test("an object that cannot be made is an error, and leaves no object out of a file")
    func impossibleObject() throws {
        let object = SearchCase.Object(
            strategy: .whole(.aesCBC, iv: Block(bigEndianValue: 0)), key: [1, 2, 3], plaintextByteCount: 16, seed: 1)
        let searchCase = SearchCase(setup: ReaderSetup(.cursor(windowByteCount: .max)), objects: [object], reads: [])
        #expect(throws: DecryptionError.invalidKey(byteCount: 3)) {
            try searchCase.vectorFile(id: "search", source: "a test")
        }
    }

    @Test("a difference is told at once, and shrinking ends when there is no time left, with what it has")
    func shrinkingEnds() throws {
        let subject = try mutant("iv-frozen").subject(over: try BackendRegistry.backend(named: "openssl"))
        let search = DifferentialSearch(subjects: [subject], seed: 1)
        var told: [DifferentialSearch.Difference] = []
        var tries = 0
        func goesOn(_ drawn: Int, _ tried: Int?) -> Bool {
            tries = max(tries, tried ?? 0)
            return drawn < 400 && tried ?? 0 < 3
        }
        let outcome = search.run(while: goesOn) { difference in
            #expect(tries == 0, "told after \(tries) tries")
            told.append(difference)
        }
        let found = try #require(outcome.differences.first)
        #expect(!found.isShrunk && tries == 3 && told.count == 1 && !found.reason.isEmpty)
        let whole = try #require(search.run { drawn, _ in drawn < 400 }.differences.first)
        #expect(whole.isShrunk)
        #expect(whole.searchCase.size.lexicographicallyPrecedes(found.searchCase.size))
    }

    @Test("what a subject does once the user has interrupted is no difference")
    func interrupted() throws {
        let subject = try mutant("iv-frozen").subject(over: try BackendRegistry.backend(named: "openssl"))
        let outcome = DifferentialSearch(subjects: [subject], seed: 1, isInterrupted: { true }).run { drawn, _ in
            drawn < 9
        }
        #expect(outcome.differences.isEmpty && outcome.drawn == 0)
    }
}

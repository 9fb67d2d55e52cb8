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
        let subject = ConformanceSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let search = DifferentialSearch(subjects: [subject], seed: 3)
        let (first, second) = (search.run { $0 < 150 }, search.run { $0 < 150 })
        #expect(first.differences.isEmpty, "\(first.differences.first?.reason ?? "")")
        #expect(first.drawn == 150 && first.executed == 150 && first.readCount > 150)
        #expect(first.readCount == second.readCount)
        #expect(search.run { _ in false }.executed == 0)
    }

    @Test(
        "a planted fault is found and shrunk",
        arguments: [
            ("iv-frozen", 1, 32), ("chunk-stops", 1, 32), ("padding-kept", 0, 16), ("skip-ignored", 1, 32),
            ("repeat-empty", 2, 16), ("counter-8-bit", 1, 400), ("past-end-zeros", 1, 16), ("zero-count-fails", 1, 0),
        ])
    func planted(name: String, readCount: Int, largestByteCount: UInt64) throws {
        let subject = try mutant(name).subject(over: try BackendRegistry.backend(named: "openssl"))
        let outcome = DifferentialSearch(subjects: [subject], seed: 1).run { $0 < 400 }
        let found = try #require(outcome.differences.first?.searchCase)
        #expect(found.objects.count == 1 && found.reads.count <= max(1, readCount))
        #expect(found.objects.allSatisfy { $0.plaintextByteCount <= largestByteCount }, "\(found)")
    }

    @Test("a difference is printed as vectors that can be read, and that the subject fails")
    func vectors() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let subject = try mutant("iv-frozen").subject(over: backend)
        let outcome = DifferentialSearch(subjects: [subject], seed: 1).run { $0 < 400 }
        let found = try #require(outcome.differences.first)
        let text = found.searchCase.vectorFile(id: "search/1/\(found.number)", source: "a test").text
        let path = FileManager.default.temporaryDirectory.appending(path: "search-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(text.utf8).write(to: path)
        let groups = try VectorFile(path: path.path).groups
        let records = Verification(subjects: [subject, ConformanceSubject(backend: backend)]).run(groups)
        #expect(records.map { $0.failed > 0 } == [true, false])
        #expect(records[1].passed > 0)
    }
}

import BackendRegistry
import ByteSources
import RandomAccess
import Results
import SubjectProtocol
import Support
import Testing
import Vectors

@testable import Conformance

@Suite("the kill matrix")
struct KillMatrixTests {
    /// Mutants of most families; the program runs them all.
    private static let few = [
        "iv-frozen", "iv-not-restored", "chunk-stops", "window-restarts",
        "past-end-zeros", "offset-35-wraps", "short-read-stacked", "fetch-one-more",
        "key-of-last-opened",
        "fault-ignored", "counter-8-bit", "key-192-as-128", "does-nothing", "unsupported", "right-once",
        "chunk-tag-ignored", "chunk-released-first", "sealed-number-searched", "commitment-ignored",
        "chunk-skipped-twice", "chunk-after-decrypted", "chunk-before-decrypted",
    ]

    /// Small groups that put each of some flags to a reader, of few formats: what a debug build gets through in time.
    /// Those that are about opening, and have hardly a read, come last. `verify mutants` puts all mutants to all
    /// groups.
    private static func groups(for flags: Set<VectorFlag>) -> [VectorGroup] {
        var left = Dictionary(uniqueKeysWithValues: flags.map { ($0, groupsPerFlag) })
        let groups = VectorSet.mutation().filter { group in
            !group.id.hasPrefix("formats/") || VectorSet.tagged.contains { $0.name == group.strategy.name }
        }.sorted { rank($0.readCount) < rank($1.readCount) }
        return groups.filter { group in
            let flags = group.reads.reduce(into: Set(group.flags)) { $0.formUnion($1.flags) }
            let wanted = flags.filter { left[$0, default: 0] > 0 }
            for flag in wanted { left[flag, default: 0] -= 1 }
            return !wanted.isEmpty
        }
    }

    /// Few reads first, unless they are too few to tell much.
    private static func rank(_ readCount: Int) -> (Int, Int) {
        readCount < fewReads ? (1, -readCount) : (0, readCount)
    }

    private static let (groupsPerFlag, fewReads) = (6, 20)

    @Test("mutants of every family are killed by their own flag, and readers without a fault pass")
    func few() throws {
        let mutants = Mutant.all.filter { Self.few.contains($0.name) }
        #expect(mutants.count == Self.few.count)
        let matrix = KillMatrix.run(
            mutants, over: try BackendRegistry.backend(named: "openssl"),
            groups: Self.groups(for: Set(mutants.map(\.flag))))
        #expect(matrix.survivors.map(\.mutant.name) == [])
        for control in matrix.controls {
            #expect(control.failed == 0 && control.passed > 0, "\(control.subject): \(control.failures)")
        }
        #expect(matrix.isComplete)
    }

    @Test("what comes of a read does not depend on those before it, unless the mutant remembers")
    func independence() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let groups = Dictionary(grouping: VectorSet.exhaustive(blockCounts: 4...4), by: \.strategy.label).values
            .compactMap(\.last)
        func failed(_ reads: [NumberedRead], of group: VectorGroup, _ subject: InProcessSubject) -> Set<Int> {
            var tally = Tally(capacity: 1)
            let run = GroupRun(group: group, subject: subject)
            guard let opened = run.open(reads, into: &tally) else { return [] }
            return Set(
                reads.compactMap { number, read in
                    var tally = Tally(capacity: 1)
                    run.run(read, number: number, of: opened, into: &tally)
                    return tally.failedFlags.isEmpty ? nil : number
                })
        }
        for mutant in Mutant.all where !mutant.remembers {
            let subject = mutant.subject(over: backend)
            for group in groups {
                let reads = group.reads.numbered.filter { $0.number % 41 == 0 }
                #expect(
                    failed(reads, of: group, subject) == failed(reads.reversed(), of: group, subject),
                    "\(mutant.name), \(group.id)")
            }
        }
    }

    @Test("a flag is killed for its own bug: the vectors beside it pass")
    func sharp() throws {
        let neighbours: [(mutant: String, flags: [VectorFlag])] = [
            ("offset-36-wraps", [.beyond31Bits, .beyond32Bits, .beyond35Bits]),
            ("offset-31-clips", [.beyond32Bits, .beyond36Bits]), ("counter-64-bit", [.counterCarry32, .counterCarry8]),
            ("iv-zero", [.previousBlock, .counterStart]), ("iv-frozen", [.firstBlock, .counterStart]),
            ("padding-17", [.impossibleLastChunk, .lastBytes]), ("key-of-last-opened", [.repeatedRead, .backwardRead]),
            ("short-read-twice", [.sourceFailure, .minimalFetch, .bufferBounds]),
        ]
        let names = neighbours.map(\.mutant)
        let mutants = Mutant.all.filter { names.contains($0.name) }
        let groups = Self.groups(for: Set(neighbours.flatMap(\.flags) + mutants.map(\.flag)))
        let matrix = KillMatrix.run(mutants, over: try BackendRegistry.backend(named: "openssl"), groups: groups)
        for outcome in matrix.outcomes {
            let others = neighbours.first { $0.mutant == outcome.mutant.name }?.flags ?? []
            #expect(outcome.killedBy.filter { others.contains($0) } == [], "\(outcome.mutant.name)")
        }
    }

    @Test("nothing injected, or a reader that passes nothing, is no success")
    func nothing() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        #expect(!KillMatrix.run([], over: backend, groups: Self.groups(for: [.firstBlock])).isComplete)
        #expect(!KillMatrix.run(Array(Mutant.all.prefix(1)), over: backend, groups: []).isComplete)
    }

    @Test("there are at least 40 mutants with distinct names, each described, and each flag stands for one")
    func inventory() {
        #expect(Mutant.all.count >= 40)
        #expect(Set(Mutant.all.map(\.name)).count == Mutant.all.count)
        #expect(Mutant.all.allSatisfy { $0.summary.hasSuffix(".") && !$0.source.isEmpty })
        let flags = Set(Mutant.all.map(\.flag))
        #expect(VectorFlag.allCases.filter { !flags.contains($0) } == [])
    }
}

@Suite("vectors of hls-aes128")
struct PlaylistMutantTests {
    private static let groups = PlaylistSet.all

    private static func run(_ subject: InProcessSubject, _ groups: [VectorGroup] = groups) throws -> ConformanceRecord {
        try #require(Verification(subjects: [subject]).run(groups).first)
    }

    @Test("every backend passes all of them", arguments: BackendRegistry.availableNames(having: .aesCBC))
    func backends(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        // The reference takes a minute over all, and shows nothing that others do not.
        let groups = name == "swift-reference" ? Array(Self.groups.prefix(2)) : Self.groups
        let record = try Self.run(InProcessSubject(backend: backend), groups)
        #expect(record.failures == [])
        #expect(record.passed == groups.reduce(0) { $0 + $1.vectorCount })
    }

    @Test("each injected fault is noticed by vectors of its own class", arguments: PlaylistFault.allCases)
    func faults(_ fault: PlaylistFault) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let mutant = try #require(Mutant.named(fault.rawValue))
        // Those of its class, and two of which most faults leave one alone.
        let groups = Self.groups.filter {
            $0.flags.contains(mutant.flag) || ["hls/ranges/plain", "hls/rotation/keys"].contains($0.id)
        }
        let record = try Self.run(mutant.subject(over: backend), groups)
        #expect((record.flags ?? []).contains { $0.flag == mutant.flag.rawValue && $0.failed > 0 })
        // A reader that fails everything would show nothing.
        #expect(record.passed > 0)
    }

    @Test("a textbook reader without a fault passes all of them, beside one that has nothing else")
    func textbook() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let mutant = try #require(Mutant.named("hls-first-key-only"))
        let matrix = KillMatrix.run([mutant], over: backend, groups: Self.groups)
        #expect(matrix.controls.map(\.failed) == [0, 0])
        #expect(matrix.controls.allSatisfy { $0.passed == matrix.controls[0].passed && $0.unsupported == 0 })
        #expect(matrix.isComplete)
    }

    @Test("a playlist is unsupported by what does not know them, and failed by nothing that does")
    func unsupported() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let other = try #require(Mutant.named("iv-zero"))
        let record = try Self.run(other.subject(over: backend))
        #expect(record.unsupported == Self.groups.reduce(0) { $0 + $1.vectorCount })
        #expect(record.passed == 0 && record.failed == 0)
    }

    @Test("identifiers are unique, and so are the keys of a playlist")
    func identifiers() {
        for group in Self.groups {
            let keys = group.playlist?.keys ?? [:]
            #expect(Set(keys.values).count == keys.count)
        }
        #expect(Set(Self.groups.map(\.id)).count == Self.groups.count)
    }
}

@Suite("vectors of film")
struct FilmMutantTests {
    private static let groups = FilmSet.all

    private static func run(_ subject: InProcessSubject, _ groups: [VectorGroup] = groups) throws -> ConformanceRecord {
        try #require(Verification(subjects: [subject]).run(groups).first)
    }

    private static let names = BackendRegistry.availableNames(having: .aesCBC)
        .filter(BackendRegistry.availableNames(having: .aesCTR).contains)

    @Test("every backend passes all of them", arguments: names)
    func backends(_ name: String) throws {
        let groups = name == "swift-reference" ? Array(Self.groups.prefix(2)) : Self.groups
        let record = try Self.run(InProcessSubject(backend: BackendRegistry.backend(named: name)), groups)
        #expect(record.failures == [])
        #expect(record.passed == groups.reduce(0) { $0 + $1.vectorCount })
    }

    @Test("each injected fault is noticed by vectors of its own class", arguments: FilmFault.allCases)
    func faults(_ fault: FilmFault) throws {
        let mutant = try #require(Mutant.named(fault.rawValue))
        // Films with boxes are read by a reader without a fault.
        let lists = Self.groups.filter { $0.film?.samples != nil }
        let record = try Self.run(mutant.subject(over: BackendRegistry.backend(named: "openssl")), lists)
        #expect((record.flags ?? []).contains { $0.flag == mutant.flag.rawValue && $0.failed > 0 })
        // A reader that fails everything would show nothing.
        #expect(record.passed > 0)
    }

    @Test("a list of any numbers is read or refused by readers with a fault", arguments: FilmFault.allCases)
    func numbers(_ fault: FilmFault) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let open = try #require(Mutant.named(fault.rawValue)?.subject(over: backend).openFilm)
        let (largest, iv) = (UInt64.max, String(repeating: "f", count: 32))
        let many = [String](repeating: "[\((1 << 53) - 1),\((1 << 53) - 1)]", count: 2000).joined(separator: ",")
        for sample in [
            "[0,16,\"\(iv)\",[[\(largest),1]]]", "[\(largest),\(largest),\"\(iv)\"]", "[0,16,\"\(iv)\",[\(many)]]",
        ] {
            let reader = try? open(
                ReaderSetup(.cursor(windowByteCount: .max)),
                FilmObject(samples: #"{"scheme":"cenc","samples":[\#(sample)]}"#),
                { MemorySource([UInt8](repeating: 0, count: 64)) }, SecretKey([UInt8](repeating: 1, count: 16)))
            // A reader that ignores subsamples reads the last one.
            #expect(reader == nil || fault == .subsamplesIgnored && sample.contains(many))
        }
    }

    @Test("over the protocol, a fault in a list or key is found before the file is opened")
    func order() throws {
        let mutant = try #require(Mutant.named("film-pattern-ignored"))
        let subject = MutantSubject(mutant, over: try BackendRegistry.backend(named: "openssl"))
        let list = #"{"scheme":"cenc","samples":[[0,16,"0011223344556677"]]}"#
        let cases: [(String, Int, ErrorName)] = [
            ("hello", 3, .invalidRequest), (list, 3, .invalidKey), (list, 16, .io),
        ]
        for (samples, byteCount, name) in cases {
            let request = try FilmRequest(
                [
                    "samples": .string(samples), "key": .string(String(repeating: "01", count: byteCount)),
                    "source": ["path": "/nonexistent/film"],
                ],
                pipe: PipeEnd(input: -1, output: -1))
            let error = #expect(throws: DecryptionError.self) { try subject.open(id: 1, list: .film(request)) }
            #expect(error.map { ErrorName($0) } == name)
        }
    }

    @Test("a film is unsupported by what does not know them, and the control has nothing to fail")
    func unsupported() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let record = try Self.run(try #require(Mutant.named("iv-zero")).subject(over: backend))
        #expect(record.unsupported == Self.groups.reduce(0) { $0 + $1.vectorCount })
        let mutant = try #require(Mutant.named("film-pattern-ignored"))
        #expect(KillMatrix.run([mutant], over: backend, groups: Self.groups).isComplete)
    }
}

import ByteSources
import RandomAccess
import Testing

@testable import Vectors

@Suite("objects that are tampered with")
struct TamperTargetTests {
    static let targets = TamperTarget.all

    /// The input of a subject; cases with the same input are the same.
    private struct Given: Hashable {
        var parts: [[UInt8]]
        var damagedIVByte: Int?

        init(_ content: TamperContent, of target: TamperTarget) {
            if case .playlist = target.form { parts = content.chunks.map(\.bytes) } else { parts = [content.bytes] }
            damagedIVByte = content.damagedIVByte
        }
    }

    @Test("there is one of each strategy")
    func strategies() {
        let names = Set(Self.targets.compactMap { $0.label.split { ":,".contains($0) }.first.map(String.init) })
        #expect(names == Set(Format.names + ["hls-aes128"]))
    }

    @Test("every case differs from the original and from each other, and has a name of its own", arguments: targets)
    func differ(target: TamperTarget) {
        let cases = target.cases
        var given: Set = [Given(target.original, of: target)]
        for one in cases {
            #expect(given.insert(Given(one.content, of: target)).inserted, "\(target.label): \(one.name)")
        }
        #expect(Set(cases.map(\.name)).count == cases.count)
        // What has neither header nor IV has none to damage.
        let missing: Set<TamperKind> = target.hasStart ? [] : [.header]
        #expect(Set(cases.map(\.kind)) == Set(TamperKind.allCases).subtracting(missing), "\(target.label)")
    }

    @Test("the offset that is read for a change lies in the plaintext", arguments: targets)
    func touched(target: TamperTarget) {
        for one in target.cases {
            #expect(!one.touched.isEmpty, "\(target.label): \(one.name)")
            #expect(
                one.touched.allSatisfy { (0..<target.plaintext.count).contains($0) }, "\(target.label): \(one.name)")
        }
    }

    @Test("an untouched object opens for the oracle, with the plaintext's length", arguments: targets)
    func original(target: TamperTarget) throws {
        guard case .object(let strategy, let key) = target.form else { return }
        for content in [target.original, try #require(target.other)] {
            let source = MemorySource(content.bytes)
            let oracle = Oracle(strategy: strategy, key: key)
            #expect(try oracle.plaintextByteCount(of: source) == UInt64(target.plaintext.count))
        }
    }

    @Test("of authenticated formats each byte of interest is flipped: in first, middle and last chunks, and in tags")
    func flips() throws {
        for target in Self.targets where target.isAuthenticated && target.layouts.count > 2 {
            guard case .object(let strategy, _) = target.form, strategy.padding != .pkcs7 else { continue }
            let flips = target.cases.filter { $0.kind == .flip }
            // Three chunks, of each three blocks, the tag and what else is stored, of each three bytes or as many as
            // there are; a last chunk may store more.
            let entries = target.headerFields.filter { $0.kind == .flip }.map(\.range.count)
            let indices = [0, target.layouts.count / 2, target.layouts.count - 1]
            let chosen = indices.map { target.layouts[$0].parts }
            let blocks = indices.flatMap { target.someBlocks(ofChunk: $0) }
            let counts = blocks.map(\.range.count) + chosen.joined().map(\.range.count) + entries
            #expect(flips.count == counts.reduce(0) { $0 + min(3, $1) }, "\(target.label)")
            for one in flips {
                let pairs = zip(one.content.bytes, target.original.bytes)
                #expect(pairs.reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } == 1, "\(target.label): \(one.name)")
            }
            let parts = chosen.joined().filter { !$0.range.isEmpty }.map(\.name)
            for word in ["first chunk", "middle chunk", "last chunk", "first byte", "middle byte", "last byte"] + parts
            {
                #expect(flips.contains { $0.location.contains(word) }, "\(target.label): \(word)")
            }
        }
    }

    @Test("what the oracle notices is what the facts of a format promise", arguments: targets)
    func facts(target: TamperTarget) throws {
        guard case .object(let strategy, let key) = target.form, strategy.isAuthenticated else { return }
        let original = target.original.bytes
        let (whole, wholeStrategy) = try strategy.withWholeChunks(MemorySource(original))
        let map = try ObjectMap(of: whole, strategy: wholeStrategy, key: key)
        let facts = try strategy.facts()
        let places = map.chunks.indices.flatMap { map.places(inChunk: $0) } + map.header
        for one in target.someCases {
            let what: Comment = "\(target.label): \(one.name)"
            switch one.kind {
            // Of a table, only the bytes behind it are not a part of a chunk.
            case .flip where target.table != nil:
                #expect(one.isNoticed != one.location.hasPrefix(TamperTarget.gapName), what)
            case .flip:
                let changed = zip(original, one.content.bytes).enumerated().filter { $0.element.0 != $0.element.1 }
                guard changed.count == 1, let place = places.first(where: { $0.range.contains(changed[0].offset) })
                else { continue }
                #expect(one.isNoticed == place.isBound, what)
            // Of others, the last chunk is shorter, and shows where it is out of place.
            case .swap where one.location == "chunks 0 and 1": #expect(one.isNoticed == facts.isIndexBound, what)
            case .swap, .repeat: #expect(one.isNoticed || !facts.isIndexBound, what)
            case .splice where one.location.hasPrefix("chunk"): #expect(one.isNoticed == facts.isObjectBound, what)
            case .truncate where ["before chunk 1", "before chunk \(map.chunks.count - 1)"].contains(one.location):
                #expect(one.isNoticed == facts.isEndBound, what)
            case .truncate, .extend, .splice, .header: break
            }
        }
    }

    @Test("each chunk edge is cut just before it, at it, and just behind it", arguments: targets)
    func edges(target: TamperTarget) {
        guard case .object = target.form else { return }
        let lengths = Set(target.cases.filter { $0.kind == .truncate }.map(\.content.bytes.count))
        guard target.original.chunks[0].count > 32 else { return }
        var edge = target.original.header.count
        for chunk in target.original.chunks.dropLast() {
            edge += chunk.count
            for length in [edge - 16, edge - 1, edge, edge + 1, edge + 16] {
                #expect(lengths.contains(length), "\(target.label): \(length)")
            }
        }
    }
}

extension TamperTarget {
    /// Says whether a header or an IV is there to be damaged.
    fileprivate var hasStart: Bool {
        guard case .object(let strategy, _) = form else { return true }
        return !original.header.isEmpty || strategy["iv"]?.bytes?.count ?? 0 > 0
    }
}

extension TamperTarget: CustomTestStringConvertible {
    /// The strategy.
    package var testDescription: String { label }
}

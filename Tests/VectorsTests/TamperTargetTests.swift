import ByteSources
import RandomAccess
import Testing
import Vectors

@Suite("objects that are tampered with")
struct TamperTargetTests {
    static let targets = TamperTarget.all

    /// What a subject is given, by which two cases are the same.
    private struct Given: Hashable {
        var parts: [[UInt8]]
        var damagedIVByte: Int?

        init(_ content: TamperContent, of target: TamperTarget) {
            if case .playlist = target.form { parts = content.chunks } else { parts = [content.bytes] }
            damagedIVByte = content.damagedIVByte
        }
    }

    @Test("there is one of each strategy")
    func strategies() {
        let names = Set(Self.targets.compactMap { $0.label.split(separator: " ").first.map(String.init) })
        #expect(names == Set(Strategy.names + ["hls-aes128"]))
    }

    @Test("every case differs from the original and from each other, and has a name of its own", arguments: targets)
    func differ(target: TamperTarget) {
        let cases = target.cases
        var given: Set = [Given(target.original, of: target)]
        for one in cases {
            #expect(given.insert(Given(one.content, of: target)).inserted, "\(target.label): \(one.name)")
        }
        #expect(Set(cases.map(\.name)).count == cases.count)
        #expect(Set(cases.map(\.kind)) == Set(TamperKind.allCases), "\(target.label)")
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
        for content in [target.original, target.other] {
            let source = MemorySource(content.bytes)
            let oracle = Oracle(strategy: strategy, key: key)
            #expect(try oracle.plaintextByteCount(of: source) == UInt64(target.plaintext.count))
        }
    }

    @Test("of authenticated formats each byte of interest is flipped: in first, middle and last chunks, and in tags")
    func flips() throws {
        for target in Self.targets where target.isAuthenticated {
            let flips = target.cases.filter { $0.kind == .flip }
            // Three chunks, of each three blocks and the tag, of each three bytes.
            #expect(flips.count == 36, "\(target.label)")
            for one in flips {
                let pairs = zip(one.content.bytes, target.original.bytes)
                #expect(pairs.reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } == 1, "\(target.label): \(one.name)")
            }
            for word in ["first chunk", "middle chunk", "last chunk", "tag", "first byte", "middle byte", "last byte"] {
                #expect(flips.contains { $0.location.contains(word) }, "\(target.label): \(word)")
            }
        }
    }

    @Test("each chunk edge is cut just before it, at it, and just behind it", arguments: targets)
    func edges(target: TamperTarget) {
        guard case .object = target.form else { return }
        let lengths = Set(target.cases.filter { $0.kind == .truncate }.map(\.content.bytes.count))
        var edge = target.original.header.count
        for chunk in target.original.chunks.dropLast() {
            edge += chunk.count
            for length in [edge - 16, edge - 1, edge, edge + 1, edge + 16] {
                #expect(lengths.contains(length), "\(target.label): \(length)")
            }
        }
    }
}

extension TamperTarget: CustomTestStringConvertible {
    /// The strategy.
    package var testDescription: String { label }
}

import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import Support
import Testing

@testable import Vectors

/// Numbers that follow from a seed. Source: Vigna, SplitMix64.
struct DrawnNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

/// A film of random samples.
private struct RandomFilm {
    static let key = (0..<16).map { UInt8($0 * 7 + 1) }
    var bytes: [UInt8]
    var film: OracleFilm

    init(_ scheme: String, seed: UInt64) {
        film = OracleFilm(scheme)
        var random = DrawnNumbers(state: seed)
        if scheme == "cens" || scheme == "cbcs", seed % 4 != 0 {
            (film.crypt, film.skip) =
                seed % 4 == 1 ? (1, 9) : (.random(in: 1...15, using: &random), .random(in: 0...15, using: &random))
        }
        var position = UInt64.random(in: 0...100, using: &random)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let isLong = scheme.hasPrefix("cbc") || Bool.random(using: &random)
            var iv = (0..<(isLong ? 16 : 8)).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Counters that carry through all bytes.
            if seed % 3 == 0 { iv = [UInt8](repeating: 0xFF, count: iv.count) }
            var subsamples: [OracleFilm.Subsample] = []
            let count = Int.random(in: 1...4, using: &random)
            for index in 0..<count {
                var protected = UInt64.random(in: 0...(index == 0 ? 900 : 90), using: &random)
                if scheme == "cbc1", index < count - 1 { protected = protected / 16 * 16 }
                let clear = UInt64.random(
                    in: 0...(Int.random(in: 0...9, using: &random) == 0 ? 6000 : 20), using: &random)
                subsamples.append((clear, protected))
            }
            let byteCount = subsamples.reduce(0) { $0 + $1.clear + $1.protected }
            film.samples.append(
                OracleFilm.Sample(offset: position, byteCount: byteCount, iv: iv, subsamples: subsamples))
            position += byteCount + (Bool.random(using: &random) ? 0 : 33)
        }
        bytes = (0..<Int(position)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// The oracle's plaintext of it.
    var plaintext: [UInt8] { film.plaintext(of: bytes, key: Self.key) }

    func open(_ source: any ByteSource, _ backend: String = "openssl") throws -> OpenPiece {
        try OpenPiece(
            PiecePlace(0..<source.byteCount, try ProtectedExtents(list: film.list)), of: source,
            backend: BackendRegistry.backend(named: backend), keys: .one(SecretKey(Self.key)))
    }
}

@Suite("films of Common Encryption")
struct FilmTests {
    private static let schemes = ["cenc", "cens", "cbc1", "cbcs"]

    @Test("ranges of random films are what the oracle decrypts sample by sample", arguments: schemes)
    func random(scheme: String) throws {
        for seed in 0..<120 as Range<UInt64> {
            let film = RandomFilm(scheme, seed: seed)
            let plaintext = film.plaintext
            let opened = try film.open(MemorySource(film.bytes), seed % 2 == 0 ? "openssl" : "libgcrypt")
            #expect(opened.byteCount == UInt64(plaintext.count))
            var random = DrawnNumbers(state: seed)
            for window in [Int.max, 16, 1, 100] {
                let cursor = try opened.makeCursor(windowByteCount: window)
                let whole = try cursor.read(at: 0, count: plaintext.count + 5)
                try #require(whole == plaintext, "\(scheme), film \(seed), \(film.film.crypt):\(film.film.skip)")
                for _ in 0..<60 {
                    let start = Int.random(in: 0...plaintext.count, using: &random)
                    let count = Int.random(in: 0...(Bool.random(using: &random) ? 40 : 4000), using: &random)
                    let bytes = try cursor.read(at: UInt64(start), count: count)
                    try #require(
                        bytes.elementsEqual(plaintext[start..<min(start + count, plaintext.count)]),
                        "\(scheme), film \(seed), \(film.film.crypt):\(film.film.skip), \(count) from \(start) on")
                }
            }
        }
    }

    @Test("a read fetches what it needs in one request, and two where a chain comes from far away", arguments: schemes)
    func fetches(scheme: String) throws {
        for seed in 0..<40 as Range<UInt64> {
            let film = RandomFilm(scheme, seed: seed)
            let source = RecordingSource(MemorySource(film.bytes), keepsRanges: true)
            let cursor = try film.open(source).makeCursor()
            for start in stride(from: 0, to: film.bytes.count - 8, by: 97) {
                source.record.reset()
                _ = try cursor.read(at: UInt64(start), count: 8)
                let ranges = source.record.ranges
                if scheme.hasPrefix("cen") {
                    #expect(ranges == [UInt64(start)..<UInt64(start + 8)])
                    continue
                }
                let last = try #require(ranges.last)
                #expect(last.contains(UInt64(start)) && last.upperBound <= UInt64(start + 8 + 15))
                #expect(ranges.count == 1 || scheme == "cbc1" && ranges.count == 2 && ranges[0].count == 16)
                let limit = scheme == "cbc1" ? 4096 : 15 * 16 + 32
                #expect(start - Int(last.lowerBound) <= limit)
            }
        }
    }

    @Test("the order of samples does not matter, and those that overlap are refused")
    func order() throws {
        var film = RandomFilm("cbc1", seed: 5)
        let plaintext = film.plaintext
        film.film.samples.reverse()
        let cursor = try film.open(MemorySource(film.bytes)).makeCursor()
        #expect(try cursor.read(at: 0, count: plaintext.count) == plaintext)
        film.film.samples.append(film.film.samples[0])
        #expect { try film.open(MemorySource(film.bytes)) } throws: {
            ($0 as? DecryptionError)?.protocolName == "invalidHeader"
        }
    }

    @Test("lists that are none are refused with what was expected")
    func lists() throws {
        let iv = String(repeating: "0", count: 32)
        func error(_ text: String) throws -> String {
            "\(#expect(throws: DecryptionError.self) { try ProtectedExtents(list: Array(text.utf8)) }.map { "\($0)" } ?? "")"
        }
        func samples(_ samples: String, _ scheme: String = "cenc") -> String {
            #"{"scheme": "\#(scheme)", "samples": [\#(samples)]}"#
        }
        for (text, words) in [
            ("[", "line 1"), ("{}", "scheme"), (#"{"scheme": "piff"}"#, "cenc, cens"),
            (#"{"scheme": "cenc"}"#, "a list"), (samples("1"), "sample 1"), (samples("[0, 1]"), "sample 1"),
            (samples(#"[0, 1, "00"]"#), "IV of sample 1"), (samples(#"[0, 1, ""]"#), "constantIV"),
            (samples(#"[0, 10, "\#(iv)", [[1, 10]]]"#), "subsamples of sample 1"),
            (samples(#"[0, 10, "\#(iv)", [[1, 8]]]"#), "10 bytes together"),
            (samples(#"[0, 10, "\#(iv)", [[1]]]"#), "pairs"),
            (samples(#"[18446744073709551615, 10, "\#(iv)"]"#), "sample 1"),
            (samples(#"[0, 4294967296, "\#(iv)"]"#), "2^32"),
            (samples(#"[0, 40, "\#(iv)", [[1, 8], [1, 30]]]"#, "cbc1"), "whole blocks"),
            (samples(#"[0, 40, "\#(iv.prefix(16))"]"#, "cbc1"), "32 hexadecimal digits"),
            (#"{"scheme": "cenc", "cryptBlocks": 1, "skipBlocks": 9, "samples": []}"#, "pattern 1:9"),
            (#"{"scheme": "cbcs", "skipBlocks": 9, "samples": []}"#, "pattern 0:9"),
            (#"{"scheme": "cbcs", "cryptBlocks": 16, "samples": []}"#, "pattern 16:0"),
            (#"{"scheme": "cbcs", "cryptBlocks": "1", "samples": []}"#, "number of blocks"),
        ] {
            let message = try error(text)
            #expect(message.contains(words), "\(text): \(message)")
        }
        #expect(try ProtectedExtents(list: Array(samples(#"[0, 10, "\#(iv)", [[10, 0]]]"#).utf8)).count == 0)
    }

    @Test("the oracle reads what readers read of a list, and no large numbers")
    func oracleLists() throws {
        func film(_ text: String) -> OracleFilm? { JSONValue.parse(Array(text.utf8)).flatMap { OracleFilm(list: $0) } }
        let text = #"{"samples":[[5,40,"00112233"],[45,20,"",[[4,16]]]],"scheme":"cbcs"}"#
        let found = try #require(film(text))
        #expect(found.samples.map(\.byteCount) == [40, 20] && found.samples[0].subsamples.isEmpty)
        #expect(found.samples[1].subsamples.map(\.protected) == [16] && found.crypt == 0 && found.constantIV == [])
        let limit = "9007199254740992"
        for sample in [
            "[\(limit),1,\"\"]", "[0,\(limit),\"\"]", "[0,1,\"\",[[\(limit),1]]]", "[0,1,\"\",[[1,\(limit)]]]", "[0,1]",
            "[0,1,\"\",[],0]", "[0,1,\"\",[[1]]]", "7",
        ] {
            #expect(film(#"{"scheme":"cenc","samples":[\#(sample)]}"#) == nil, "\(sample)")
        }
        for member in [#""cryptBlocks":"1""#, #""skipBlocks":9007199254740992"#, #""constantIV":"0""#] {
            #expect(film(#"{"scheme":"cenc","samples":[],\#(member)}"#) == nil, "\(member)")
        }
        // Members that may be absent are, in some of the vectors.
        let lists = FilmSet.all.filter(\.opens).compactMap { $0.film?.samples }
        for member in ["cryptBlocks", "skipBlocks", "constantIV"] {
            #expect(lists.contains { $0.contains(member) } && lists.contains { !$0.contains(member) }, "\(member)")
        }
        #expect(Set(lists.flatMap { (film($0)?.list["samples"]?.array ?? []).map { $0.array?.count } }) == [3, 4])
    }

    @Test("each film is read as a whole, and from its middle to its end, as a choice of vectors wants it")
    func halves() {
        for group in FilmSet.all.filter(\.opens) {
            let length = group.plaintext.byteCount
            for offset in [0, length / 2] {
                let isRead = group.reads.contains { $0.offset == offset && UInt64($0.count) == length - offset }
                #expect(isRead, "\(group.id), from \(offset)")
            }
        }
    }

    @Test("a sample that ends behind the file, a key of another length and no key are errors")
    func opening() throws {
        let film = RandomFilm("cbcs", seed: 9)
        let place = PiecePlace(0..<UInt64(film.bytes.count), try ProtectedExtents(list: film.film.list))
        let backend = try BackendRegistry.backend(named: "openssl")
        func name(_ bytes: [UInt8], _ key: [UInt8]?) throws -> String? {
            let place = PiecePlace(0..<UInt64(bytes.count), try ProtectedExtents(list: film.film.list))
            return #expect(throws: DecryptionError.self) {
                let keys = try key.map { KeySet.one(try SecretKey($0)) }
                return try OpenPiece(place, of: MemorySource(bytes), backend: backend, keys: keys)
            }?.protocolName
        }
        let end = try #require(film.film.samples.last.map { Int($0.offset + $0.byteCount) })
        #expect(try name(Array(film.bytes[..<(end - 1)]), RandomFilm.key) == "truncatedCiphertext")
        #expect(try name(film.bytes, [UInt8](repeating: 1, count: 32)) == "invalidKey")
        #expect(try name(film.bytes, nil) == "invalidKey")
        #expect(throws: DecryptionError.self) {
            try OpenPiece(
                place, of: MemorySource(film.bytes), backend: backend, keys: .one(SecretKey(RandomFilm.key))
            ).makeCursor(windowByteCount: 0)
        }
    }

    @Test("a film may have as many keys as a key file")
    func keys() throws {
        var builder = ProtectedExtents.Builder()
        func id(_ number: Int) -> Block { Block(bigEndianValue: UInt128(number)) }
        for number in 0..<256 { #expect(try builder.add(CommonEncryption(.cenc), keyID: id(number)) == number) }
        #expect(try builder.add(CommonEncryption(.cenc), keyID: id(255)) == 255)
        let error = #expect(throws: DecryptionError.self) {
            try builder.add(CommonEncryption(.cenc), keyID: id(256))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("more than 256 keys"))
    }

    @Test("a film of two hours opens as a list, and a sample in its middle is read")
    func long() throws {
        var builder = ProtectedExtents.Builder()
        let scheme = try builder.add(CommonEncryption(.cenc))
        let sampleCount: UInt64 = 300_000
        for number in 0..<sampleCount {
            try builder.begin(
                at: number * 6000, byteCount: 6000, iv: Block(bigEndianValue: UInt128(number) << 64), scheme: scheme)
            for _ in 0..<3 { try builder.add(clearByteCount: 100, protectedByteCount: 1900) }
            try builder.finishSample()
        }
        let extents = try builder.finish()
        #expect(extents.count == 900_000)
        let source = GeneratedSource(stream: SplitMix64Stream(seed: 1), byteCount: sampleCount * 6000)
        let film = try OpenPiece(
            PiecePlace(0..<source.byteCount, extents), of: source, backend: BackendRegistry.backend(named: "openssl"),
            keys: .one(SecretKey(RandomFilm.key)))
        let (number, count) = (sampleCount / 2 + 7, 6000)
        var ciphertext = [UInt8](repeating: 0, count: count)
        try ciphertext.withUnsafeMutableBytes { try source.fetch(at: number * 6000, into: $0) }
        var oracle = OracleFilm("cenc")
        oracle.samples = [
            OracleFilm.Sample(
                offset: 0, byteCount: 6000, iv: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) },
                subsamples: Array(repeating: (100, 1900), count: 3))
        ]
        let plaintext = oracle.plaintext(of: ciphertext, key: RandomFilm.key)
        #expect(try film.makeCursor().read(at: number * 6000 + 3333, count: 500) == Array(plaintext[3333..<3833]))
    }
}

import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import Support
import SystemPackage
import TestSupport
import Testing

@testable import Vectors

/// A box of a film in a test.
private struct TestBox {
    let kind: String
    var content: [UInt8]

    var bytes: [UInt8] { Self.number(content.count + 8) + Array(kind.utf8) + content }

    static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    /// Writes a number of four bytes.
    mutating func put(_ value: Int, at offset: Int) {
        content.replaceSubrange(offset..<offset + 4, with: Self.number(value))
    }

    /// Returns the box with a change in the boxes of a path inside of it.
    func changed(_ path: [String], _ edit: (inout TestBox) -> Void) -> TestBox {
        var box = self
        if let next = path.first {
            box.content = Self.boxes(content).flatMap { inner in
                (inner.kind == next ? inner.changed(Array(path.dropFirst()), edit) : inner).bytes
            }
        } else {
            edit(&box)
        }
        return box
    }

    static func boxes(_ bytes: [UInt8]) -> [TestBox] {
        var (boxes, position): ([TestBox], Int) = ([], 0)
        while position < bytes.count {
            let count = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let kind = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
            boxes.append(TestBox(kind: kind, content: Array(bytes[position + 8..<position + count])))
            position += count
        }
        return boxes
    }
}

@Suite("films by their boxes")
struct FilmReaderTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../data/interop/cenc").standardized.path
    private static let key = [UInt8](repeating: 9, count: 16)

    private static func object(_ name: String) throws -> InteropObject {
        try #require(InteropIndex(folder: folder).objects.first { $0.name == name })
    }

    private static func film(_ name: String) throws -> [UInt8] { try object(name).ciphertext }

    /// Opens a film and reads all of it.
    private static func read(
        _ bytes: [UInt8], key: SecretKey? = nil, keys: KeySet? = nil, after start: FilmStart? = nil
    ) throws -> [UInt8] {
        let source = MemorySource(bytes)
        let extents = try ProtectedExtents(film: source, after: start)
        return try open(source, extents, keys ?? .one(key ?? SecretKey(Self.key))).read(at: 0, count: bytes.count)
    }

    private static func open(
        _ source: MemorySource, _ extents: ProtectedExtents, _ keys: KeySet
    ) throws -> any RandomAccessDecryptor {
        let place = PiecePlace(0..<source.byteCount, extents)
        let backend = try BackendRegistry.backend(named: "openssl")
        return try OpenPiece(place, of: source, backend: backend, keys: keys).makeCursor()
    }

    @Test("the boxes say the same as the list of samples, however a film is read")
    func real() throws {
        for object in try InteropIndex(folder: Self.folder).objects {
            #expect(object.readings.count == 2)
            let whole = try Self.read(object.ciphertext, key: object.key)
            #expect(SHAFunction.sha256.hash(whole) == object.plaintextDigest, "\(object.name)")
        }
    }

    @Test("sound and pictures in one film, with one key and patterns of their own")
    func tracks() throws {
        let (video, audio) = (try Self.object("cbcs-video.mp4"), try Self.object("cbcs-audio.mp4"))
        func film(_ video: [UInt8], _ audio: [UInt8]) throws -> [UInt8] {
            var boxes = TestBox.boxes(video)
            let other = TestBox.boxes(audio).map { box in
                switch box.kind {
                case "moov":
                    box.changed(["trak", "tkhd"]) { $0.put(2, at: 12) }.changed(["mvex", "trex"]) { $0.put(2, at: 4) }
                case "moof": box.changed(["traf", "tfhd"]) { $0.put(2, at: 4) }
                default: box
                }
            }
            let moov = try #require(other.first { $0.kind == "moov" })
            let inner = TestBox.boxes(moov.content)
            let index = try #require(boxes.firstIndex { $0.kind == "moov" })
            for kind in ["trak", "mvex"] {
                boxes[index].content += try #require(inner.first { $0.kind == kind }).bytes
            }
            // One box mvex for both.
            var all = TestBox.boxes(boxes[index].content)
            let extends = all.filter { $0.kind == "mvex" }
            all.removeAll { $0.kind == "mvex" }
            all.append(TestBox(kind: "mvex", content: extends.flatMap(\.content)))
            boxes[index].content = all.flatMap(\.bytes)
            return (boxes + other.filter { $0.kind == "moof" || $0.kind == "mdat" }).flatMap(\.bytes)
        }
        let plain = try (Self.read(video.ciphertext, key: video.key), Self.read(audio.ciphertext, key: audio.key))
        #expect(try Self.read(film(video.ciphertext, audio.ciphertext), key: video.key) == film(plain.0, plain.1))
        // Two schemes, each with a key of its own.
        let other = try Self.object("cenc-video.mp4")
        let both = try film(other.ciphertext, audio.ciphertext)
        let keys = try [(Self.keyID(of: other), other.key), (Self.keyID(of: audio), audio.key)]
        let named = KeySet.byID(Dictionary(uniqueKeysWithValues: keys))
        let plain2 = try (Self.read(other.ciphertext, key: other.key), plain.1)
        #expect(try Self.read(both, keys: named) == film(plain2.0, plain2.1))
        // Keys in the other order, with another one, or missing.
        let swapped = KeySet.byID([keys[0].0: keys[1].1, keys[1].0: keys[0].1])
        #expect(try Self.read(both, keys: swapped) != film(plain2.0, plain2.1))
        for (keys, words) in [
            (.one(audio.key), "2 key IDs (f29a1a82fd14f35517cc9b6beda9285c, 525e7e30f024e56a949881c248295308)"),
            (.byID([keys[0].0: keys[0].1]), "no key with the ID 525e7e30f024e56a949881c248295308"),
            (.byID([keys[0].0: keys[0].1, keys[1].0: try SecretKey([UInt8](repeating: 1, count: 32))]), "32 bytes"),
        ] as [(KeySet, String)] {
            let error = #expect(throws: DecryptionError.self) { try Self.read(both, keys: keys) }
            #expect(error?.protocolName == "invalidKey" && "\(error.map { "\($0)" } ?? "")".contains(words))
        }
        // A list of samples has no key IDs.
        let text = #"{"scheme": "cenc", "samples": [[0, 9, "0011223344556677"]]}"#
        let list = try ProtectedExtents(list: Array(text.utf8))
        #expect(throws: DecryptionError.self) { try Self.open(MemorySource(Self.key), list, named) }
        #expect(try Self.open(MemorySource(Self.key), list, .one(audio.key)).plaintextByteCount == 16)
    }

    @Test("segments are read behind the box moov of another file")
    func segments() throws {
        let object = try Self.object("cenc-video.mp4")
        let boxes = TestBox.boxes(object.ciphertext)
        let place = try #require(boxes.firstIndex { $0.kind == "moof" })
        let start = try FilmStart(MemorySource(boxes[..<place].flatMap(\.bytes)))
        let whole = try Self.read(object.ciphertext, key: object.key)
        let segments = boxes[place...].flatMap(\.bytes)
        #expect(try Self.read(segments, key: object.key, after: start) == whole.suffix(segments.count))
        // One moof with its mdat.
        let last = boxes.suffix(2).flatMap(\.bytes)
        #expect(last != whole.suffix(last.count))
        #expect(try Self.read(last, key: object.key, after: start) == whole.suffix(last.count))
        // A whole film has moov, too.
        let same = try FilmStart(MemorySource(object.ciphertext))
        #expect(try Self.read(last, key: object.key, after: same) == whole.suffix(last.count))
        let based = boxes.suffix(2).flatMap { box in
            (box.kind == "moof"
                ? box.changed(["traf", "tfhd"]) { tfhd in
                    tfhd.content[3] |= 1
                    tfhd.content.insert(contentsOf: [UInt8](repeating: 0, count: 8), at: 8)
                } : box).bytes
        }
        for (bytes, start, words) in [
            (last, nil, "a box moov before it"), (object.ciphertext, start, "behind that of another file"),
            (based, start, "an offset in the whole film"), (Array(last.dropLast()), start, "sample 10 of the box trun"),
        ] as [([UInt8], FilmStart?, String)] {
            let error = #expect(throws: DecryptionError.self) { try Self.read(bytes, key: object.key, after: start) }
            #expect("\(error.map { "\($0)" } ?? "")".contains(words))
        }
        #expect(throws: DecryptionError.self) { try FilmStart(MemorySource(last)) }
        // The same of a clear track.
        let clear = try FilmStart(MemorySource(Self.withoutProtection(object.ciphertext)))
        let free = Self.freeing("senc", in: based)
        #expect(try Self.read(free, after: clear) == free)
    }

    /// A film whose track says that samples without a group are clear, and whose fragments have no IVs.
    private static func withoutProtection(_ film: [UInt8]) throws -> [UInt8] {
        var film = freeing("senc", in: film)
        film[try #require(place(of: "tenc", in: film)) + 4 + 6] = 0
        return film
    }

    /// Makes all boxes of a kind free space.
    private static func freeing(_ kind: String, in film: [UInt8]) -> [UInt8] {
        var film = film
        while let place = place(of: kind, in: film) {
            film.replaceSubrange(place..<place + 4, with: Array("free".utf8))
        }
        return film
    }

    @Test("a film may have protected samples in any segment, or in none")
    func clearLead() throws {
        let clear = try Self.withoutProtection(Self.film("cenc-video.mp4"))
        #expect(try Self.read(clear) == clear)
        let object = try Self.object("cbcs-audio.mp4")
        let entry = try Self.entry(of: object, keyID: Block([UInt8](repeating: 7, count: 16)))
        let film = try Self.grouped(Self.withoutProtection(object.ciphertext), entry, run: (2, 0x10001))
        let boxes = TestBox.boxes(film)
        let place = try #require(boxes.firstIndex { $0.kind == "moof" })
        let start = try FilmStart(MemorySource(boxes[..<place].flatMap(\.bytes)))
        let others = boxes[(place + 2)...].flatMap(\.bytes)
        #expect(try Self.read(others, after: start) == others)
        // Two samples with the group, at the start of mdat.
        let (two, first) = (211 + 203, boxes[place...place + 1].flatMap(\.bytes))
        let stored = boxes[place + 1].content
        let whole = try Array(Self.read(object.ciphertext, key: object.key)[1378...])
        let read = try Self.read(first, key: object.key, after: start)
        #expect(read == first.dropLast(stored.count) + whole[..<two] + stored[two...])
        #expect(read != first)
        // Version 2 has a group of samples without one.
        let versioned = try Self.grouped(
            Self.withoutProtection(object.ciphertext), entry, run: (2, 0x10001), descriptions: [2, 0, 0, 1])
        let error = #expect(throws: DecryptionError.self) { try Self.read(Self.freeing("sbgp", in: versioned)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("version 2 of sample groups seig"))
    }

    /// The description of a group with another key than a film's, and with its IV.
    private static func entry(of object: InteropObject, keyID: Block) throws -> [UInt8] {
        let iv = try #require(place(of: "tenc", in: object.ciphertext)) + 4 + 24
        return [0, 0, 1, 0] + keyID.bytes + [16] + object.ciphertext[iv + 1..<iv + 17]
    }

    @Test("the pieces of a document read their init file once, and keys with IDs are for films alone")
    func pieces() throws {
        let object = try Self.object("cenc-video.mp4")
        let boxes = TestBox.boxes(object.ciphertext)
        let place = try #require(boxes.firstIndex { $0.kind == "moof" })
        let folder = try TemporaryFolder()
        let start = try folder.file("init.mp4", boxes[..<place].flatMap(\.bytes))
        let segment = boxes.suffix(2).flatMap(\.bytes)
        try folder.file("1.m4s", segment)
        let film = "{file: 1.m4s, strategy: film, init: init.mp4}"
        let other = "{file: 1.m4s, strategy: ctr, iv: \(String(repeating: "0", count: 32))}"
        let missing = other.replacing("1.m4s", with: "none")
        let document = try folder.file("all.yml", "pieces: [\(film), \(film), \(other), \(missing)]")
        func open() throws -> PieceFile {
            try PieceFile(
                path: FilePath(document), key: .byID([Self.keyID(of: object): object.key]),
                strategy: { (text, iv) throws(DecryptionError) in
                    try Strategy(text, iv.map { ["iv": .bytes($0)] } ?? [:])
                },
                readKey: { (path, _) throws(DecryptionError) in throw .unsupported("the key file \(path)") })
        }
        let list = try open()
        for piece in 0..<2 {
            #expect(try list.place(of: piece, in: list.openSource(list.source(of: piece))).extents != nil)
            try? FileManager.default.removeItem(atPath: start)
        }
        let all = CompositeObject(list, backend: try BackendRegistry.backend(named: "openssl"))
        let clear = try Array(Self.read(object.ciphertext, key: object.key).suffix(segment.count))
        #expect(try all.makeCursor().read(at: 0, count: 2 * segment.count) == clear + clear)
        // The keys of a missing file are wrong as well, and that comes first.
        let errors = all.problems.map(\.error)
        #expect(errors.count == 2)
        for error in errors {
            #expect(error.protocolName == "invalidKey")
            #expect("\(error)".hasSuffix("keys with IDs: expected a key file with one key, for ctr"), "\(error)")
        }
        // One that cannot be read is not read again, even if it could be now.
        let again = try open()
        func message(ofPiece piece: Int) throws -> String {
            let source = try again.openSource(again.source(of: piece))
            let error = #expect(throws: DecryptionError.self) { try again.place(of: piece, in: source) }
            return error.map { "\($0)" } ?? ""
        }
        let first = try message(ofPiece: 0)
        try folder.file("init.mp4", boxes[..<place].flatMap(\.bytes))
        #expect(try message(ofPiece: 1) == first && first.contains("init.mp4"), "\(first)")
    }

    /// A film in two of whose samples a group `seig` counts: a box sgpd with one entry, in moov or in the first moof.
    private static func grouped(
        _ film: [UInt8], _ entry: [UInt8], run: (count: Int, group: Int) = (2, 1),
        descriptions: [UInt8] = [1, 0, 0, 0], count: Int = 1
    ) -> [UInt8] {
        let groups = TestBox(
            kind: "sgpd",
            content: descriptions + Array("seig".utf8) + TestBox.number(entry.count) + TestBox.number(count) + entry)
        let isInFragment = run.group > 0x10000
        var boxes = TestBox.boxes(film)
        for (index, box) in boxes.enumerated() where box.kind == "moov" && !isInFragment {
            boxes[index] = box.changed(["trak", "mdia", "minf", "stbl"]) { $0.content += groups.bytes }
        }
        guard let place = boxes.firstIndex(where: { $0.kind == "moof" }) else { return [] }
        boxes[place] = boxes[place].changed(["traf", "sbgp"]) { box in
            box.content = [0, 0, 0, 0] + Array("seig".utf8)
            box.content += [1, run.count, run.group].flatMap(TestBox.number)
        }
        if isInFragment {
            boxes[place] = boxes[place].changed(["traf"]) { $0.content += groups.bytes }
                .changed(["traf", "trun"]) { $0.put(0x148 + groups.bytes.count, at: 8) }
        }
        return boxes.flatMap(\.bytes)
    }

    @Test("samples of a group have its key, or none", arguments: [1, 0x10001])
    func groups(group: Int) throws {
        let object = try Self.object("cbcs-audio.mp4")
        // The first mdat, and in it the first two samples.
        let byteCount = object.ciphertext.count - 1378
        let two = 211 + 203
        let stored = Array(object.ciphertext.suffix(byteCount))
        let usual = try Array(Self.read(object.ciphertext, key: object.key).suffix(byteCount))
        let (id, otherID) = (try Self.keyID(of: object), try Block([UInt8](repeating: 7, count: 16)))
        let otherKey = try SecretKey(Self.key)
        let other = try Array(Self.read(object.ciphertext, key: otherKey).suffix(byteCount))
        let entry = try Self.entry(of: object, keyID: otherID)
        let film = Self.grouped(object.ciphertext, entry, run: (2, group))
        let keys = KeySet.byID([id: object.key, otherID: otherKey])
        #expect(try Self.read(film, keys: keys).suffix(byteCount) == other[..<two] + usual[two...])
        #expect(throws: DecryptionError.self) { try Self.read(film, key: object.key) }
        let clear = Self.grouped(object.ciphertext, [UInt8](repeating: 0, count: 20), run: (2, group))
        #expect(try Self.read(clear, key: object.key).suffix(byteCount) == stored[..<two] + usual[two...])
        // A group of no number, which is no group.
        let none = Self.grouped(object.ciphertext, entry, run: (2, 0))
        #expect(try Self.read(none, key: object.key).suffix(byteCount) == usual[...])
        for (film, words) in [
            (Self.grouped(object.ciphertext, entry, run: (2, group + 1)), "one of 1 groups, not \(group + 1)"),
            (Self.grouped(object.ciphertext, entry, run: (46, group)), "at most as many samples"),
            (Self.grouped(object.ciphertext, entry, run: (2, group), descriptions: [2, 0, 0, 0]), "version 2"),
            (Self.grouped(object.ciphertext, entry, run: (2, group), count: 2), "37 bytes from offset"),
            (Self.grouped(object.ciphertext, entry, run: (2, group), count: 1 << 30), "sample groups: expected"),
            (Self.grouped(object.ciphertext, [0, 0, 2, 0] + entry[4...], run: (2, group)), "the protection 2"),
            (Self.grouped(object.ciphertext, Array(entry[..<19]), run: (2, group)), "16 bytes from offset"),
            (Self.grouped(object.ciphertext, entry + [0], run: (2, group)), "1 bytes less"),
        ] {
            let error = #expect(throws: DecryptionError.self) { try Self.read(film, keys: keys) }
            #expect("\(error.map { "\($0)" } ?? "")".contains(words), "\(words): \(error.map { "\($0)" } ?? "")")
        }
    }

    /// The default key ID of a film.
    private static func keyID(of object: InteropObject) throws -> Block {
        let place = try #require(Self.place(of: "tenc", in: object.ciphertext)) + 12
        return try Block(Array(object.ciphertext[place..<place + 16]))
    }

    /// The first byte of the name of a box.
    private static func place(of kind: String, in bytes: [UInt8]) -> Int? {
        let name = Array(kind.utf8)
        return bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual(name) }
    }

    private struct ObjectError: CustomTestStringConvertible {
        var testDescription: String { "\(box)+\(offset)" }
        /// The box whose bytes are replaced from an offset behind its name on.
        let box: String
        let offset: Int
        let bytes: [UInt8]
        let name: String
        let words: String

        init(_ box: String, _ offset: Int, _ bytes: [UInt8], _ name: String, _ words: String) {
            (self.box, self.offset, self.bytes, self.name, self.words) = (box, offset, bytes, name, words)
        }
    }

    private static let max: [UInt8] = [255, 255, 255, 255]
    private static let refusals = [
        ObjectError("senc", -4, Array("free".utf8), "unsupported", "without a box senc"),
        ObjectError("senc", 0, [1], "unsupported", "version 1 with flags 2"),
        ObjectError("senc", 3, [3], "unsupported", "version 0 with flags 3"),
        ObjectError("senc", 4, max, "invalidHeader", "as many samples"),
        ObjectError("senc", 4, [0, 0, 0, 9], "invalidHeader", "as many samples"),
        ObjectError("senc", 16, [255, 255], "invalidHeader", "box senc at offset 1336"),
        ObjectError("senc", 16, [0, 0], "unsupported", "no subsamples"),
        ObjectError("senc", 18, [0, 0], "invalidHeader", "offset 1336 with subsamples of sample 1"),
        ObjectError("senc", 20, max, "invalidHeader", "subsamples of sample 1"),
        ObjectError("schm", 4, Array("piff".utf8), "unsupported", "the scheme piff"),
        ObjectError("schm", -4, Array("free".utf8), "invalidHeader", "a box schm"),
        ObjectError("tenc", 5, [0x19], "unsupported", "a pattern in version 0"),
        ObjectError("tenc", 0, [2], "unsupported", "version 2"),
        ObjectError("tenc", 6, [0], "invalidHeader", "no protected bytes of a clear sample"),
        ObjectError("tenc", 6, [2], "unsupported", "the protection 2"),
        ObjectError("tenc", 7, [9], "unsupported", "an IV of 9 bytes"),
        ObjectError("tenc", 7, [0], "invalidHeader", "box tenc"),
        ObjectError("saiz", -4, Array("sgpd".utf8) + [0, 0, 0, 0] + Array("seig".utf8), "unsupported", "seig"),
        ObjectError("stco", -4, Array("sgpd".utf8) + [0, 0, 0, 0] + Array("seig".utf8), "unsupported", "seig"),
        ObjectError("saiz", -4, Array("csgp".utf8) + [0, 0, 0, 0] + Array("seig".utf8), "unsupported", "compact"),
        ObjectError("stco", -4, Array("csgp".utf8) + [0, 0, 0, 0] + Array("seig".utf8), "unsupported", "compact"),
        ObjectError("stsz", 11, [1], "unsupported", "expected a fragmented file"),
        ObjectError("stsd", 4, max, "unsupported", "4294967295 sample entries"),
        ObjectError("stsd", 7, [2], "invalidHeader", "2 sample entries, which are 1"),
        ObjectError("encv", -4, Array("encs".utf8), "unsupported", "a sample entry"),
        ObjectError("encv", -4, Array("avc1".utf8), "unsupported", "without a protected track"),
        ObjectError("tfhd", 4, [0, 0, 0, 9], "invalidHeader", "a track of moov, not 9"),
        ObjectError("tfhd", 8, [0, 0, 0, 2], "invalidHeader", "sample entries, not 2"),
        ObjectError("tfhd", 8, [0, 0, 0, 0], "invalidHeader", "sample entries, not 0"),
        ObjectError("trun", 4, max, "invalidHeader", "4294967295 samples"),
        ObjectError("trun", 1, [1], "unsupported", "box trun"),
        ObjectError("trun", 8, [0x7F, 255, 255, 255], "truncatedCiphertext", "sample 1 of the box trun"),
        ObjectError("trun", 8, [0x80, 0, 0, 0], "invalidHeader", "an offset within the file"),
        ObjectError("trun", 12, max, "truncatedCiphertext", "4294967295 from offset 1580 on"),
        ObjectError("moov", -4, Array("free".utf8), "invalidHeader", "a box moov before it"),
        ObjectError("moov", -8, max, "truncatedCiphertext", "4294967295 from offset 40"),
        ObjectError("moof", -8, [0, 0, 0, 7], "invalidHeader", "a box at offset 1077"),
        ObjectError("mdia", -8, max, "invalidHeader", "a box at offset 404"),
        ObjectError("mdia", -8, [0, 0, 0, 0], "invalidHeader", "a box at offset 404"),
        ObjectError("tkhd", 0, [2], "unsupported", "version 2"),
    ]

    @Test("what is not known, and what cannot be, is refused with its box", arguments: refusals)
    private func refused(_ refusal: ObjectError) throws {
        var bytes = try Self.film("cenc-video.mp4")
        let place = try #require(Self.place(of: refusal.box, in: bytes)) + 4 + refusal.offset
        bytes.replaceSubrange(place..<place + refusal.bytes.count, with: refusal.bytes)
        let error = #expect(throws: DecryptionError.self) { try Self.read(bytes) }
        let message = error.map { "\($0)" } ?? ""
        #expect(error?.protocolName == refusal.name && message.contains(refusal.words), "\(message)")
    }

    @Test("samples of no bytes are counted, and cannot keep a reader busy for ever")
    func emptySamples() throws {
        // cbcs-audio's trun has lengths; without them, and with the length 0 for all, it may have any number of samples.
        var bytes = try Self.film("cbcs-audio.mp4")
        let trun = try #require(Self.place(of: "trun", in: bytes))
        bytes[trun + 6] = 0
        let count = bytes[trun - 4..<trun].reduce(0) { $0 << 8 | Int($1) }
        // The rest becomes a box of its own.
        bytes.replaceSubrange(trun - 4..<trun, with: TestBox.number(20))
        bytes.replaceSubrange(trun + 16..<trun + 20, with: TestBox.number(count - 20))
        bytes.replaceSubrange(trun + 20..<trun + 24, with: Array("free".utf8))
        bytes.replaceSubrange(trun + 8..<trun + 12, with: Self.max)
        let error = #expect(throws: DecryptionError.self) { try Self.read(bytes) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("more than"))
    }

    @Test("a film that is cut anywhere is refused, or read as far as it goes")
    func cut() throws {
        let bytes = try Self.film("cbcs-video.mp4")
        let ends = TestBox.boxes(bytes).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.bytes.count) }
        for count in 0..<bytes.count {
            do {
                let read = try Self.read(Array(bytes[..<count]))
                #expect(read.count == count && ends.contains(count), "\(count) bytes")
            } catch let error as DecryptionError {
                let names = ["truncatedCiphertext", "invalidHeader", "unsupported"]
                #expect(names.contains(error.protocolName), "\(count) bytes: \(error)")
            }
        }
    }

    @Test(
        "a film with changed bytes is refused, or read with its length",
        arguments: ["cenc-video.mp4", "cbcs-video.mp4", "cbc1-video.mp4"])
    func changed(name: String) throws {
        let bytes = try Self.film(name)
        var random = DrawnNumbers(state: 3)
        // What the boxes have, and not what is in mdat.
        var places: [Int] = []
        var position = 0
        for box in TestBox.boxes(bytes) {
            places += position..<position + (box.kind == "mdat" ? 8 : box.bytes.count)
            position += box.bytes.count
        }
        var refusedCount = 0
        for _ in 0..<3000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                guard let place = places.randomElement(using: &random) else { continue }
                changed[place] =
                    Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random)
                    : changed[place] ^ UInt8(1) << UInt8.random(in: 0...7, using: &random)
            }
            do {
                #expect(try Self.read(changed).count == bytes.count)
            } catch let error as DecryptionError {
                refusedCount += 1
                let names = ["truncatedCiphertext", "invalidHeader", "unsupported"]
                #expect(names.contains(error.protocolName), "\(error)")
            }
        }
        #expect(refusedCount > 700 && refusedCount < 3000)
    }
}

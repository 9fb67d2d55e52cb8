import ByteSources
import Foundation
import HLS
import OpenSSLBackend
import RandomAccess
import Support
import TestSupport
import Testing

@Suite("byte ranges that are no ciphertext of their own")
struct ByteRangeReadingTests {
    private static let iv: UInt128 = 0xF0E1_D2C3_B4A5_9687_7869_5A4B_3C2D_1E0F

    private static func playlist(_ lines: [String]) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:10"] + lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    private static func keyTag(_ attributes: String = ",IV=0xF0E1D2C3B4A5968778695A4B3C2D1E0F") -> String {
        "#EXT-X-KEY:METHOD=AES-128,URI=\"7\"" + attributes
    }

    private static func segment(_ range: Range<Int>, _ uri: String = "a") -> [String] {
        ["#EXTINF:1,", "#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)", uri]
    }

    private static func iFrames(_ ranges: [Range<Int>], key: String = keyTag()) -> String {
        playlist(["#EXT-X-I-FRAMES-ONLY", key] + ranges.flatMap { segment($0) })
    }

    /// Made with the Python library `cryptography`: key 00…0f, 160 bytes, of which number 95 is 01.
    @Test("an I-frame in the middle of a chain has the block before it as IV, and keeps what looks like padding")
    func knownAnswer() throws {
        let ciphertext = try #require(
            Hexadecimal.decode(
                """
                6bdefa3e86695d073da8bcc75cb58a9fdf41dd6b4b5832ee674dc9dc66d9b8bfba94f62be1802eef5fd054972849a6df\
                e8098e82fd89bdba8593efa7ed89f2554d1321af1aa47d45defb6c05e4271d6ba1d40f6afceebc76df91492f706b8b2c\
                f50e3b19b9f40d83fe30a168bf2c7dee91b7611590a12a7a7cf5ca2c976fb8dca5bdd47bec685942b1b81b4cefb56fc0\
                c3cc818db9a09ef4811e3e6aa20485a7216776ad0b4bac323d87d023eb1c9265
                """))
        let expected = Hexadecimal.decode(
            "5e656c737a81888f969da4abb2b9c0c7ced5dce3eaf1f8040b121920272e353c434a51585f666d747b828990979ea501")
        let object = try open(
            ["a": ciphertext], Self.iFrames([48..<96]), keys: HandlerKeys { _ in try SecretKey(Array(0...15)) })
        try object.requireAll()
        #expect(try object.makeCursor().read(at: 0, count: 100) == expected)
    }

    @Test("every range of a resource is that range of its plaintext, up to its padding", arguments: [63, 64, 70])
    func everyRange(count: Int) throws {
        let plain = Samples.bytes(count)
        let ciphertext = try encryptedSegment(plain, key: 7, iv: Self.iv)
        let ranges = (0..<count).flatMap { start in (start...ciphertext.count).map { start..<$0 } }
        let object = try open(["a": ciphertext], Self.iFrames(ranges))
        try object.requireAll()
        let wanted = ranges.map { plain[$0.clamped(to: 0..<count)] }
        #expect(try object.makeCursor().read(at: 0, count: 1 << 20) == wanted.flatMap { $0 })
        // Alone, and in pieces.
        let cursor = try object.makeCursor(windowByteCount: 16)
        for (index, bytes) in wanted.enumerated() where !bytes.isEmpty {
            let place = object.plaintextRange(ofSegment: index)
            #expect(place.count == bytes.count)
            let middle = bytes.count / 2
            #expect(
                try cursor.read(at: place.lowerBound + UInt64(middle), count: 1) == [bytes[bytes.startIndex + middle]])
        }
    }

    @Test("what is fetched of an I-frame is its blocks and the one before, and the resource's end only if it is there")
    func fetches() throws {
        let ciphertext = try encryptedSegment(Samples.bytes(1000), key: 7, iv: Self.iv)
        let resources = RecordedResources(["a": ciphertext])
        let object = try open([:], Self.iFrames([100..<200]), from: resources)
        #expect(resources.fetched.isEmpty)
        _ = try object.makeCursor().read(at: 0, count: 100)
        #expect(resources.fetched == ["a": [80..<208]])
    }

    @Test("a resource that is cut, or whose end does not unpad, fails where its end is read, and nowhere else")
    func ends() throws {
        let ciphertext = try encryptedSegment(Samples.bytes(100), key: 7, iv: Self.iv)
        for (bytes, name) in [
            (Array(ciphertext.dropLast()), "truncatedCiphertext"), (Array(ciphertext.dropLast(16)), "invalidPadding"),
        ] {
            let object = try open(["a": bytes], Self.iFrames([10..<60, 90..<96, 90..<999]))
            #expect(object.problems.map(\.error.protocolName) == [name, "truncatedCiphertext"])
            #expect(try object.makeCursor().read(at: 0, count: 50) == Array(Samples.bytes(100)[10..<60]))
        }
    }

    @Test("whole resources of an I-frame playlist are segments like any other, and so are sections of other resources")
    func wholeResources() throws {
        let (head, first, second) = (Samples.bytes(30, seed: 2), Samples.bytes(40), Samples.bytes(50, seed: 3))
        let resources = [
            "a": try encryptedSegment(first, key: 7, iv: Self.iv),
            "b": try encryptedSegment(second, key: 7, iv: Self.iv),
            "h": try encryptedSegment(head, key: 7, iv: Self.iv),
        ]
        let text = Self.playlist(
            ["#EXT-X-I-FRAMES-ONLY", Self.keyTag(), "#EXT-X-MAP:URI=\"h\",BYTERANGE=\"32@0\"", "#EXTINF:1,", "a"]
                + Self.segment(20..<40, "b"))
        let object = try open(resources, text)
        #expect(try object.makeCursor().read(at: 0, count: 999) == head + first + second[20..<40])
        // A section of the same resource is a part of the same chain.
        let other = try open(resources, text.replacing("\"h\",BYTERANGE=\"32@0\"", with: "\"b\",BYTERANGE=\"20@0\""))
        #expect(try other.makeCursor().read(at: 0, count: 999) == Array(second[..<20] + first + second[20..<40]))
    }

    @Test("where sequence numbers are IVs, they are those of segments that are alone in their resources")
    func sequenceNumbers() throws {
        let (a, b) = (Samples.bytes(40), Samples.bytes(50, seed: 3))
        let resources = ["a": try encryptedSegment(a, key: 7, iv: 9), "b": try encryptedSegment(b, key: 7, iv: 10)]
        let start = ["#EXT-X-I-FRAMES-ONLY", "#EXT-X-MEDIA-SEQUENCE:9", Self.keyTag("")]
        let alone = try open(resources, Self.playlist(start + Self.segment(0..<20) + Self.segment(3..<44, "b")))
        try alone.requireAll()
        #expect(try alone.makeCursor().read(at: 0, count: 99) == Array(a[..<20] + b[3..<44]))
        // The third has number 11, with which nothing is encrypted.
        let shared = Self.playlist(
            start + Self.segment(0..<20) + Self.segment(20..<40) + Self.segment(3..<44, "b")
                + Self.segment(16..<20, "b"))
        let object = try open(resources, shared)
        #expect(object.playlist.segments.map(\.problem?.kind) == [.missingIV, nil, .missingIV, nil])
        #expect(object.playlist.problems.count == 1)
        #expect(object.problems.allSatisfy { $0.error.protocolName == "invalidRequest" })
        #expect(object.playlist.reading(ByteRangeReadings(segments: .ciphertext)).problems.isEmpty)
        // Nor has the start of a resource of its own, behind one that has several, its resource's number.
        let behind = Self.playlist(
            start + Self.segment(0..<20) + Self.segment(20..<40) + Self.segment(0..<44, "b")
                + Self.segment(16..<20, "c"))
        #expect(try mediaPlaylist(behind).segments.map(\.problem?.kind) == [.missingIV, nil, .missingIV, nil])
    }

    @Test("a section or segment whose length leaves out the padding is refused with the option that reads it")
    func plaintextLengths() throws {
        let (head, first, second) = (Samples.bytes(812, seed: 2), Samples.bytes(1000), Samples.bytes(2048, seed: 3))
        let parts = try [head, first, second].map { try encryptedSegment($0, key: 7, iv: Self.iv) }
        let resources = ["a": parts[0] + parts[1] + parts[2]]
        func text(_ headCount: Int, _ firstCount: Int, _ secondCount: Int) -> String {
            Self.playlist(
                [Self.keyTag(), "#EXT-X-MAP:URI=\"a\",BYTERANGE=\"\(headCount)@0\""]
                    + Self.segment(816..<816 + firstCount) + Self.segment(1824..<1824 + secondCount))
        }
        let plain = head + first + second
        func read(_ text: String, _ readings: ByteRangeReadings) throws -> [UInt8] {
            let object = try HLSObject(
                playlist: try mediaPlaylist(text).reading(readings), resources: MemoryResources(resources),
                keys: KeyRing(CountingKeys()), backend: OpenSSL())
            try object.requireAll()
            return try object.makeCursor().read(at: 0, count: 9999)
        }
        #expect(try read(text(812, 1008, 2064), ByteRangeReadings(sections: .plaintext)) == plain)
        #expect(try read(text(816, 1000, 2048), ByteRangeReadings(segments: .plaintext)) == plain)
        #expect(try read(text(812, 1000, 2048), ByteRangeReadings(segments: .plaintext, sections: .plaintext)) == plain)
        for (text, option) in [(text(812, 1008, 2064), "--map-ranges"), (text(816, 1000, 2064), "--segment-ranges")] {
            #expect {
                try read(text, ByteRangeReadings())
            } throws: {
                "\($0)".contains("multiple of 16, as CBC makes") && "\($0)".contains("\(option) plaintext reads it")
                    && ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext"
            }
        }
        // Whole blocks, and no padding behind them.
        #expect {
            try read(text(816, 1008, 2048), ByteRangeReadings())
        } throws: {
            "\($0)".contains("--segment-ranges") && ($0 as? DecryptionError)?.protocolName == "invalidPadding"
        }
        // A length that is the ciphertext's is no plaintext's, and says so.
        #expect(throws: DecryptionError.self) {
            try read(text(816, 1000, 2048), ByteRangeReadings(sections: .plaintext))
        }
    }

    @Test("segments of a resource that is one chain can be read as such")
    func chains() throws {
        let plain = Samples.bytes(500)
        let ciphertext = try encryptedSegment(plain, key: 7, iv: Self.iv)
        let text = Self.playlist(
            [Self.keyTag()] + Self.segment(0..<100) + Self.segment(100..<333) + Self.segment(333..<500))
        let playlist = try mediaPlaylist(text)
        func object(_ playlist: MediaPlaylist) throws -> HLSObject {
            try HLSObject(
                playlist: playlist, resources: MemoryResources(["a": ciphertext]), keys: KeyRing(CountingKeys()),
                backend: OpenSSL())
        }
        let chain = try object(playlist.reading(ByteRangeReadings(segments: .chain)))
        try chain.requireAll()
        #expect(try chain.makeCursor().read(at: 0, count: 999) == plain)
        #expect(try object(playlist).problems.count == 3)
    }
}

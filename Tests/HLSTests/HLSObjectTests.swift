import ByteSources
import Glibc
import HLS
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("segments as one plaintext")
struct HLSObjectTests {
    /// A playlist by hand: sequence numbers, an attribute, a second key, a stretch in the clear, an empty segment, byte
    /// ranges in one file with and without offsets, an encrypted and a plain section.
    private struct ByHand {
        var resources: [String: [UInt8]] = [:]
        var plain: [UInt8] = []
        var text = ""

        init() throws {
            let parts = (0..<10).map { Samples.bytes([33, 16, 1, 0, 47, 5, 20, 32, 15, 31][$0], seed: UInt64($0 + 1)) }
            let iv: UInt128 = 0xFEDC_BA98_7654_3210_0123_4567_89AB_CDEF
            resources["a"] = try encryptedSegment(parts[0], key: 1, iv: 1 << 40)
            resources["b"] = try encryptedSegment(parts[1], key: 1, iv: 1 << 40 + 1)
            resources["c"] = try encryptedSegment(parts[2], key: 2, iv: iv)
            resources["d"] = try encryptedSegment(parts[3], key: 2, iv: iv)
            resources["e"] = parts[4]
            resources["init"] = [9, 9, 9] + (try encryptedSegment(parts[5], key: 3, iv: 77)) + [9]
            let ranges = try [parts[6], parts[7], parts[8]].enumerated().map { index, part in
                try encryptedSegment(part, key: 3, iv: 1 << 40 + 5 + UInt128(index))
            }
            resources["all"] = Array("before".utf8) + ranges[0] + ranges[1] + [1, 2, 3] + ranges[2]
            resources["f"] = parts[9]
            plain = parts.flatMap { $0 }
            text = """
                #EXTM3U
                #EXT-X-MEDIA-SEQUENCE:\(1 << 40)
                #EXT-X-KEY:METHOD=AES-128,URI="1"
                #EXTINF:1,
                a
                #EXTINF:1,
                b
                #EXT-X-KEY:METHOD=AES-128,URI="2",IV=0xFEDCBA98765432100123456789ABCDEF
                #EXTINF:1,
                c
                #EXTINF:1,
                d
                #EXT-X-KEY:METHOD=NONE
                #EXTINF:1,
                e
                #EXT-X-KEY:METHOD=AES-128,URI="3",IV=0x0000000000000000000000000000004D
                #EXT-X-MAP:URI="init",BYTERANGE="16@3"
                #EXT-X-KEY:METHOD=AES-128,URI="3"
                #EXTINF:1,
                #EXT-X-BYTERANGE:32@6
                all
                #EXTINF:1,
                #EXT-X-BYTERANGE:48
                all
                #EXTINF:1,
                #EXT-X-MAP:URI="init",BYTERANGE="16@3"
                #EXT-X-BYTERANGE:16@89
                all
                #EXT-X-KEY:METHOD=NONE
                #EXTINF:1,
                f
                """
        }
    }

    @Test("every range of a playlist by hand is what the parts are, one behind the other")
    func exhaustive() throws {
        let byHand = try ByHand()
        let text = byHand.text.replacing("#EXTINF:1,\n#EXT-X-MAP", with: "#EXTINF:1,\n#EXT-X-UNUSED")
        let object = try open(byHand.resources, text)
        try object.requireAll()
        try expectEveryRange(of: object, is: byHand.plain)
    }

    @Test("the same section again is not there twice, and one without an IV takes buffer that cannot be read")
    func sectionAgain() throws {
        let byHand = try ByHand()
        // The section before was good, and this one says the same bytes, but its key has no IV.
        let object = try open(byHand.resources, byHand.text)
        #expect(object.playlist.problems.map(\.kind) == [.missingIV])
        #expect(object.plaintextByteCount == UInt64(byHand.plain.count))
        try object.requireAll()
        let other = try open(
            byHand.resources,
            byHand.text.replacing("BYTERANGE=\"16@3\"\n#EXT-X-BYTERANGE", with: "BYTERANGE=\"16@2\"\n#EXT-X-BYTERANGE"))
        #expect(other.problems.count == 1)
        #expect(other.plaintextByteCount == UInt64(byHand.plain.count) + 1)
    }

    /// Reads all ranges of a small object with one cursor.
    private func expectEveryRange(of object: HLSObject, is plain: [UInt8]) throws {
        #expect(object.plaintextByteCount == UInt64(plain.count))
        let cursor = try object.makeCursor()
        for start in 0...plain.count {
            for count in 0...plain.count - start + 1 {
                let expected = plain[start..<min(plain.count, start + count)]
                let bytes = try cursor.read(at: UInt64(start), count: count)
                if !bytes.elementsEqual(expected) {
                    Issue.record("\(count) bytes from \(start) on: \(Samples.difference(bytes, Array(expected)) ?? "")")
                    return
                }
            }
        }
        #expect(
            throws: DecryptionError.rangeOutOfBounds(
                offset: UInt64(plain.count) + 1, plaintextByteCount: UInt64(plain.count))
        ) {
            try cursor.read(at: UInt64(plain.count) + 1, count: 0)
        }
    }

    static let options: [HLSOptions] = {
        var all: [HLSOptions] = []
        for arrangement in [.files, .byteRanges(allOffsets: true), .byteRanges(allOffsets: false)]
            as [HLSOptions.Arrangement]
        {
            for rule in SegmentIVRule.allCases {
                for clear in [[], [0], [1, 2]] as [Set<Int>] {
                    for section in [0, 21] as [UInt64] {
                        all.append(
                            HLSOptions(
                                segmentByteCounts: [17, 32, 1, 15], segmentsPerKey: 2, ivRule: rule,
                                mediaSequence: .max - 20, arrangement: arrangement, clearSegments: clear,
                                initializationByteCount: section, keyURIPrefix: "mykey://film/"))
                    }
                }
            }
        }
        return all
    }()

    @Test("what the encryptor makes reads as the plain file, in every range", arguments: options)
    func encryptor(_ options: HLSOptions) throws {
        let plain = Samples.bytes(150)
        let resources = try encrypted(plain, options)
        let object = try open(resources)
        #expect(object.playlist.problems.isEmpty)
        try object.requireAll()
        try expectEveryRange(of: object, is: plain)
    }

    @Test(
        "plain files of every length up to three segments", arguments: [0, 1, 15, 16, 17, 31, 32, 33, 48, 95, 96, 97])
    func lengths(_ count: Int) throws {
        let plain = Samples.bytes(count)
        let object = try open(try encrypted(plain, HLSOptions(segmentByteCounts: [32], ivRule: .sequenceNumber)))
        #expect(object.playlist.segments.count == max(1, (count + 31) / 32))
        try expectEveryRange(of: object, is: plain)
    }

    @Test("a window changes nothing", arguments: [1, 16, 17, 64])
    func windows(_ windowByteCount: Int) throws {
        let plain = Samples.bytes(1000)
        let object = try open(try encrypted(plain, HLSOptions(segmentByteCounts: [301])))
        let cursor = try object.makeCursor(windowByteCount: windowByteCount)
        #expect(try cursor.read(at: 3, count: 2000) == Array(plain[3...]))
    }

    @Test("a read fetches the blocks that cover it and the one before, in each segment, and nothing at its padding")
    func fetches() throws {
        let plain = Samples.bytes(400)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [100]))
        let resources = RecordedResources(stored)
        let object = try open(stored, from: resources)
        // Opening: the last two blocks of each.
        #expect(resources.fetched.count == 4)
        #expect(resources.fetched.values.allSatisfy { $0 == [80..<112] })
        let cursor = try object.makeCursor()
        for start in stride(from: 0, to: 400, by: 7) {
            for count in [1, 16, 40, 130] {
                resources.reset()
                let bytes = try cursor.read(at: UInt64(start), count: count)
                #expect(bytes == Array(plain[start..<min(400, start + count)]))
                for (name, ranges) in resources.fetched {
                    let segment = (name.first(where: \.isNumber)?.wholeNumberValue ?? 0) * 100
                    let (low, high) = (max(start, segment) - segment, min(start + count, segment + 100) - segment)
                    #expect(low < high)
                    let fetched = ranges.reduce(0) { $0 + $1.count }
                    let cover = (high + 15) / 16 * 16 - low / 16 * 16
                    #expect(fetched <= cover + 16)
                    #expect(ranges.allSatisfy { $0.lowerBound + 16 >= UInt64(low / 16 * 16) })
                    #expect(ranges.allSatisfy { $0.upperBound <= UInt64((high + 15) / 16 * 16) })
                }
            }
        }
    }

    @Test("keys are asked for once, whatever is read")
    func keysOnce() throws {
        let keys = CountingKeys()
        let options = HLSOptions(segmentByteCounts: [10], segmentsPerKey: 3)
        let object = try open(try encrypted(Samples.bytes(100), options), keys: keys)
        for _ in 0..<3 { _ = try object.makeCursor().read(at: 0, count: 100) }
        #expect(keys.asked == ["key0.key": 1, "key1.key": 1, "key2.key": 1, "key3.key": 1])
    }

    @Test("threads read one object at once")
    func threads() async throws {
        let plain = Samples.bytes(5000)
        let object = try open(try encrypted(plain, HLSOptions(segmentByteCounts: [77, 130])))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    let cursor = try object.makeCursor()
                    return try (0..<100).allSatisfy { number in
                        let start = (number &* 7919 &+ thread &* 104_729) % 5000
                        return try cursor.read(at: UInt64(start), count: 400)
                            == Array(plain[start..<min(5000, start + 400)])
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("thousands of segments: few resources are open, and a random read opens one or two")
    func manySegments() throws {
        let plain = Samples.bytes(30_000)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [10], segmentsPerKey: 100))
        let resources = RecordedResources(stored)
        let object = try open(stored, from: resources)
        #expect(object.playlist.segments.count == 3000)
        #expect(resources.openingCount == 3000)
        let cursor = try object.makeCursor()
        for number in 0..<200 {
            let start = number &* 7919 % 29_980
            #expect(try cursor.read(at: UInt64(start), count: 10) == Array(plain[start..<start + 10]))
        }
        #expect(resources.openingCount <= 3400)
        #expect(try cursor.read(at: 0, count: 30_000) == plain)
    }

    @Test("segments are opened side by side, and one that several need is opened once")
    func sideBySide() throws {
        let plain = Samples.bytes(6000)
        for arrangement in [HLSOptions.Arrangement.files, .byteRanges(allOffsets: false)] {
            let fileCount = arrangement == .files ? 60 : 1
            let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [100], arrangement: arrangement))
            let resources = MeetingResources(stored, meetingCount: min(fileCount, 16))
            let object = try open(stored, from: resources)
            #expect(resources.counts.count == fileCount)
            #expect(resources.counts.values.allSatisfy { $0 == 1 }, "\(resources.counts)")
            #expect(try object.makeCursor().read(at: 0, count: 6000) == plain)
        }
    }

    @Test("segments that will be read are opened ahead, and no others", .timeLimit(.minutes(5)))
    func ahead() throws {
        let plain = Samples.bytes(6000)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [100]))
        let resources = MeetingResources(stored, meetingCount: 1)
        let object = try open(stored, from: resources)
        let cursor = try object.makeCursor()
        // The last ones that were used stay open, and none of the first ones is among them.
        #expect(try cursor.read(at: 2000, count: 4000) == Array(plain[2000...]))
        let before = resources.counts
        func opened() -> Set<String> { Set(resources.counts.filter { $0.value > before[$0.key] ?? 0 }.keys) }
        object.pieces.adviseSequential(0..<300)
        #expect(try cursor.read(at: 0, count: 1) == [plain[0]])
        while opened().count < 3 { usleep(100) }
        #expect(try cursor.read(at: 0, count: 300) == Array(plain[..<300]))
        #expect(opened() == ["segment0.ts", "segment1.ts", "segment2.ts"])
        #expect(resources.counts.values.reduce(0, +) == before.values.reduce(0, +) + 3)
    }

    @Test("open resources are as many as the object and its cursors keep, however many segments there are")
    func openResources() throws {
        let plain = Samples.bytes(6000)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [10]))
        let resources = CountedResources(stored)
        let object = try open(stored, from: resources)
        let cursors = try (0..<3).map { _ in try object.makeCursor() }
        for number in 0..<500 {
            let start = number &* 7919 % 5900
            #expect(try cursors[number % 3].read(at: UInt64(start), count: 70) == Array(plain[start..<start + 70]))
        }
        // One more while a new one is opened, and four for each cursor.
        #expect(resources.maxOpenCount <= CompositeObject.maxOpenSources + 1 + 3 * 4)
        #expect(resources.maxOpenCount >= CompositeObject.maxOpenSources)
    }

    @Test("a segment that is rewritten is an error of the reads that touch it, though its length stays")
    func rewritten() throws {
        let folder = try TemporaryFolder()
        let stored = try encrypted(Samples.bytes(4000), HLSOptions(segmentByteCounts: [40]))
        for (name, bytes) in stored { try folder.file(name, bytes) }
        let playlist = try mediaPlaylist(String(decoding: stored["playlist.m3u8"] ?? [], as: UTF8.self))
        // So long ago that no change is within the same step of the system's clock.
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        for segment in playlist.segments { utimensat(AT_FDCWD, folder.path(segment.uri), &times, 0) }
        let object = try HLSObject(
            playlist: playlist, resources: FolderResources(playlist: FilePath(folder.path("playlist.m3u8"))),
            keys: KeyRing(CountingKeys()), backend: OpenSSL())
        try object.requireAll()
        // The first is no longer open, and the last is.
        for segment in [0, 1, 98, 99] {
            let bytes = try #require(stored[playlist.segments[segment].uri])
            let file = try FileDescriptor.open(FilePath(folder.path(playlist.segments[segment].uri)), .writeOnly)
            try file.closeAfter { _ = try file.writeAll(bytes.reversed()) }
        }
        let cursor = try object.makeCursor()
        for segment in 0..<100 {
            let range = object.plaintextRange(ofSegment: segment)
            if (2..<98).contains(segment) {
                #expect(try cursor.read(at: range.lowerBound, count: 40).count == 40)
            } else {
                #expect {
                    try cursor.read(at: range.lowerBound, count: 40)
                } throws: { "\($0)".contains("changed") }
            }
        }
    }

    @Test("nothing of an earlier playlist is replaced before all of the next one is written")
    func replacing() throws {
        struct Failing: ByteSource {
            let byteCount: UInt64 = 5000
            func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
                guard offset < 4500 else { throw .io(operation: "read", code: 5, reason: "injected") }
                let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), 4500 - offset)))
                rest.forEach { _, buffer in buffer.initializeMemory(as: UInt8.self, repeating: 3) }
                return rest.byteCount
            }
        }
        let folder = try TemporaryFolder()
        let options = HLSOptions(segmentByteCounts: [2], segmentsPerKey: 100)
        func run(_ source: any ByteSource) throws {
            try HLSEncryptor(options: options, backend: OpenSSL())
                .run(source, to: FolderOutput(folder: FilePath(folder.path)))
        }
        // More files than names that are tried for one.
        try run(MemorySource(Samples.bytes(5000)))
        let names = folder.names
        let before = names.map { folder.bytes($0) }
        #expect(names.count == 2500 + 25 + 1)
        #expect(throws: DecryptionError.io(operation: "read", code: 5, reason: "injected")) { try run(Failing()) }
        #expect(folder.names == names && names.map { folder.bytes($0) } == before)
        try run(MemorySource(Samples.bytes(5000, seed: 2)))
        #expect(folder.names == names)
        #expect(zip(names, before).allSatisfy { folder.bytes($0) != $1 || $0 == "playlist.m3u8" })
    }

    @Test("a segment's place in the plaintext")
    func places() throws {
        let object = try open(
            try encrypted(Samples.bytes(100), HLSOptions(segmentByteCounts: [30], initializationByteCount: 8)))
        #expect((0..<4).map(object.plaintextRange(ofSegment:)) == [8..<38, 38..<68, 68..<98, 98..<100])
    }
}

import HLS
import OpenSSLBackend
import RandomAccess
import TestSupport
import Testing

/// SplitMix64, for a choice that is the same each time.
private struct Draws: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}

@Suite("playlists that were changed at random")
struct PlaylistMutationTests {
    private static let pieces = [
        "#EXT-X-KEY:METHOD=NONE\n", "#EXT-X-KEY:METHOD=AES-128,URI=\"key1.key\"\n", "\"", "\u{201D}", ",", "=", "@",
        ":", "\n",
        "\r\n", "0x", "18446744073709551615", "18446744073709551616", "-1", "#EXTINF:", "#EXT-X-BYTERANGE:16\n",
        "#EXT-X-BYTERANGE:18446744073709551615@18446744073709551615\n", "#EXT-X-MAP:URI=\"segment0.ts\"\n", "\u{0}",
        "\u{FEFF}",
        "#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n", "%2e%2e/", "#EXT-X-STREAM-INF:BANDWIDTH=1\n",
        "#EXT-X-DISCONTINUITY\n",
    ]

    private func mutated(_ text: [UInt8], _ draws: inout Draws) -> [UInt8] {
        var text = text
        for _ in 0...Int.random(in: 0..<4, using: &draws) {
            let place = Int.random(in: 0...text.count, using: &draws)
            let end = min(text.count, place + Int.random(in: 0..<20, using: &draws))
            switch Int.random(in: 0..<5, using: &draws) {
            case 0: text.insert(contentsOf: Self.pieces.randomElement(using: &draws)?.utf8 ?? "".utf8, at: place)
            case 1: text.removeSubrange(place..<end)
            case 2: text.insert(contentsOf: text[place..<end], at: place)
            case 3: if place < text.count { text[place] = UInt8.random(in: 0...255, using: &draws) }
            default: text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &draws))
            }
        }
        return text
    }

    @Test(
        "nothing traps, lines are within the playlist, and reads deliver what the lengths promise or fail",
        arguments: 0..<8)
    func mutations(_ group: Int) throws {
        let plain = Samples.bytes(200)
        var draws = Draws(state: UInt64(group))
        let options = HLSObjectTests.options[group * 5 % HLSObjectTests.options.count]
        let resources = try encrypted(plain, options)
        let text = resources["playlist.m3u8"] ?? []
        var (served, refused) = (0, 0)
        for _ in 0..<250 {
            let changed = mutated(text, &draws)
            let lineCount = changed.count { $0 == 0x0A } + 1
            do throws(PlaylistProblem) {
                guard case .media(let playlist) = try Playlist.parse(changed) else { continue }
                #expect(playlist.problems.allSatisfy { 1...lineCount ~= $0.line })
                #expect(playlist.segments.allSatisfy { 1...lineCount ~= $0.line })
                let object = try? HLSObject(
                    playlist: playlist, resources: MemoryResources(resources), keys: KeyRing(CountingKeys()),
                    backend: OpenSSL())
                guard let object else { continue }
                let cursor = try? object.makeCursor()
                let broken = object.problems
                for index in playlist.segments.indices {
                    let range = object.plaintextRange(ofSegment: index)
                    // A range of a terabyte that is not there is broken, and not read.
                    let count = min(range.count, 4096)
                    let isBroken = broken.contains { $0.range == range }
                    let bytes = try? cursor?.read(at: range.lowerBound, count: count)
                    if isBroken { refused += 1 } else { served += 1 }
                    #expect(isBroken ? bytes == nil : bytes?.count == count)
                }
            } catch {
                #expect(1...lineCount ~= error.line)
                refused += 1
            }
        }
        // The changes are neither all harmless nor all fatal.
        #expect(served > 100 && refused > 100)
    }
}

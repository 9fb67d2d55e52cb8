import ByteSources
import HLS
import OpenSSLBackend
import RandomAccess
import Results
import SubjectProtocol
import TestSupport
import Testing

@testable import Measurement

@Suite("buffer for objects")
struct SpaceCheckTests {
    private func planned(_ byteCount: UInt64, line: Int, source: String = "file") -> PlannedCell {
        PlannedCell(
            cell: Cell(
                backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: byteCount, source: source),
            rounds: 1, objectLine: line)
    }

    @Test("objects are counted once each, and the largest is named")
    func shortage() throws {
        let cells = [planned(1 << 30, line: 3), planned(3 << 30, line: 7), planned(3 << 30, line: 9)]
        #expect(SpaceCheck.shortage(of: cells, freeByteCount: 4 << 30) { _ in false } == nil)
        let shortage = try #require(SpaceCheck.shortage(of: cells, freeByteCount: (4 << 30) - 1) { _ in false })
        #expect(shortage.cell.objectLine == 7 && shortage.message.contains("3GiB"))
    }

    @Test("what is computed or made already takes no buffer; sums do not overflow")
    func edges() {
        let generated = [planned(1 << 60, line: 1, source: "generated")]
        #expect(SpaceCheck.shortage(of: generated, freeByteCount: 0) { _ in false } == nil)
        #expect(SpaceCheck.shortage(of: [planned(9, line: 1)], freeByteCount: 0) { _ in true } == nil)
        let huge = (0..<9).map { planned(1 << 61 + UInt64($0), line: 1) }
        #expect(SpaceCheck.shortage(of: huge, freeByteCount: 1 << 63) { _ in false } != nil)
    }
}

@Suite("cells and strategies")
struct CellStrategyTests {
    @Test(
        "a cell's text keeps what an object is bound to, its chunks and its keys; objects have files of their own",
        arguments: [
            Strategy.chunked(.cobblestone(keyByteCount: 16, context: [0, 255])),
            .chunked(.cobblestone(keyByteCount: 16, context: [])),
            .chunked(.tinkAESGCMHKDF(associatedData: [10], segmentByteCount: 4096, derivedKeyByteCount: 16)),
            .cbcChunked(
                chunkByteCount: 112, iv: Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0),
                ivRule: .fixed, padding: .none),
        ])
    func roundTrip(strategy: Strategy) throws {
        var cell = Cell(backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: 160)
        cell.adopt(strategy)
        #expect(try Strategy(measured: cell.strategy) == strategy)
        #expect(cell.chunkByteCount == strategy.chunkByteCount)
        var other = cell
        other.strategy = "cobblestone-128:context=01"
        #expect(ObjectStore.name(of: cell) != ObjectStore.name(of: other) && cell.id != other.id)
    }
}

@Suite("measured playlists")
struct MeasuredPlaylistTests {
    @Test(
        "they are what the encryptor writes with byte ranges and IVs from the sequence",
        arguments: [0, 1, 15, 16, 1024, 1025, 5000])
    func encryptor(byteCount: Int) throws {
        let plaintext = Samples.bytes(byteCount)
        let key = try SecretKey(Samples.bytes(16))
        let output = MemoryOutput()
        let options = HLSOptions(
            segmentByteCounts: [1024], ivRule: .sequenceNumber, arrangement: .byteRanges(allOffsets: false))
        try HLSEncryptor(
            options: options,
            secrets: HLSSecrets(
                key: { (_) throws(DecryptionError) in key }, iv: { _ in Block(bigEndianValue: 0) }),
            backend: OpenSSL()
        ).run(MemorySource(plaintext), to: output)
        let written = try #require(output.resources["playlist.m3u8"])
        let playlist = try MeasuredPlaylist(
            resource: "media.ts", segmentByteCount: 1024, plaintextByteCount: UInt64(byteCount))
        #expect(playlist.text == String(decoding: written, as: UTF8.self))
        var ciphertext: [UInt8] = []
        let encryptor = try ObjectEncryptor(strategy: try .segments(of: 1024), backend: OpenSSL(), key: key)
        try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        #expect(output.resources["media.ts"] == ciphertext)
    }

    @Test("more segments than a playlist can list are refused")
    func tooMany() {
        #expect(throws: DecryptionError.self) {
            try MeasuredPlaylist(resource: "a", segmentByteCount: 1024, plaintextByteCount: 64 << 30)
        }
    }
}

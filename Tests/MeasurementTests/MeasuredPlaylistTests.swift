import ByteSources
import HLS
import OpenSSLBackend
import RandomAccess
import TestSupport
import Testing

@testable import Measurement

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
        let encryptor = try ObjectEncryptor(strategy: .segments(of: 1024), backend: OpenSSL(), key: key)
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

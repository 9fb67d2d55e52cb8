internal import ByteSources
internal import RandomAccess

/// A playlist whose segments are tampered with: files of their own, each a CBC chain, with IVs from the media sequence
/// number.
///
/// - Source: RFC 8216, section 5.2.
package struct TamperPlaylist: Hashable, Sendable {
    /// The media sequence number of the first segment.
    private static let first: UInt64 = 11
    private static let keyURI = "key"

    /// The keys by their URIs.
    package var keys: [String: [UInt8]] { [Self.keyURI: PlaylistBuilder.key(Self.keyURI)] }

    /// The playlist's text for a content.
    package func text(of content: TamperContent) -> String {
        let first = Self.first + (content.damagedIVByte == nil ? 0 : 1)
        let segments = content.chunks.indices.map { "#EXTINF:1,\n\(Self.uri($0))\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(Self.keyURI)\"\n" + segments + "#EXT-X-ENDLIST\n"
    }

    /// The segments of a content, by their URIs.
    package func resources(of content: TamperContent) -> [String: [UInt8]] {
        Dictionary(
            content.chunks.enumerated().map { (Self.uri($0.offset), $0.element) }, uniquingKeysWith: { $1 })
    }

    /// The errors that segments do not open with, in their order.
    func errors(of content: TamperContent) -> [ErrorName] {
        content.chunks.enumerated().compactMap { index, bytes in
            do throws(DecryptionError) {
                let shift = content.damagedIVByte == nil ? 0 : 1
                _ = try Self.oracle(segment: index + shift).plaintextByteCount(of: MemorySource(bytes))
                return nil
            } catch {
                return ErrorName(error)
            }
        }
    }

    private static func uri(_ index: Int) -> String { "s\(index).ts" }

    static func oracle(segment index: Int) throws(DecryptionError) -> Oracle {
        let iv = Block(bigEndianValue: UInt128(first) + UInt128(index))
        return Oracle(
            strategy: .cbcContinuous(iv: iv, padding: .pkcs7),
            key: try SecretKey(PlaylistBuilder.key(keyURI)))
    }
}

extension TamperTarget {
    /// Four segments of different lengths.
    static var playlist: TamperTarget {
        let lengths = [256, 240, 301, 133]
        var starts = [0]
        for length in lengths { starts.append(starts[starts.count - 1] + length) }
        func content(_ plaintext: [UInt8]) -> TamperContent {
            TamperContent(
                chunks: lengths.indices.map { index in
                    guard let oracle = try? TamperPlaylist.oracle(segment: index) else { return [] }
                    return oracle.encrypt(Array(plaintext[starts[index]..<starts[index + 1]]))
                })
        }
        let length = starts[lengths.count]
        let plaintext = VectorSet.streamBytes(seed: 22090, count: length)
        return TamperTarget(
            label: "hls-aes128", form: .playlist(TamperPlaylist()), original: content(plaintext),
            other: content(VectorSet.streamBytes(seed: 22190, count: length)), plaintext: plaintext,
            windowByteCount: 40, chunkPlaintexts: lengths.indices.map { starts[$0]..<starts[$0 + 1] })
    }
}

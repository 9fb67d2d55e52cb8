extension PlaylistSet {
    /// A playlist of encrypted segments without reads, for checks that are about something else than playlists.
    ///
    /// Another `number` gives other keys, IVs and bytes.
    package static func plain(id: String, number: Int, segmentByteCounts: [Int]) -> VectorGroup {
        var builder = PlaylistBuilder(salt: number)
        builder.line("#EXT-X-MEDIA-SEQUENCE:\(number)")
        for (index, byteCount) in segmentByteCounts.enumerated() {
            let key = "key\(number)-\(index / 2).key"
            if index % 2 == 0 { builder.key(key) }
            builder.segment("segment\(index).ts", byteCount, key: key, iv: UInt128(number + index))
        }
        let group = builder.opens("plain")
        return VectorGroup(
            id: id, flags: [], playlist: group.playlist ?? PlaylistObject(text: "", resources: [:], keys: [:]),
            opening: group.opening, plaintext: builder.plaintext, patterns: [])
    }
}

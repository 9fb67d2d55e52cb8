internal import Support

extension VectorGroup {
    /// Reads a group of the strategy `hls-aes128`.
    init(playlist place: JSONCursor, fileSource: String) throws(VectorFileError) {
        try place.allow([
            "id", "source", "flags", "comment", "strategy", "playlist", "keys", "resources", "plaintext", "error",
            "reads",
        ])
        let playlist = PlaylistObject(
            text: try place.member("playlist").string(), resources: try place.member("resources").bytesByName(),
            keys: try place.member("keys").bytesByName())
        let id = try place.member("id").string()
        let source = try place.optionalMember("source")?.string() ?? fileSource
        let flags = try place.member("flags").flags()
        if let failure = try place.optionalMember("error") {
            for name in ["reads", "plaintext"] {
                if let other = try place.optionalMember(name) {
                    throw other.error("beside \"error\": expected none of an object that does not open")
                }
            }
            self.init(
                id: id, source: source, flags: flags, playlist: playlist,
                opening: .fails(try failure.choice(of: ErrorName.self)), plaintext: [], patterns: [])
            return
        }
        let bytes = try place.member("plaintext").bytes()
        let plaintext = GroupPlaintext(bytes)
        var patterns: [ReadPattern] = []
        for read in try place.member("reads").elements() {
            patterns.append(try read.pattern(of: plaintext, groupFlags: flags))
        }
        self.init(
            id: id, source: source, flags: flags, playlist: playlist,
            opening: .opens(plaintextByteCount: plaintext.byteCount), plaintext: bytes, patterns: patterns)
    }
}

extension JSONCursor {
    /// An object's members as bytes in hex, by their names; there may be none.
    fileprivate func bytesByName() throws(VectorFileError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for (name, value) in try members() { found[try name.string()] = try value.bytes() }
        return found
    }
}

internal import RandomAccess

extension Playlist {
    /// Reads and parses one playlist of either kind; what is too long to be one is not read.
    ///
    /// - Parameters:
    ///   - source: Its bytes.
    ///   - name: What it is called in messages.
    ///   - limits: What it may have.
    /// - Returns: The playlist.
    /// - Throws: `DecryptionError.io`; `PlaylistError.inPart` with the name if no part of it can be used.
    static func read(
        _ source: any ByteSource, named name: String, _ limits: PlaylistLimits
    ) throws(DecryptionError) -> Playlist {
        do throws(PlaylistProblem) {
            guard source.byteCount <= UInt64(limits.byteCount) else {
                throw PlaylistProblem(
                    line: 1, kind: .tooLarge, found: "\(source.byteCount) bytes",
                    expected: "a playlist of at most \(limits.byteCount)")
            }
        } catch {
            throw .inPart(name, error.decryptionError)
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { room.deallocate() }
        try source.fetch(at: 0, into: room)
        do throws(PlaylistProblem) {
            return try parse(UnsafeRawBufferPointer(room), limits: limits)
        } catch {
            throw .inPart(name, error.decryptionError)
        }
    }
}

extension MasterPlaylist {
    /// A master playlist leads to a media playlist at once; what takes more steps than this leads nowhere.
    private static let maxSteps = 8

    /// The URI of the playlist that this one leads to, as written.
    ///
    /// - Parameters:
    ///   - choice: Which variant is meant.
    ///   - base: This playlist's URI.
    ///   - visited: The URIs of all playlists that led here, and this one's.
    /// - Returns: The URI.
    /// - Throws: `PlaylistError.invalid` if there is no such variant, or it leads back.
    func next(
        _ choice: VariantChoice, in base: URIReference, visited: [String]
    ) throws(DecryptionError) -> String {
        do throws(PlaylistProblem) {
            let variant = try variant(choice)
            let target = URIReference(variant.uri).resolved(against: base).text
            guard !visited.contains(target), visited.count < Self.maxSteps else {
                throw PlaylistProblem(
                    line: variant.line, kind: .cycle,
                    found: "\(URIReference(variant.uri).shown), which leads back to a playlist that led here",
                    expected: "a media playlist")
            }
            return variant.uri
        } catch {
            throw error.decryptionError
        }
    }
}

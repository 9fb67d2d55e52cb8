#if Network
import HLS
import RandomAccess

extension ServedPlaylists {
    /// A master playlist with the media playlists that can be served.
    ///
    /// Each of them is looked at: what is missing, or a master playlist in turn, as in a cycle, is left out, and its line
    /// reported.
    ///
    /// - Throws: `DecryptionError` if none is left.
    func rewrittenMaster(_ loaded: LoadedPlaylist) throws(DecryptionError) -> [UInt8] {
        // A playlist may be named by many lines.
        var known: [[String]: Bool] = [:]
        var firstError: DecryptionError?
        var count = 0
        func name(_ uri: String, _ line: Int) -> String? {
            do throws(DecryptionError) {
                guard let names = names(of: uri, in: loaded), PlaylistAddress.isPlaylist(names.last ?? "") else {
                    throw .unsupported("fetching \(URIReference(uri).shown): expected a playlist of this folder")
                }
                if known[names] == nil {
                    known[names] = false
                    try checkMedia(names, uri, loaded)
                    known[names] = true
                }
                guard known[names] == true else { return nil }
                count += 1
                let up = String(repeating: "../", count: loaded.path.count - 1)
                return up + names.map(RequestTarget.encoded).joined(separator: "/") + options.query
            } catch {
                let error = DecryptionError.inPart(loaded.name, .inPart("line \(line)", error))
                if let firstError { options.report("\(firstError)") }
                firstError = error
                return nil
            }
        }
        let text: String
        do throws(PlaylistProblem) {
            text = try loaded.bytes.withUnsafeBufferPointer { (bytes) throws(PlaylistProblem) in
                try MasterRewriter.rewrite(UnsafeRawBufferPointer(bytes), limits: Self.limits, name: name)
            }
        } catch {
            throw loaded.error(error)
        }
        if count == 0 {
            throw firstError ?? .inPart(loaded.name, .invalidPlaylist(reason: "no variant: expected one at least"))
        }
        if let firstError { options.report("\(firstError)") }
        return Array(text.utf8)
    }

    private func checkMedia(_ names: [String], _ uri: String, _ loaded: LoadedPlaylist) throws(DecryptionError) {
        let shown = URIReference(uri).shown
        guard names != loaded.path else {
            throw .invalidPlaylist(reason: "\(shown) leads back to this playlist: expected a media playlist")
        }
        guard let isMedia = try isMedia(names) else { throw .missing(shown) }
        guard isMedia else {
            throw .unsupported("the master playlist \(shown) in a master playlist: expected a media playlist")
        }
    }
}
#endif

package import RandomAccess

extension PlaylistProblem {
    /// The problem as an error of an object that is opened or read.
    package var decryptionError: DecryptionError {
        kind.isUnsupported ? .unsupported("playlist \(self)") : .invalidPlaylist(reason: description)
    }
}

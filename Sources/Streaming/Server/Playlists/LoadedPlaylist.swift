#if Network
import ByteSources
import HLS
import RandomAccess

/// A playlist as it was read, with what is made of it.
struct LoadedPlaylist: Sendable {
    /// The version of the file.
    let identity: FileIdentity
    /// The names of the folders and of the file.
    let path: [String]
    /// What it says.
    let playlist: Playlist
    /// The bytes of a master playlist, or a media playlist rewritten.
    let bytes: [UInt8]
    /// The keys of a media playlist.
    let ring: KeyRing
    /// The indices of the initialization sections by what their URIs have, the first of those that are the same.
    let sections: [String: Int]
    /// Where each segment, with its initialization section, starts in all of them together; empty if nobody asked.
    var places: [UInt64] = []

    /// What a message calls it.
    var name: String { path.joined(separator: "/") }

    /// The URI that its own are relative to.
    var base: URIReference { URIReference(names: path) }

    /// What is wrong with a line, as an error of the playlist.
    func error(_ problem: PlaylistProblem) -> DecryptionError {
        // A segment that is said to be missing is missing.
        if problem.kind == .gap { return .inPart(name, .missing("line \(problem.line)")) }
        return .inPart(name, problem.decryptionError)
    }
}

extension DecryptionError {
    /// Something that is not there. The corresponding C constant is `ENOENT`.
    static func missing(_ name: String) -> DecryptionError {
        .io(operation: "open \(name)", code: 2, reason: "no such file in the folder that is served")
    }

    /// Whether something is not there.
    var isMissing: Bool {
        switch self {
        case .io(_, let code, _): code == 2
        case .inPart(_, let error): error.isMissing
        default: false
        }
    }
}
#endif

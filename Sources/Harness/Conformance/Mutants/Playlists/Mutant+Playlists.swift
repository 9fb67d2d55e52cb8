internal import RandomAccess

extension Mutant {
    /// Faults of readers of playlists; they read nothing else.
    static let playlists: [Mutant] = PlaylistFault.allCases.map { fault in
        Mutant(fault.rawValue, fault.summary, flag: fault.flag, source: fault.flag.source) { backend in
            ConformanceSubject(
                name: fault.rawValue, supports: { _, _ in false },
                openPlaylist: TextbookPlaylistReader.opening(fault: fault, over: backend)
            ) { (_, _, strategy, _) throws(DecryptionError) in
                throw .unsupported("\(strategy.name): expected a playlist")
            }
        }
    }
}

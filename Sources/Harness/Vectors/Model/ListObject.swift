package import ByteSources

/// An object that no strategy describes.
package enum ListObject: Equatable, Sendable {
    case playlist(PlaylistObject)
    case film(FilmObject)

    /// The name in place of a strategy's, in files and in the subject protocol.
    package var kind: ListStrategy {
        switch self {
        case .playlist: .playlist
        case .film: .film
        }
    }
}

extension VectorGroup {
    /// The playlist, if the object is one.
    package var playlist: PlaylistObject? { if case .playlist(let playlist) = list { playlist } else { nil } }

    /// The film, if the object is one.
    package var film: FilmObject? { if case .film(let film) = list { film } else { nil } }

    /// True if the strategy describes the object, which is neither a playlist nor a film.
    package var hasStrategy: Bool { list == nil }

    /// The strategy's name, also for a playlist or a film.
    package var strategyName: String { list?.kind.rawValue ?? strategy.name }

    /// The strategy's label, also for a playlist or a film.
    package var strategyLabel: String { list?.kind.rawValue ?? strategy.label }
}

/// How long a key may be used.
public enum KeyTerms: Hashable, Sendable {
    /// A key that is never stored, for a time from its arrival, or for as long as the session lives.
    case online(validity: Duration?)
    /// A key that may be stored: for a time from its arrival while nobody has used it, and for another one from its first
    /// use on, which takes the first one's place.
    case persistable(storage: Duration, playback: Duration)

    /// Which kind of key the terms are for.
    package var kind: KeyKind {
        switch self {
        case .online: .online
        case .persistable: .persistable
        }
    }
}

/// Whether a key lives with the session or may be stored.
public enum KeyKind: String, CaseIterable, Hashable, Sendable {
    /// For this session and its route only.
    case online
    /// Stored and bound to a device.
    case persistable
}

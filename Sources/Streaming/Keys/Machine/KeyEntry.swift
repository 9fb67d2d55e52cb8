/// What a session knows about one key.
struct KeyEntry: Sendable {
    /// Whether the key is asked for.
    enum Phase: Hashable, Sendable {
        /// It is not.
        case idle
        /// It will be, at a time of the clock that nobody can set.
        case due(Duration)
        /// It is, in an exchange.
        case inFlight(Int)
    }

    /// A reader that waits.
    struct Waiting: Hashable, Sendable {
        let reader: Int
        let since: Duration
    }

    /// A key for the session and its route.
    struct OnlineKey: Hashable, Sendable {
        /// By the clock that nobody can set; `nil` for one that does not expire.
        let expiry: Duration?
    }

    var phase = Phase.idle
    /// How often the key was asked for since the last end of all asking.
    var attempts = 0
    var waiting: [Waiting] = []
    var online: OnlineKey?
    var stored: StoredKey?
    var wantsPersistable = false
    /// Why a key that was stored is of no use, which is what a reader without a network is told.
    var spent: KeyFailure?
    /// What the last exchange failed with, if the key is asked for again.
    var lastFailure: KeyFailure?
    /// A refusal, and until when it is final.
    var refusal: (failure: KeyFailure, until: Duration)?

    var dueTime: Duration? {
        if case .due(let time) = phase { time } else { nil }
    }

    var exchange: Int? {
        if case .inFlight(let exchange) = phase { exchange } else { nil }
    }

    /// Forgets what asking led to so far.
    mutating func startOver() {
        attempts = 0
        lastFailure = nil
        refusal = nil
    }
}

/// An exchange that is not answered yet.
struct InFlightRequest: Sendable {
    let identifiers: [String]
    let deadline: Duration
}

/// A read that delivers plaintext.
struct KeyUse: Sendable {
    let identifier: String
    let kind: KeyKind
}

/// The reason why a session does not have a key, or may no longer use it. It never holds a part of a key.
public enum KeyFailure: Error, Hashable, Sendable {
    /// The provider did not answer in time.
    case timedOut(after: Duration)
    /// There is no network.
    case networkLost
    /// The provider could not be reached.
    case unreachable(reason: String)
    /// The provider is overloaded.
    case busy(retryAfter: Duration?)
    /// Plaintext goes to another output now, which needs another key.
    case routeChanged
    /// The provider refused.
    case refused(reason: String)
    /// The provider has no such key.
    case missing
    /// The answer's key is not 16 bytes long.
    case wrongLength(byteCount: Int)
    /// The answer is for another identifier.
    case otherIdentifier
    /// The answer was changed on its way.
    case tampered
    /// The answer is a replay.
    case replayed
    /// The answer does not follow the protocol.
    case malformed(reason: String)
    /// An online key reached the end of its validity.
    case validityExpired
    /// A stored key was not used in time.
    case storageExpired
    /// A stored key was used for as long as its terms allow.
    case playbackExpired
    /// A stored key belongs to another device.
    case otherDevice
    /// The route does not accept stored keys.
    case persistableNotAccepted(route: String)
    /// The wall clock is behind the trusted time.
    case clockSetBack(by: Duration)
    /// A stored key cannot be unsealed.
    case unopenable
    /// The first use of a stored key could not be stored.
    case notStored
    /// The reader waited for the whole idle timeout.
    case waitedTooLong(Duration)
    /// The reader stopped waiting.
    case abandoned
    /// The session was closed.
    case closed
    /// A temporary failure lasted through all attempts.
    indirect case gaveUp(attempts: Int, last: KeyFailure)

    /// True if asking again may help without any other change.
    public var isPassing: Bool {
        switch self {
        case .timedOut, .networkLost, .unreachable, .busy, .routeChanged: true
        default: false
        }
    }

    /// The minimum pause before the next request that the server asks for.
    var retryAfter: Duration? {
        if case .busy(let retryAfter) = self { retryAfter } else { nil }
    }

    /// The case's name in scenarios.
    package var name: String {
        switch self {
        case .timedOut: "timedOut"
        case .networkLost: "networkLost"
        case .unreachable: "unreachable"
        case .busy: "busy"
        case .routeChanged: "routeChanged"
        case .refused: "refused"
        case .missing: "missing"
        case .wrongLength: "wrongLength"
        case .otherIdentifier: "otherIdentifier"
        case .tampered: "tampered"
        case .replayed: "replayed"
        case .malformed: "malformed"
        case .validityExpired: "validityExpired"
        case .storageExpired: "storageExpired"
        case .playbackExpired: "playbackExpired"
        case .otherDevice: "otherDevice"
        case .persistableNotAccepted: "persistableNotAccepted"
        case .clockSetBack: "clockSetBack"
        case .unopenable: "unopenable"
        case .notStored: "notStored"
        case .waitedTooLong: "waitedTooLong"
        case .abandoned: "abandoned"
        case .closed: "closed"
        case .gaveUp: "gaveUp"
        }
    }
}

extension KeyFailure: CustomStringConvertible {
    /// The failed action, the value, the expectation, and the next step.
    public var description: String {
        switch self {
        case .timedOut(let limit): "the key's provider did not answer: expected an answer within \(limit)"
        case .networkLost: "there is no network: the key is asked for when there is one again"
        case .unreachable(let reason): "the key's provider cannot be reached: \(reason)"
        case .busy(let retryAfter):
            "the key's provider has too much to do"
                + (retryAfter.map { ": it is to be asked again after \($0)" } ?? ": it is to be asked again later")
        case .routeChanged: "the key was for another route: expected one for where the plaintext goes now"
        case .refused(let reason): "the key's provider refused: \(reason)"
        case .missing: "the key's provider has no such key"
        case .wrongLength(let byteCount): "the key's answer has \(byteCount) bytes: expected 16"
        case .otherIdentifier: "the key's answer is for another identifier: expected the one that was asked for"
        case .tampered: "the key's answer is not authentic: expected one that was not changed"
        case .replayed: "the key's answer had come before: expected a fresh one"
        case .malformed(let reason): "invalid answer to the request for the key: \(reason)"
        case .validityExpired: "the key has expired: ask for it again"
        case .storageExpired: "the stored key was not used in time and has expired: ask for an online key"
        case .playbackExpired: "the stored key was used for as long as it may be: ask for an online key"
        case .otherDevice: "the stored key belongs to another device: ask for an online key"
        case .persistableNotAccepted(let route):
            "a stored key cannot be used on the route \"\(route)\": ask for an online key"
        case .clockSetBack(let time):
            "the clock is \(time) behind what it showed before: set it right, or ask for an online key"
        case .unopenable: "the stored key does not open, it is damaged or was sealed elsewhere: ask for an online key"
        case .notStored:
            "the stored key's first use could not be stored beside it: expected storage that can be written, or ask "
                + "for an online key"
        case .waitedTooLong(let idleTimeout): "no key came within \(idleTimeout)"
        case .abandoned: "no reader waits for the key any more"
        case .closed: "the session was closed"
        case .gaveUp(let attempts, let last): "gave up after asking \(attempts) times: \(last)"
        }
    }
}

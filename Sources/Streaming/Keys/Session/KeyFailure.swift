/// Why a session has no key, or no longer. Never holds a part of a key.
public enum KeyFailure: Error, Hashable, Sendable {
    /// The provider did not answer in time.
    case timedOut(after: Duration)
    /// There is no network.
    case networkLost
    /// The provider could not be reached.
    case unreachable(reason: String)
    /// The provider has too much to do.
    case busy(retryAfter: Duration?)
    /// Plaintext goes elsewhere now, and needs another key.
    case routeChanged
    /// The provider refused.
    case refused(reason: String)
    /// The provider has no such key.
    case missing
    /// What came has another length than 16 bytes.
    case wrongLength(byteCount: Int)
    /// What came is the key of another identifier.
    case otherIdentifier
    /// What came was changed on its way.
    case tampered
    /// What came had come before.
    case replayed
    /// What came is no answer that the protocol knows.
    case malformed(reason: String)
    /// An online key was used for as long as it may be.
    case validityExpired
    /// A stored key was not used in time.
    case storageExpired
    /// A stored key was used for as long as it may be.
    case playbackExpired
    /// A stored key belongs to another device.
    case otherDevice
    /// A stored key is of no use where plaintext goes.
    case persistableNotAccepted(route: String)
    /// The clock on the wall shows less than it must.
    case clockSetBack(by: Duration)
    /// A stored key does not open.
    case unopenable
    /// The first use of a stored key could not be stored.
    case notStored
    /// The reader waited for as long as it may.
    case waitedTooLong(Duration)
    /// The reader stopped waiting.
    case abandoned
    /// The session was closed.
    case closed
    /// What can pass did not.
    indirect case gaveUp(attempts: Int, last: KeyFailure)

    /// Whether asking again may help, with nothing else done about it.
    public var isPassing: Bool {
        switch self {
        case .timedOut, .networkLost, .unreachable, .busy, .routeChanged: true
        default: false
        }
    }

    /// The minimum time before asking again that the server wants.
    var retryAfter: Duration? {
        if case .busy(let retryAfter) = self { retryAfter } else { nil }
    }

    /// The case's name, as scenarios have it.
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
    /// What failed, the value, what was expected, and what to do.
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
        case .malformed(let reason): "the key's answer is none: \(reason)"
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

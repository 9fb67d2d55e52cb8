package import Keys
package import Support

/// Times of the protocol: whole microseconds.
enum ProtocolTime {
    /// Returns a time of at least zero. It is rounded up, so that a session is not woken early.
    static func microseconds(_ time: Duration) -> UInt64 {
        let parts = time.components
        let fraction = (parts.attoseconds + 999_999_999_999) / 1_000_000_000_000
        return UInt64(clamping: parts.seconds) * 1_000_000 + UInt64(clamping: fraction)
    }
}

extension KeyEvent {
    /// The event in the form for a session in another process. Source: data/scenarios/PROTOCOL.md.
    package var message: JSONValue {
        switch self {
        case .want(let reader, let keys): Self.message("want", ["reader": reader], keys)
        case .abandon(let reader): Self.message("abandon", ["reader": reader])
        case .preload(let keys): Self.message("preload", [:], keys)
        case .persist(let keys): Self.message("persist", [:], keys)
        case .rotation(let key, let appearsIn):
            Self.message("rotation", ["key": key, "appearsIn": ProtocolTime.microseconds(appearsIn)])
        case .retire(let keys): Self.message("retire", [:], keys)
        case .answered(let exchange, let answers):
            Self.message("answer", ["exchange": exchange, "answers": answers.map(\.message)])
        case .exchangeFailed(let exchange, let failure):
            Self.message("fail", failure.members.merging(["exchange": exchange]) { first, _ in first })
        case .routeChanged(let route):
            Self.message("route", ["route": route.name, "acceptsPersistable": route.acceptsPersistable])
        case .networkLost: Self.message("networkLost")
        case .networkFound: Self.message("networkFound")
        case .found(let stored): Self.message("found", stored.members)
        case .foundUnusable(let key, let failure):
            Self.message("foundUnusable", ["key": key, "failure": failure.name])
        case .readBegan(let read, let key): Self.message("readBegan", ["read": read, "key": key])
        case .readEnded(let read): Self.message("readEnded", ["read": read])
        case .tick: Self.message("tick")
        case .close: Self.message("close")
        }
    }

    private static func message(
        _ name: String, _ members: [String: any Encodable] = [:], _ keys: [String]? = nil
    ) -> JSONValue {
        var members = members
        members["event"] = name
        if let keys { members["keys"] = keys }
        return JSONValue(members: members)
    }
}

extension KeyEvent {
    /// Reads an event of the protocol.
    ///
    /// - Throws: `KeyScenarioError` if the message violates data/scenarios/PROTOCOL.md.
    package init(message: JSONValue?) throws(KeyScenarioError) {
        self = try KeyEvent(try ScenarioObject(message, "event", unit: .microseconds), now: nil)
    }

    /// Reads an event, of a scenario or of the protocol.
    ///
    /// - Parameters:
    ///   - reader: The event.
    ///   - now: The origin of relative times; `nil` if times are those of the wall clock.
    /// - Throws: `KeyScenarioError`.
    init(_ reader: ScenarioObject, now: Duration?) throws(KeyScenarioError) {
        let name = try reader.text("event")
        switch name {
        case "want": self = .want(reader: try reader.count("reader"), identifiers: try reader.texts("keys"))
        case "abandon": self = .abandon(reader: try reader.count("reader"))
        case "preload": self = .preload(try reader.texts("keys"))
        case "persist": self = .persist(try reader.texts("keys"))
        case "retire": self = .retire(try reader.texts("keys"))
        case "rotation":
            self = .rotation(identifier: try reader.text("key"), appearsIn: try reader.requiredTime("appearsIn"))
        case "answer":
            let answers = try reader.objects("answers", each: "answer", members: KeyAnswer.members)
            self = .answered(exchange: try reader.count("exchange"), try answers.map(KeyAnswer.init))
        case "fail": self = .exchangeFailed(exchange: try reader.count("exchange"), try KeyFailure(reader))
        case "route":
            self = .routeChanged(
                KeyRoute(try reader.text("route"), acceptsPersistable: try reader.bool("acceptsPersistable")))
        case "networkLost": self = .networkLost
        case "networkFound": self = .networkFound
        case "found": self = .found(try StoredKey(reader, now: now))
        case "tick" where now == nil: self = .tick
        case "readBegan": self = .readBegan(read: try reader.count("read"), identifier: try reader.text("key"))
        case "readEnded": self = .readEnded(read: try reader.count("read"))
        case "close": self = .close
        default: throw reader.error("event \"\(name)\": expected one of data/schemas/scenarios.json")
        }
    }
}

extension KeyAnswer {
    fileprivate static let members = [
        "key", "byteCount", "validity", "storage", "playback", "failure", "retryAfter",
    ]

    fileprivate init(_ reader: ScenarioObject) throws(KeyScenarioError) {
        let identifier = try reader.text("key")
        guard reader["failure"] == nil else {
            self.init(identifier, .failure(try KeyFailure(reader)))
            return
        }
        let count = try reader["byteCount"] == nil ? 16 : reader.count("byteCount", maximum: 1 << 20)
        let terms: KeyTerms =
            if let storage = try reader.time("storage") {
                .persistable(storage: storage, playback: try reader.requiredTime("playback"))
            } else {
                .online(validity: try reader.time("validity"))
            }
        self.init(identifier, .key(terms, byteCount: count))
    }

    fileprivate var message: JSONValue {
        var members: [String: any Encodable] = [:]
        switch outcome {
        case .key(.online(let validity), let byteCount):
            members["byteCount"] = byteCount
            members["validity"] = validity.map(ProtocolTime.microseconds)
        case .key(.persistable(let storage, let playback), let byteCount):
            members["byteCount"] = byteCount
            members["storage"] = ProtocolTime.microseconds(storage)
            members["playback"] = ProtocolTime.microseconds(playback)
        case .failure(let failure): members = failure.members
        }
        members["key"] = identifier
        return JSONValue(members: members)
    }
}

extension KeyFailure {
    /// Reads the member `failure` of an answer, which must be a failure that providers can have.
    fileprivate init(_ reader: ScenarioObject) throws(KeyScenarioError) {
        let name = try reader.text("failure")
        switch name {
        case "unreachable": self = .unreachable(reason: "as the scenario says")
        case "busy": self = .busy(retryAfter: try reader.time("retryAfter"))
        case "refused": self = .refused(reason: "as the scenario says")
        case "missing": self = .missing
        case "tampered": self = .tampered
        case "replayed": self = .replayed
        default:
            throw reader.error(
                "failure \"\(name)\": expected unreachable, busy, refused, missing, tampered or replayed")
        }
    }

    fileprivate var members: [String: any Encodable] {
        var members: [String: any Encodable] = ["failure": name]
        if case .busy(let retryAfter?) = self { members["retryAfter"] = ProtocolTime.microseconds(retryAfter) }
        return members
    }
}

extension StoredKey {
    /// Reads a stored key; see ``KeyEvent/init(_:now:)``.
    fileprivate init(_ reader: ScenarioObject, now: Duration?) throws(KeyScenarioError) {
        let times: (receivedAt: Duration, firstUse: Duration?, lastSeen: Duration)
        if let now {
            let receivedAgo = try reader.requiredTime("receivedAgo")
            let usedAgo = try reader.time("usedAgo")
            let (seenAgo, seenAhead) = (try reader.time("seenAgo"), try reader.time("seenAhead"))
            times = (
                now - receivedAgo, usedAgo.map { now - $0 }, seenAhead.map { now + $0 } ?? now - (seenAgo ?? .zero)
            )
        } else {
            times = (
                try reader.requiredTime("receivedAt"), try reader.time("firstUse"), try reader.requiredTime("lastSeen")
            )
        }
        self.init(
            identifier: try reader.text("key"), device: try reader.text("device"),
            generation: try reader.count("generation", maximum: 1 << 31), storage: try reader.requiredTime("storage"),
            playback: try reader.requiredTime("playback"), receivedAt: times.receivedAt, firstUse: times.firstUse,
            lastSeen: times.lastSeen)
    }

    fileprivate var members: [String: any Encodable] {
        var members: [String: any Encodable] = ["key": identifier, "device": device, "generation": generation]
        for (name, time) in [
            ("storage", storage), ("playback", playback), ("receivedAt", receivedAt), ("lastSeen", lastSeen),
            ("firstUse", firstUse),
        ] { members[name] = time.map(ProtocolTime.microseconds) }
        return members
    }
}

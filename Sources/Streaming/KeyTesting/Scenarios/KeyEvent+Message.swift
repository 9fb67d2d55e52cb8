package import Keys
package import Support

/// Times of the protocol: whole microseconds.
enum ProtocolTime {
    /// A time from zero on, rounded up, so that who is woken then is not woken early.
    static func json(_ time: Duration) -> JSONValue {
        let parts = time.components
        let fraction = (parts.attoseconds + 999_999_999_999) / 1_000_000_000_000
        return .integer(UInt64(clamping: parts.seconds) * 1_000_000 + UInt64(clamping: fraction))
    }
}

extension KeyEvent {
    /// The event as a session in another process is told of it. Source: data/scenarios/PROTOCOL.md.
    package var message: JSONValue {
        switch self {
        case .want(let reader, let keys): Self.message("want", ["reader": .init(count: reader)], keys)
        case .abandon(let reader): Self.message("abandon", ["reader": .init(count: reader)])
        case .preload(let keys): Self.message("preload", [:], keys)
        case .persist(let keys): Self.message("persist", [:], keys)
        case .rotation(let key, let appearsIn):
            Self.message("rotation", ["key": .string(key), "appearsIn": ProtocolTime.json(appearsIn)])
        case .retire(let keys): Self.message("retire", [:], keys)
        case .answered(let exchange, let answers):
            Self.message(
                "answer", ["exchange": .init(count: exchange), "answers": .array(answers.map(\.message))])
        case .exchangeFailed(let exchange, let failure):
            Self.message("fail", failure.members.merging(["exchange": .init(count: exchange)]) { first, _ in first })
        case .routeChanged(let route):
            Self.message(
                "route", ["route": .string(route.name), "acceptsPersistable": .bool(route.acceptsPersistable)])
        case .networkLost: Self.message("networkLost")
        case .networkFound: Self.message("networkFound")
        case .found(let stored): Self.message("found", stored.members)
        case .foundUnusable(let key, let failure):
            Self.message("foundUnusable", ["key": .string(key), "failure": .string(failure.name)])
        case .readBegan(let read, let key):
            Self.message("readBegan", ["read": .init(count: read), "key": .string(key)])
        case .readEnded(let read): Self.message("readEnded", ["read": .init(count: read)])
        case .tick: Self.message("tick")
        case .close: Self.message("close")
        }
    }

    private static func message(
        _ name: String, _ members: [String: JSONValue] = [:], _ keys: [String]? = nil
    ) -> JSONValue {
        var members = members
        members["event"] = .string(name)
        if let keys { members["keys"] = JSONValue(strings: keys) }
        return .object(members)
    }

    /// Reads what a session is told.
    ///
    /// - Throws: `KeyScenarioError` for what data/scenarios/PROTOCOL.md does not allow.
    package init(message: JSONValue?) throws(KeyScenarioError) {
        let reader = try ScenarioObject(message, "event", unit: .microseconds)
        self = try KeyEvent(message ?? .null, reader, "event", unit: .microseconds, now: nil)
    }
}

extension KeyAnswer {
    fileprivate var message: JSONValue {
        var members: [String: JSONValue] = [:]
        switch outcome {
        case .key(.online(let validity), let byteCount):
            members["byteCount"] = .init(count: byteCount)
            if let validity { members["validity"] = ProtocolTime.json(validity) }
        case .key(.persistable(let storage, let playback), let byteCount):
            members["byteCount"] = .init(count: byteCount)
            members["storage"] = ProtocolTime.json(storage)
            members["playback"] = ProtocolTime.json(playback)
        case .failure(let failure): members = failure.members
        }
        members["key"] = .string(identifier)
        return .object(members)
    }
}

extension KeyFailure {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["failure": .string(name)]
        if case .busy(let retryAfter?) = self { members["retryAfter"] = ProtocolTime.json(retryAfter) }
        return members
    }
}

extension StoredKey {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "key": .string(identifier), "device": .string(device), "generation": .init(count: generation),
            "storage": ProtocolTime.json(storage), "playback": ProtocolTime.json(playback),
            "receivedAt": ProtocolTime.json(receivedAt), "lastSeen": ProtocolTime.json(lastSeen),
        ]
        if let firstUse { members["firstUse"] = ProtocolTime.json(firstUse) }
        return members
    }
}

extension KeyPolicy {
    /// The policy as a session in another process is told of it, with every member.
    var message: JSONValue {
        [
            "timeLimit": ProtocolTime.json(deadline), "patience": ProtocolTime.json(idleTimeout),
            "attempts": .init(count: attempts), "firstPause": ProtocolTime.json(firstPause),
            "longestPause": ProtocolTime.json(longestPause), "gatherTime": ProtocolTime.json(gatherTime),
            "mostInBatch": .init(count: maxBatchCount), "dispersalWindow": ProtocolTime.json(dispersalWindow),
            "leadTime": ProtocolTime.json(leadTime), "refusalMemory": ProtocolTime.json(refusalMemory),
            "clockTolerance": ProtocolTime.json(clockTolerance),
        ]
    }
}

package import Keys
package import Support

/// A script for a session, with a clock of its own, and what the session must do.
///
/// Source: data/schemas/scenarios.json.
package struct KeyScenario: Hashable, Sendable {
    /// What happens, and when.
    package struct Step: Hashable, Sendable {
        /// Milliseconds from the start.
        package let milliseconds: UInt64
        /// What the world does.
        package let happening: Happening
    }

    /// What the world does.
    package enum Happening: Hashable, Sendable {
        /// Something that a session is told.
        case event(KeyEvent)
        /// The wall clock is set, by so many milliseconds.
        case setClock(Int64)
    }

    /// What a session must do, and when.
    package struct Expectation: Hashable, Sendable {
        /// Milliseconds from the start: no earlier than the first, no later than the second.
        package let milliseconds: ClosedRange<UInt64>
        /// The action, as ``KeyAction/json`` has it.
        package let action: JSONValue
    }

    /// When all scenarios start, by the clock on the wall: 2023-11-14 22:13:20 UTC.
    package static let start = Duration.seconds(1_700_000_000)

    /// The file's name without `.json`.
    package let name: String
    /// What the scenario is about.
    package let title: String
    /// How keys are asked for.
    package let policy: KeyPolicy
    /// The session's device.
    package let device: String
    /// What jitter follows from.
    package let seed: UInt64
    /// When the script ends; what falls due until then is done.
    package let endMilliseconds: UInt64
    /// What happens, in order.
    package let steps: [Step]
    /// What must follow, in order, and nothing else.
    package let expectations: [Expectation]
}

/// Why a scenario cannot be run.
package struct KeyScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, the place, what was expected.
    package let description: String

    init(_ place: String, _ message: String) {
        self.description = "\(place): \(message)"
    }
}

extension KeyScenario.Step {
    private static let members = [
        "at", "event", "reader", "read", "keys", "key", "exchange", "answers", "failure", "retryAfter", "appearsIn",
        "route", "acceptsPersistable", "by", "back", "device", "generation", "storage", "playback", "receivedAgo",
        "usedAgo", "seenAgo", "seenAhead",
    ]

    /// Reads a step.
    ///
    /// - Throws: `KeyScenarioError`.
    init(_ json: JSONValue, _ place: String) throws(KeyScenarioError) {
        let reader = try ScenarioObject(json, place, members: Self.members)
        milliseconds = try reader.number("at")
        if try reader.text("event") == "setClock" {
            let by = Int64(try reader.number("by", maximum: 1 << 40))
            happening = .setClock(json["back"] == true ? -by : by)
        } else {
            let now = KeyScenario.start + .milliseconds(Int64(milliseconds))
            happening = .event(try KeyEvent(json, reader, place, unit: .milliseconds, now: now))
        }
    }
}

extension KeyEvent {
    /// Reads an event, of a scenario or of the protocol.
    ///
    /// - Parameters:
    ///   - json: The event.
    ///   - reader: The same.
    ///   - place: What errors call it.
    ///   - unit: What times are whole numbers of.
    ///   - now: What times ago are counted from; `nil` where times are those of the clock on the wall.
    /// - Throws: `KeyScenarioError`.
    init(
        _ json: JSONValue, _ reader: ScenarioObject, _ place: String, unit: ScenarioObject.Unit, now: Duration?
    ) throws(KeyScenarioError) {
        let name = try reader.text("event")
        switch name {
        case "want":
            self = .want(reader: Int(try reader.number("reader")), identifiers: try reader.texts("keys"))
        case "abandon": self = .abandon(reader: Int(try reader.number("reader")))
        case "preload": self = .preload(try reader.texts("keys"))
        case "persist": self = .persist(try reader.texts("keys"))
        case "retire": self = .retire(try reader.texts("keys"))
        case "rotation":
            self = .rotation(identifier: try reader.text("key"), appearsIn: try reader.requiredTime("appearsIn"))
        case "answer":
            var answers: [KeyAnswer] = []
            for (index, answer) in (json["answers"]?.array ?? []).enumerated() {
                answers.append(try KeyAnswer(answer, "\(place): answer \(index + 1)", unit))
            }
            self = .answered(exchange: Int(try reader.number("exchange")), answers)
        case "fail":
            self = .exchangeFailed(
                exchange: Int(try reader.number("exchange")), try KeyFailure(reader, place))
        case "route":
            self = .routeChanged(
                KeyRoute(try reader.text("route"), acceptsPersistable: try reader.bool("acceptsPersistable")))
        case "networkLost": self = .networkLost
        case "networkFound": self = .networkFound
        case "found": self = .found(try StoredKey(reader, now: now))
        case "tick" where now == nil: self = .tick
        case "readBegan":
            self = .readBegan(read: Int(try reader.number("read")), identifier: try reader.text("key"))
        case "readEnded": self = .readEnded(read: Int(try reader.number("read")))
        case "close": self = .close
        default: throw KeyScenarioError(place, "event \"\(name)\": expected one of data/schemas/scenarios.json")
        }
    }
}

extension StoredKey {
    /// Reads the members of a stored key, with times of the clock on the wall.
    fileprivate init(_ reader: ScenarioObject) throws(KeyScenarioError) {
        self.init(
            identifier: try reader.text("key"), device: try reader.text("device"),
            generation: Int(try reader.number("generation", maximum: 1 << 31)),
            storage: try reader.requiredTime("storage"), playback: try reader.requiredTime("playback"),
            receivedAt: try reader.requiredTime("receivedAt"), firstUse: try reader.time("firstUse"),
            lastSeen: try reader.requiredTime("lastSeen"))
    }

    fileprivate init(_ reader: ScenarioObject, now: Duration?) throws(KeyScenarioError) {
        guard let now else {
            try self.init(reader)
            return
        }
        let ahead = try reader.time("seenAhead")
        let seenAgo = try reader.time("seenAgo") ?? .zero
        let receivedAgo = try reader.requiredTime("receivedAgo")
        let usedAgo = try reader.time("usedAgo")
        self.init(
            identifier: try reader.text("key"), device: try reader.text("device"),
            generation: Int(try reader.number("generation", maximum: 1 << 31)),
            storage: try reader.requiredTime("storage"), playback: try reader.requiredTime("playback"),
            receivedAt: now - receivedAgo, firstUse: usedAgo.map { now - $0 },
            lastSeen: ahead.map { now + $0 } ?? now - seenAgo)
    }
}

extension KeyAnswer {
    fileprivate init(
        _ json: JSONValue, _ place: String, _ unit: ScenarioObject.Unit
    ) throws(KeyScenarioError) {
        let reader = try ScenarioObject(
            json, place, members: ["key", "byteCount", "validity", "storage", "playback", "failure", "retryAfter"],
            unit: unit)
        let identifier = try reader.text("key")
        guard json["failure"] == nil else {
            self.init(identifier, .failure(try KeyFailure(reader, place)))
            return
        }
        let count = json["byteCount"] == nil ? 16 : Int(try reader.number("byteCount", maximum: 1 << 20))
        let terms: KeyTerms =
            if let storage = try reader.time("storage") {
                .persistable(storage: storage, playback: try reader.requiredTime("playback"))
            } else {
                .online(validity: try reader.time("validity"))
            }
        self.init(identifier, .key(terms, byteCount: count))
    }
}

extension KeyFailure {
    /// Reads the member `failure` of an answer: what providers can fail with.
    fileprivate init(_ reader: ScenarioObject, _ place: String) throws(KeyScenarioError) {
        let name = try reader.text("failure")
        switch name {
        case "unreachable": self = .unreachable(reason: "as the scenario says")
        case "busy": self = .busy(retryAfter: try reader.time("retryAfter"))
        case "refused": self = .refused(reason: "as the scenario says")
        case "missing": self = .missing
        case "tampered": self = .tampered
        case "replayed": self = .replayed
        default:
            throw KeyScenarioError(
                place, "failure \"\(name)\": expected unreachable, busy, refused, missing, tampered or replayed")
        }
    }
}

package import Keys
package import Support

extension KeyScenario {
    /// The max length of a script in milliseconds: two years.
    fileprivate static let longest: UInt64 = 2 * 366 * 86_400_000

    /// The max number of steps in a script, and therefore of a session's answers.
    private static let maxSteps = 10_000

    /// Reads a scenario. Source: data/schemas/scenarios.json.
    ///
    /// - Parameters:
    ///   - json: The file's value; `nil` if it is not JSON.
    ///   - file: The file's name in errors.
    /// - Throws: `KeyScenarioError` if the value violates the schema.
    package init(_ json: JSONValue?, file: String) throws(KeyScenarioError) {
        let reader = try ScenarioObject(
            json, file,
            members: ["schema", "name", "title", "policy", "device", "seed", "end", "steps", "expect"])
        guard reader["schema"] == 1 else { throw reader.error("schema: expected 1") }
        name = try reader.text("name")
        title = try reader.text("title")
        device = try reader.text("device")
        seed = try reader.number("seed")
        policy = try KeyPolicy(reader["policy"], "\(file): policy", unit: .milliseconds)
        endMilliseconds = try reader.number("end", maximum: Self.longest)
        var steps: [Step] = []
        for step in try reader.objects("steps", each: "step", members: Step.members) {
            steps.append(try Step(step, from: steps.last?.milliseconds ?? 0, to: endMilliseconds))
        }
        guard !steps.isEmpty else { throw reader.error("steps: expected at least one") }
        self.steps = steps
        expectations = try reader.objects("expect", each: "expectation").map(Expectation.init)
        // Each step sets the clock by less than 35 years; the sum of all steps must still be a representable time.
        guard steps.count <= Self.maxSteps else {
            throw reader.error("\(steps.count) steps: expected at most \(Self.maxSteps)")
        }
        guard !expectations.isEmpty else { throw reader.error("expect: expected at least one") }
    }
}

extension KeyScenario.Step {
    fileprivate static let members = [
        "at", "event", "reader", "read", "keys", "key", "exchange", "answers", "failure", "retryAfter", "appearsIn",
        "route", "acceptsPersistable", "by", "back", "device", "generation", "storage", "playback", "receivedAgo",
        "usedAgo", "seenAgo", "seenAhead",
    ]

    /// Reads a step. Its time must lie between that of the step before and the end.
    fileprivate init(_ reader: ScenarioObject, from start: UInt64, to end: UInt64) throws(KeyScenarioError) {
        milliseconds = try reader.number("at")
        if try reader.text("event") == "setClock" {
            let by = Int64(try reader.number("by", maximum: 1 << 40))
            happening = .setClock(reader["back"] == true ? -by : by)
        } else {
            happening = .event(try KeyEvent(reader, now: KeyScenario.start + .milliseconds(Int64(milliseconds))))
        }
        guard start <= milliseconds, milliseconds <= end else {
            throw reader.error("expected times in order, up to \"end\"")
        }
    }
}

extension KeyScenario.Expectation {
    fileprivate init(_ reader: ScenarioObject) throws(KeyScenarioError) {
        guard reader["action"]?.string != nil else { throw reader.error("expected a text \"action\"") }
        let longest = KeyScenario.longest
        switch reader["at"] {
        case .integer(let time)? where time <= longest: milliseconds = time...time
        case .integer(let time)?: throw reader.error("at: \(time): expected at most \(longest) milliseconds")
        case .array(let times)?:
            guard times.count == 2, let low = times[0].integer, let high = times[1].integer, low <= high,
                high <= longest
            else {
                throw reader.error("at: expected two numbers in order, up to \(longest)")
            }
            milliseconds = low...high
        default: throw reader.error("at: expected milliseconds, or the first and the last of them")
        }
        action = reader.json(without: "at")
    }
}

extension KeyPolicy {
    /// The members that are times.
    private static let times: [(name: String, value: WritableKeyPath<KeyPolicy, Duration> & Sendable)] = [
        ("timeLimit", \.deadline), ("patience", \.idleTimeout), ("firstPause", \.firstPause),
        ("longestPause", \.longestPause), ("gatherTime", \.gatherTime), ("dispersalWindow", \.dispersalWindow),
        ("leadTime", \.leadTime), ("refusalMemory", \.refusalMemory), ("clockTolerance", \.clockTolerance),
    ]
    /// The members that are counts, of at least 1.
    private static let counts: [(name: String, value: WritableKeyPath<KeyPolicy, Int> & Sendable)] = [
        ("attempts", \.attempts), ("mostInBatch", \.maxBatchCount),
    ]

    /// Reads a policy. Absent members have their defaults.
    init(_ json: JSONValue?, _ location: String, unit: ScenarioObject.Unit) throws(KeyScenarioError) {
        self.init()
        let reader = try ScenarioObject(
            json, location, members: Self.times.map(\.name) + Self.counts.map(\.name), unit: unit)
        for (name, value) in Self.times {
            if let time = try reader.time(name) { self[keyPath: value] = time }
        }
        for (name, value) in Self.counts where reader[name] != nil {
            self[keyPath: value] = max(1, try reader.count(name, maximum: 1000))
        }
    }

    /// The policy in the form for a session in another process, with every member.
    var message: JSONValue {
        var members: [String: any Encodable] = [:]
        for (name, value) in Self.times { members[name] = ProtocolTime.microseconds(self[keyPath: value]) }
        for (name, value) in Self.counts { members[name] = self[keyPath: value] }
        return JSONValue(members: members)
    }
}

extension KeyAction {
    /// The action in the form of scenarios.
    package var json: JSONValue {
        switch self {
        case .ask(let query):
            Self.json(
                "ask", exchange: query.exchange,
                others: [
                    "keys": query.identifiers, "route": query.route.name, "persistable": query.wantsPersistable,
                ])
        case .cancel(let exchange): Self.json("cancel", exchange: exchange)
        case .keep(let exchange, let key, let kind): Self.json("keep", exchange: exchange, key: key, kind: kind)
        case .adopt(let stored): Self.json("adopt", key: stored.identifier, generation: stored.generation)
        case .forget(let key, let kind): Self.json("forget", key: key, kind: kind)
        case .deliver(let reader, let key, let kind): Self.json("deliver", reader: reader, key: key, kind: kind)
        case .report(let reader, let key, let failure):
            Self.json("report", reader: reader, key: key, failure: failure)
        case .refuse(let reader, let key, let failure):
            Self.json("refuse", reader: reader, key: key, failure: failure)
        case .store(let stored):
            Self.json(
                "store", key: stored.identifier, generation: stored.generation,
                others: ["used": stored.firstUse != nil])
        case .erase(let key, let generation): Self.json("erase", key: key, generation: generation)
        case .permit(let read, let kind, _, _): Self.json("permit", read: read, kind: kind)
        case .endRead(let read, let failure): Self.json("endRead", read: read, failure: failure)
        case .notice(let notice): Self.json(notice)
        }
    }

    private static func json(_ notice: KeyNotice) -> JSONValue {
        switch notice {
        case .unexpectedAnswer(let exchange): json("notice", notice: "unexpectedAnswer", exchange: exchange)
        case .unaskedKey(let exchange, let key): json("notice", notice: "unaskedKey", exchange: exchange, key: key)
        case .notPreloaded(let key, let failure): json("notice", notice: "notPreloaded", key: key, failure: failure)
        case .storedUnusable(let key, let failure):
            json("notice", notice: "storedUnusable", key: key, failure: failure)
        case .storageFailed(let key, _): json("notice", notice: "storageFailed", key: key)
        case .clockSetBack: json("notice", notice: "clockSetBack")
        }
    }

    /// Returns an action with those common members that are not `nil`.
    private static func json(
        _ action: String, notice: String? = nil, exchange: Int? = nil, reader: Int? = nil, read: Int? = nil,
        key: String? = nil, kind: KeyKind? = nil, generation: Int? = nil, failure: KeyFailure? = nil,
        others: [String: any Encodable] = [:]
    ) -> JSONValue {
        let texts = [
            "action": action, "notice": notice, "key": key, "kind": kind?.rawValue, "failure": failure?.name,
        ]
        let numbers = ["exchange": exchange, "reader": reader, "read": read, "generation": generation]
        let others = others.merging(texts.compactMapValues(\.self)) { $1 }
        return JSONValue(members: others.merging(numbers.compactMapValues(\.self)) { $1 })
    }
}

package import Keys
package import Support

extension KeyScenario {
    /// The longest script: two years.
    private static let longest: UInt64 = 2 * 366 * 86_400_000

    /// Reads a scenario. Source: data/schemas/scenarios.json.
    ///
    /// - Parameters:
    ///   - json: The file's value, or `nil` if it is no JSON.
    ///   - file: What errors call it.
    /// - Throws: `KeyScenarioError` for what the schema does not allow.
    package init(_ json: JSONValue?, file: String) throws(KeyScenarioError) {
        let reader = try ScenarioObject(
            json, file,
            members: ["schema", "name", "title", "policy", "device", "seed", "end", "steps", "expect"])
        guard json?["schema"] == 1 else { throw KeyScenarioError(file, "schema: expected 1") }
        name = try reader.text("name")
        title = try reader.text("title")
        device = try reader.text("device")
        seed = try reader.number("seed")
        policy = try KeyPolicy(json?["policy"], "\(file): policy", unit: .milliseconds)
        endMilliseconds = try reader.number("end", maximum: Self.longest)
        var steps: [Step] = []
        for (index, step) in (json?["steps"]?.array ?? []).enumerated() {
            let step = try Step(step, "\(file): step \(index + 1)")
            guard step.milliseconds >= steps.last?.milliseconds ?? 0, step.milliseconds <= endMilliseconds else {
                throw KeyScenarioError("\(file): step \(index + 1)", "expected times in order, up to \"end\"")
            }
            steps.append(step)
        }
        guard !steps.isEmpty else { throw KeyScenarioError(file, "steps: expected at least one") }
        self.steps = steps
        var expectations: [Expectation] = []
        for (index, expectation) in (json?["expect"]?.array ?? []).enumerated() {
            expectations.append(try Expectation(expectation, "\(file): expectation \(index + 1)"))
        }
        guard !expectations.isEmpty else { throw KeyScenarioError(file, "expect: expected at least one") }
        self.expectations = expectations
    }
}

extension KeyScenario.Expectation {
    fileprivate init(_ json: JSONValue, _ place: String) throws(KeyScenarioError) {
        guard case .object(var members) = json, members["action"]?.string != nil else {
            throw KeyScenarioError(place, "expected an object with a text \"action\"")
        }
        switch members.removeValue(forKey: "at") {
        case .integer(let time)?: milliseconds = time...time
        case .array(let times)?:
            guard times.count == 2, let low = times[0].integer, let high = times[1].integer, low <= high else {
                throw KeyScenarioError(place, "at: expected two numbers in order")
            }
            milliseconds = low...high
        default: throw KeyScenarioError(place, "at: expected milliseconds, or the first and the last of them")
        }
        action = .object(members)
    }
}

extension KeyPolicy {
    /// Reads a policy; what is absent is as it is by itself.
    init(_ json: JSONValue?, _ place: String, unit: ScenarioObject.Unit) throws(KeyScenarioError) {
        self.init()
        let reader = try ScenarioObject(
            json, place,
            members: [
                "timeLimit", "patience", "attempts", "firstPause", "longestPause", "gatherTime", "mostInBatch",
                "dispersalWindow", "leadTime", "refusalMemory", "clockTolerance",
            ], unit: unit)
        if let time = try reader.time("timeLimit") { deadline = time }
        if let time = try reader.time("patience") { idleTimeout = time }
        if let time = try reader.time("firstPause") { firstPause = time }
        if let time = try reader.time("longestPause") { longestPause = time }
        if let time = try reader.time("gatherTime") { gatherTime = time }
        if let time = try reader.time("dispersalWindow") { dispersalWindow = time }
        if let time = try reader.time("leadTime") { leadTime = time }
        if let time = try reader.time("refusalMemory") { refusalMemory = time }
        if let time = try reader.time("clockTolerance") { clockTolerance = time }
        if json?["attempts"] != nil { attempts = max(1, Int(try reader.number("attempts", maximum: 1000))) }
        if json?["mostInBatch"] != nil { maxBatchCount = max(1, Int(try reader.number("mostInBatch", maximum: 1000))) }
    }
}

extension KeyAction {
    /// The action as scenarios have it.
    package var json: JSONValue {
        switch self {
        case .ask(let query):
            [
                "action": "ask", "exchange": JSONValue(count: query.exchange),
                "keys": JSONValue(strings: query.identifiers), "route": .string(query.route.name),
                "persistable": .bool(query.wantsPersistable),
            ]
        case .cancel(let exchange): ["action": "cancel", "exchange": JSONValue(count: exchange)]
        case .keep(let exchange, let key, let kind):
            [
                "action": "keep", "exchange": JSONValue(count: exchange), "key": .string(key),
                "kind": .string(kind.rawValue),
            ]
        case .adopt(let stored):
            [
                "action": "adopt", "key": .string(stored.identifier),
                "generation": JSONValue(count: stored.generation),
            ]
        case .forget(let key, let kind):
            ["action": "forget", "key": .string(key), "kind": .string(kind.rawValue)]
        case .deliver(let reader, let key, let kind):
            [
                "action": "deliver", "reader": JSONValue(count: reader), "key": .string(key),
                "kind": .string(kind.rawValue),
            ]
        case .report(let reader, let key, let failure):
            [
                "action": "report", "reader": JSONValue(count: reader), "key": .string(key),
                "failure": .string(failure.name),
            ]
        case .refuse(let reader, let key, let failure):
            [
                "action": "refuse", "reader": JSONValue(count: reader), "key": .string(key),
                "failure": .string(failure.name),
            ]
        case .store(let stored):
            [
                "action": "store", "key": .string(stored.identifier),
                "generation": JSONValue(count: stored.generation), "used": .bool(stored.firstUse != nil),
            ]
        case .erase(let key, let generation):
            ["action": "erase", "key": .string(key), "generation": JSONValue(count: generation)]
        case .permit(let read, let kind, _, _):
            ["action": "permit", "read": JSONValue(count: read), "kind": .string(kind.rawValue)]
        case .endRead(let read, let failure):
            ["action": "endRead", "read": JSONValue(count: read), "failure": .string(failure.name)]
        case .notice(let notice): notice.json
        }
    }
}

extension KeyNotice {
    fileprivate var json: JSONValue {
        switch self {
        case .unexpectedAnswer(let exchange):
            ["action": "notice", "notice": "unexpectedAnswer", "exchange": JSONValue(count: exchange)]
        case .unaskedKey(let exchange, let key):
            [
                "action": "notice", "notice": "unaskedKey", "exchange": JSONValue(count: exchange),
                "key": .string(key),
            ]
        case .notPreloaded(let key, let failure):
            ["action": "notice", "notice": "notPreloaded", "key": .string(key), "failure": .string(failure.name)]
        case .storedUnusable(let key, let failure):
            ["action": "notice", "notice": "storedUnusable", "key": .string(key), "failure": .string(failure.name)]
        case .storageFailed(let key, _): ["action": "notice", "notice": "storageFailed", "key": .string(key)]
        case .clockSetBack: ["action": "notice", "notice": "clockSetBack"]
        }
    }
}

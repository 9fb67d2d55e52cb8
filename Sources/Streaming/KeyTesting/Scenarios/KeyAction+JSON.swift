package import Keys
package import Support

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

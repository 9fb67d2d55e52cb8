internal import RandomAccess
internal import Support
internal import Vectors

extension ProtocolCheck {
    /// Requests with two faults: the first in the protocol's order is the answer.
    ///
    /// - Source: PROTOCOL.md, "Transport": request, strategy, key, IV, source, length, padding or tag.
    static func errorOrder(for strategy: Strategy, hello: ExternalHello) -> [ProtocolCheck] {
        let shortKey = JSONValue.string(String(repeating: "00", count: 15))
        let shortIV = JSONValue.string(String(repeating: "11", count: 15))
        let oddLength: JSONValue = ["byteCount": 17]
        var cases: [(String, ErrorName, [String: JSONValue?])] = [
            ("a key of 15 bytes", .invalidKey, ["key": shortKey]), ("no key bytes", .invalidKey, ["key": ""]),
            ("a key of 33 bytes", .invalidKey, ["key": .string(String(repeating: "00", count: 33))]),
            ("an IV of 15 bytes", .invalidIV, ["iv": shortIV]), ("no IV bytes", .invalidIV, ["iv": ""]),
            ("an IV of 17 bytes", .invalidIV, ["iv": .string(String(repeating: "00", count: 17))]),
            ("a short key and a short IV", .invalidKey, ["key": shortKey, "iv": shortIV]),
            ("an upper-case IV and a short key", .invalidRequest, ["key": shortKey, "iv": "AA"]),
            ("no source and a short key", .invalidRequest, ["key": shortKey, "source": nil]),
            ("an unknown strategy", .unsupported, ["strategy": "rot13"]),
            (
                "an unknown strategy and parameters that are none", .unsupported,
                ["strategy": "rot13", "key": 7, "iv": nil, "padding": 1]
            ),
            ("an unknown strategy and no source", .invalidRequest, ["strategy": "rot13", "source": nil]),
            ("an unknown strategy and no id", .invalidRequest, ["strategy": "rot13", "id": nil]),
        ]
        if strategy.mode == .cbc, hello.isServed {
            cases += [
                ("17 bytes of ciphertext", .truncatedCiphertext, ["source": oddLength]),
                ("17 bytes of ciphertext and a short IV", .invalidIV, ["source": oddLength, "iv": shortIV]),
                ("17 bytes of ciphertext and a short key", .invalidKey, ["source": oddLength, "key": shortKey]),
            ]
        }
        if strategy.chunkByteCount != nil {
            cases.append(
                ("chunks of 17 bytes and a short key", .invalidRequest, ["chunkByteCount": 17, "key": shortKey]))
        }
        if hello.readsPaths {
            let nowhere: JSONValue = ["path": "/nonexistent/chunkwise/object"]
            cases += [
                ("a file that is not there", .io, ["source": nowhere]),
                ("a file that is not there and a short IV", .invalidIV, ["source": nowhere, "iv": shortIV]),
                ("a file that is not there and a short key", .invalidKey, ["source": nowhere, "key": shortKey]),
            ]
        } else {
            cases.append(("a path", .unsupported, ["source": ["path": "/etc/hostname"]]))
        }
        if !hello.isServed { cases.append(("a served source", .unsupported, ["source": ["byteCount": 32]])) }
        for byteCount in [16, 24, 32] where !hello.keyByteCounts.contains(UInt64(byteCount)) {
            let key = JSONValue.string(String(repeating: "42", count: byteCount))
            cases.append(("a key of \(byteCount) bytes, which hello does not list", .unsupported, ["key": key]))
        }
        for name in ExternalHello.knownStrategies where !hello.strategies.contains(name) {
            cases.append(("the strategy \(name), which hello does not list", .unsupported, ["strategy": .string(name)]))
        }
        return cases.map { name, error, changes in
            ProtocolCheck(name: "\(strategy.name) open with \(name)", flag: .errorOrder) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                try probe.expect(error, .object(probe.openRequest(id, changes)), "open with \(name)")
                try probe.open(id, "a good open under the same id")
                if changes["id"] == nil {
                    // The id is looked at before all that: it is part of the request.
                    try probe.expect(
                        .invalidRequest, .object(probe.openRequest(id, changes)), "the same under an id in use")
                }
            }
        }
    }

    /// An object that does not open for what its source holds or does: the id stays free.
    static func faultyOpenings() -> [ProtocolCheck] {
        [(ServedCiphertext.Fault.failure, ErrorName.io), (.end(at: 1), .truncatedCiphertext)].map { fault, error in
            ProtocolCheck(
                name: error == .io ? "open from a source that fails" : "open from a source that ends early",
                flag: error == .io ? .sourceFailure : .sourceEndsEarly
            ) { probe throws(ProtocolProbe.Complaint) in
                guard let object = try? ExternalObject(probe.fixture, session: probe.session, hello: probe.hello) else {
                    return
                }
                let outcome = object.open(fault)
                let isHit = object.served?.hasFaulted ?? false
                // A subject that fetches nothing to open an object meets no fault.
                guard isHit else { return }
                if let text = ExternalGroupRun.mismatch(in: outcome, expecting: .fails(error)) {
                    throw ProtocolProbe.Complaint(text: text)
                }
                guard case .answered = object.openAgain() else {
                    throw ProtocolProbe.Complaint(text: "open after it, under the same id: expected success")
                }
                object.close()
            }
        }
    }

    /// How the subject ends. Each in a process of its own.
    static func endings() -> [ProtocolCheck] {
        [
            ProtocolCheck(name: "bye", flag: .ending) { probe throws(ProtocolProbe.Complaint) in
                do {
                    try probe.session.start().process.end()
                } catch {
                    throw ProtocolProbe.Complaint(text: "bye: \(error): expected an answer and then status 0")
                }
            },
            ProtocolCheck(name: "end of input", flag: .ending) { probe throws(ProtocolProbe.Complaint) in
                do {
                    try probe.session.start().process.endInput()
                } catch {
                    throw ProtocolProbe.Complaint(text: "end of input: \(error)")
                }
            },
        ]
    }
}

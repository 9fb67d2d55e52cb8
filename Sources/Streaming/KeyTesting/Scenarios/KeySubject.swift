import Keys
package import SubjectProtocol
import Support

/// Our session, or one with an injected fault, for a program that speaks the protocol. Source:
/// data/scenarios/PROTOCOL.md.
package struct KeySubject {
    private let fault: KeyMutant?
    private var sessions: [UInt64: any ScenarioSubject<Never>] = [:]

    /// The reason for an error answer.
    private struct ErrorReply: Error {
        let name: String
        let message: String

        static func invalid(_ message: String) -> ErrorReply { ErrorReply(name: "invalidRequest", message: message) }
    }

    /// - Parameter fault: The fault of all its sessions; `nil` for none.
    package init(fault: KeyMutant?) {
        self.fault = fault
    }

    /// Answers requests until the input ends or a `bye` arrives.
    package mutating func run(_ pipe: PipeEnd) {
        while let line = pipe.readLine() {
            let request = JSONValue.parse(line)
            if let count = request?["payload"]?.integer, !pipe.skip(count) { return }
            let answer: JSONValue
            do throws(ErrorReply) {
                answer = .object(try self.answer(request).merging(["ok": true]) { first, _ in first })
            } catch {
                answer = ["ok": false, "error": .string(error.name), "message": .string(error.message)]
            }
            let isTaken = answer.line.withUnsafeBytes { pipe.writeAll($0) }
            guard isTaken, request?["op"]?.string != "bye" else { return }
        }
    }

    private mutating func answer(_ request: JSONValue?) throws(ErrorReply) -> [String: JSONValue] {
        guard let request, case .object = request else { throw .invalid("expected a JSON object") }
        switch request["op"]?.string {
        case "hello":
            guard request["protocol"]?.integer == 1 else {
                throw ErrorReply(name: "unsupported", message: "protocol: expected 1")
            }
            let name = "chunkwise" + (fault.map { " with the fault \($0.rawValue)" } ?? "")
            return ["protocol": 1, "name": .string(name), "version": "1", "strategies": [], "keySessions": 2]
        case "session": return try open(request)
        case "event": return try tell(request)
        case "close":
            guard sessions.removeValue(forKey: try id(request)) != nil else {
                throw .invalid("id: expected an open one")
            }
            return [:]
        case "bye": return [:]
        default: throw .invalid("op: expected hello, session, event, close or bye")
        }
    }

    private func id(_ request: JSONValue) throws(ErrorReply) -> UInt64 {
        guard let id = request["id"]?.integer else { throw .invalid("id: expected a number") }
        return id
    }

    private mutating func open(_ request: JSONValue) throws(ErrorReply) -> [String: JSONValue] {
        let id = try id(request)
        guard sessions[id] == nil else { throw .invalid("id \(id) is in use: expected another one") }
        do throws(KeyScenarioError) {
            let reader = try ScenarioObject(request, "session", unit: .microseconds)
            let policy = try KeyPolicy(request["policy"], "policy", unit: .microseconds)
            let (device, seed) = (try reader.text("device"), try reader.number("seed"))
            sessions[id] =
                if let fault {
                    MutantSession(fault, policy: policy, device: device, seed: seed)
                } else {
                    KeyMachine(policy: policy, device: device, seed: seed)
                }
        } catch {
            throw .invalid(error.description)
        }
        return [:]
    }

    private mutating func tell(_ request: JSONValue) throws(ErrorReply) -> [String: JSONValue] {
        let id = try id(request)
        guard sessions[id] != nil else { throw .invalid("id \(id): expected an open one") }
        let event: KeyEvent
        let now: ClockSample
        do throws(KeyScenarioError) {
            let reader = try ScenarioObject(request, "event", unit: .microseconds)
            now = ClockSample(
                monotonic: try reader.requiredTime("monotonic"), wall: try reader.requiredTime("wall"))
            event = try KeyEvent(message: request["event"])
        } catch {
            throw .invalid(error.description)
        }
        let actions = sessions[id]?.actions(after: event, at: now) ?? []
        var answer: [String: JSONValue] = ["actions": .array(actions)]
        if let deadline = sessions[id]?.nextDeadline {
            answer["deadline"] = .integer(ProtocolTime.microseconds(deadline))
        }
        return answer
    }
}

import Foundation
import HTTPSources
import KeyExchanges
import Keys
import TestSupport
import Testing

/// Exchanges of which each has a fault at a random place: the right keys come, or a named error.
@Suite("key exchanges with faults", .serialized)
struct KeyExchangeFaultTests {
    private static let count = 500
    private static let identifiers = ["mykey://film/a", "b"]

    /// The outcome of one exchange: "keys", the name of a failure, or what is wrong.
    private static func outcome(_ exchange: KeyServerExchange) async -> String {
        do throws(KeyFailure) {
            let query = KeyQuery(
                exchange: 1, identifiers: identifiers, route: .local, wantsPersistable: false)
            let keys = try await exchange.answer(query).map { try? $0.key.get().withUnsafeBytes { Array($0) } }
            return keys == [KeyServerProcess.keys["a"], KeyServerProcess.keys["b"]] ? "keys" : "WRONG KEYS"
        } catch {
            let text = "\(error)"
            for key in KeyServerProcess.keys.values where text.contains(ServerProcess.hexadecimal(key)) {
                return "LEAK"
            }
            return error.name
        }
    }

    @Test(
        "a fault at a random place ends in the right keys or a named error",
        .enabled(if: KeyServerTests.openssl != nil), arguments: [false, true])
    func faults(_ isSecure: Bool) async throws {
        let server = try KeyServerProcess(
            ["--rate", "1e6", "--burst", "1000000"] + (isSecure ? KeyServerTests.tls : ["--identity", "identity"]),
            folder: KeyServerTests.certifiedFolder())
        let certificate = server.folder.path("tls.pem")
        let (url, port, token) = (server.url, server.server.port, server.token)
        var random = SeededGenerator(state: isSecure ? 2 : 1)
        // Places up to a little behind the end of what is said.
        let plans = (0..<Self.count).map { _ in
            let isAnswer = Bool.random(using: &random)
            let maximum = isSecure ? (isAnswer ? 2400 : 1500) : (isAnswer ? 480 : 420)
            return FaultyRelay.Plan(
                fault: FaultyRelay.Fault.allCases.randomElement(using: &random) ?? .cut, isAnswer: isAnswer,
                place: Int.random(in: 0..<maximum, using: &random), bit: 1 << UInt8.random(in: 0..<8, using: &random))
        }
        // Some faults leave both ends waiting for each other: many wait at a time.
        let outcomes = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            var outcomes: [String: Int] = [:]
            var next = 0
            func start() {
                guard next < Self.count else { return }
                let number = next
                next += 1
                group.addTask {
                    // A connection of its own each time.
                    let relay = try FaultyRelay(to: port)
                    relay.set(plans[number])
                    var options = KeyServerExchange.Options()
                    options.token = token
                    options.policy = TLSPolicy(roots: .file(certificate))
                    if !isSecure { options.serverKey = KeyServerExchangeTests.peerKey }
                    options.deadline = .seconds(3)
                    let own = url.replacing(":\(port)/", with: ":\(relay.port)/")
                    return (number, await Self.outcome(try KeyServerExchange(own, options: options)))
                }
            }
            for _ in 0..<50 { start() }
            for try await (number, outcome) in group {
                outcomes[outcome, default: 0] += 1
                let isNamed = outcome.first?.isLowercase ?? false
                #expect(isNamed, "exchange \(number): \(outcome) after \(plans[number])")
                start()
            }
            return outcomes
        }
        #expect(outcomes.values.reduce(0, +) == Self.count)
        // And it still gives out keys.
        let exchange = try server.exchange {
            $0.policy = TLSPolicy(roots: .file(certificate))
            if !isSecure { $0.serverKey = KeyServerExchangeTests.peerKey }
        }
        #expect(await Self.outcome(exchange) == "keys")
        let written = Data((server.audit + server.server.errors).utf8)
        for key in KeyServerProcess.keys.values {
            #expect(written.range(of: Data(key)) == nil)
            #expect(written.range(of: Data(ServerProcess.hexadecimal(key).utf8)) == nil)
        }
    }
}

/// The same numbers each time.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

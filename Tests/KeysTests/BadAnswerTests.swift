import HLS
import Keys
import RandomAccess
import Synchronization
import Testing

/// An exchange whose answer is what a test says, made from what was asked for.
private struct BadExchange: KeyExchange {
    let make: @Sendable (KeyQuery) throws(KeyFailure) -> [ExchangedKey]

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] { try make(query) }
}

/// A provider whose error is what a test says.
private struct BadProvider: KeyProvider {
    let error: KeyError

    func key(for uri: String) throws(KeyError) -> ProvidedKey { throw error }
}

private func key(_ count: Int) -> SecretKey {
    guard let key = try? SecretKey(material: [UInt8](repeating: 0x5E, count: count)) else {
        preconditionFailure("\(count) bytes")
    }
    return key
}

/// An answer that must not be used.
struct BadAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let failure: KeyFailure
    let make: @Sendable (KeyQuery) throws(KeyFailure) -> [ExchangedKey]
}

@Suite("bad input")
struct BadAnswerTests {
    static let identifier = "https://someone:hunter2@host.example/film.key?token=5ecret"

    static let answers: [BadAnswer] =
        [1, 8, 15].map { count in
            BadAnswer(testDescription: "too short: \(count)", failure: .wrongLength(byteCount: count)) {
                (query) throws(KeyFailure) in [ExchangedKey(query.identifiers[0], key: key(count))]
            }
        }
        + [17, 24, 32, 1000].map { count in
            BadAnswer(testDescription: "too long: \(count)", failure: .wrongLength(byteCount: count)) {
                (query) throws(KeyFailure) in [ExchangedKey(query.identifiers[0], key: key(count))]
            }
        }
        + [
            BadAnswer(testDescription: "for another identifier", failure: .otherIdentifier) {
                (_) throws(KeyFailure) in [ExchangedKey("https://host.example/other.key", key: key(16))]
            },
            BadAnswer(testDescription: "for nearly the same one", failure: .otherIdentifier) {
                (query) throws(KeyFailure) in [ExchangedKey(query.identifiers[0] + "&", key: key(16))]
            },
            BadAnswer(testDescription: "empty", failure: .missing) { (_) throws(KeyFailure) in [] },
            BadAnswer(testDescription: "replayed", failure: .replayed) { (query) throws(KeyFailure) in
                [ExchangedKey(query.identifiers[0], failure: .replayed)]
            },
            BadAnswer(testDescription: "replayed, all of it", failure: .replayed) { (_) throws(KeyFailure) in
                throw .replayed
            },
            BadAnswer(testDescription: "tampered with", failure: .tampered) { (query) throws(KeyFailure) in
                [ExchangedKey(query.identifiers[0], failure: .tampered)]
            },
            BadAnswer(testDescription: "tampered with, all of it", failure: .tampered) { (_) throws(KeyFailure) in
                throw .tampered
            },
        ]

    @Test("an answer that must not be used is a named error at once, and no key is there", arguments: answers)
    func bad(_ answer: BadAnswer) async throws {
        let session = KeySession(
            exchange: BadExchange(make: answer.make), device: "d", seed: 1, clock: ManualClock())
        await #expect(throws: answer.failure) { try await session.key(for: Self.identifier) }
        await #expect(throws: KeyFailure.self) { try await session.beginRead(with: Self.identifier) }
        #expect(!answer.failure.isPassing)
        expectSilence("\(answer.failure) \(await session.notices)")
    }

    @Test("the answer to one question is none to the next: it comes once, for one exchange")
    func doubled() async throws {
        let session = KeySession(
            exchange: BadExchange { (query) throws(KeyFailure) in
                [ExchangedKey("a", key: key(16)), ExchangedKey("a", key: key(16))]
            }, device: "d", seed: 1, clock: ManualClock())
        _ = try await session.key(for: "a")
        #expect(await session.notices == [.unaskedKey(exchange: 1, identifier: "a")])
    }

    @Test(
        "what providers of files and commands say is told on, and never a part of a key",
        arguments: [
            (KeyError.unhandledScheme("skd", handled: ["mykey"]), "no provider handles the scheme \"skd\""),
            (.missing(location: "key file k", reason: "No such file"), "key file k is missing"),
            (.openToOthers(.readableByOthers(path: "k", permissions: 0o644)), "can be read by others"),
            (.commandFailed(command: "c", reason: "ended with status 3"), "key command c ended with status 3"),
            (
                .wrongLength(byteCount: 15, isMore: false, location: "key file k", isHexadecimal: false),
                "has 15 bytes: expected 16"
            ),
        ])
    func provided(_ error: KeyError, _ words: String) async throws {
        let session = KeySession(
            exchange: ProvidedKeys(BadProvider(error: error)), device: "d", seed: 1, clock: ManualClock())
        let failure = await #expect(throws: KeyFailure.self) { try await session.key(for: Self.identifier) }
        #expect("\(try #require(failure))".contains(words))
        #expect(failure?.isPassing == false)
        expectSilence("\(try #require(failure))")
    }

    @Test("whatever is printed of a session shows no user, password, query or key")
    func silence() async throws {
        let reported = Mutex<[String]>([])
        let clock = ManualClock()
        let session = KeySession(
            exchange: BadExchange { (query) throws(KeyFailure) in
                query.identifiers.map { ExchangedKey($0, key: key(16)) }
            }, device: "d", seed: 1, clock: clock,
            reporter: { identifier, failure in reported.withLock { $0.append("\(identifier): \(failure)") } })
        await session.setNetwork(isThere: false)
        let waiting = Task { try await session.key(for: Self.identifier) }
        while reported.withLock({ $0.isEmpty }) { await Task.yield() }
        await session.setNetwork(isThere: true)
        let kept = try await waiting.value
        let lease = try await session.beginRead(with: Self.identifier)
        await session.close()
        let error = #expect(throws: DecryptionError.self) { try lease.permitRead() }
        let notice = KeyNotice.unaskedKey(exchange: 1, identifier: Self.identifier)
        let query = KeyQuery(exchange: 1, identifiers: [Self.identifier], route: .local, wantsPersistable: false)
        let stored = StoredKey(
            identifier: Self.identifier, device: "d", storage: .zero, playback: .zero, receivedAt: .zero,
            lastSeen: .zero)
        let answer = ExchangedKey(Self.identifier, key: kept)
        expectSilence("\(try #require(error)) \(notice) \(query) \(stored) \(answer) \([notice]) \(kept)")
        // The program's own reporter is told the identifier as it is, to tell one from the other.
        #expect(reported.withLock { $0.count } == 1)
    }

    private func expectSilence(_ text: String) {
        for secret in ["someone", "hunter2", "5ecret", "94, 94", "5e5e", "^^"] {
            #expect(!text.contains(secret), "\(text)")
        }
    }
}

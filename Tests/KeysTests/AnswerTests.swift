import RandomAccess
import Testing

@testable import Keys

/// Answers, opened as they were sealed and in every other way.
@Suite("sealed answers")
struct AnswerTests {
    private static let identifiers = ["mykey://film/a", "b?token=1", "ü"]
    private static let keyBytes = [UInt8](0x40..<0x50)

    private static func identity() throws -> ServerIdentity { try ServerIdentity(SecretKey([UInt8](1...32))) }

    private static func request(_ identifiers: [String] = identifiers) -> PendingRequest {
        PendingRequest(identifiers: identifiers, route: "local", wantsPersistable: false, at: 1_000_000)
    }

    private static func answer(
        _ pending: PendingRequest, _ outcomes: [KeyOutcome]? = nil, identity: ServerIdentity? = nil
    ) throws -> [UInt8] {
        let key = try SecretKey(keyBytes)
        let outcomes =
            outcomes ?? [.key(key, .online(validity: .seconds(60))), .missing, .key(key, .online(validity: nil))]
        return try AnswerSealer(identity: identity, lifetimeMilliseconds: 60_000).seal(
            outcomes, for: KeyRequest(pending.bytes), bytes: pending.bytes, at: 1_000_100)
    }

    private static func failure(
        _ pending: PendingRequest, _ answer: [UInt8], elapsed: Duration = .zero, serverKey: [UInt8]? = nil
    ) -> KeyFailure? {
        do throws(KeyFailure) {
            _ = try pending.open(answer, elapsed: elapsed, serverKey: serverKey)
            return nil
        } catch {
            return error
        }
    }

    @Test("a request reads as it was written", arguments: [false, true])
    func requestBytes(_ wantsPersistable: Bool) throws {
        let pending = PendingRequest(
            identifiers: Self.identifiers, route: "living buffer", wantsPersistable: wantsPersistable, at: 42)
        let read = try KeyRequest(pending.bytes)
        #expect(read == pending.request && read.identifiers == Self.identifiers && read.route == "living buffer")
    }

    @Test("an answer says what was sealed", arguments: [false, true])
    func opens(_ isAuthenticated: Bool) throws {
        let identity = isAuthenticated ? try Self.identity() : nil
        let key = try SecretKey(Self.keyBytes)
        let outcomes: [KeyOutcome] = [
            .key(key, .online(validity: .milliseconds(1500))), .key(key, .online(validity: nil)),
            .key(key, .persistable(storage: .seconds(7), playback: .seconds(8))), .missing, .refused,
            .later(.seconds(9)),
        ]
        let pending = Self.request(["a", "b", "c", "d", "e", "f"])
        let keys = try pending.open(
            Self.answer(pending, outcomes, identity: identity), elapsed: .seconds(60), serverKey: identity?.publicKey)
        #expect(keys.map(\.identifier) == ["a", "b", "c", "d", "e", "f"])
        #expect(
            keys.prefix(3).map(\.terms) == [
                .online(validity: .milliseconds(1500)), .online(validity: nil),
                .persistable(storage: .seconds(7), playback: .seconds(8)),
            ])
        for key in keys.prefix(3) { #expect(try key.key.get().withUnsafeBytes { Array($0) } == Self.keyBytes) }
        let failures = keys.suffix(3).map { key in
            do throws(KeyFailure) { _ = try key.key.get() } catch { return error.name }
            return "none"
        }
        #expect(failures == ["missing", "refused", "busy"])
    }

    @Test("a change of any bit, a cut at any byte, and any byte more is a named error", arguments: [false, true])
    func tampered(_ isAuthenticated: Bool) throws {
        let identity = isAuthenticated ? try Self.identity() : nil
        let pending = Self.request()
        let answer = try Self.answer(pending, identity: identity)
        #expect(Self.failure(pending, answer, serverKey: identity?.publicKey) == nil)
        var names: Set<String> = []
        for place in answer.indices {
            for bit in [UInt8(1), 0x80] {
                var changed = answer
                changed[place] ^= bit
                let failure = Self.failure(pending, changed, serverKey: identity?.publicKey)
                let comment: Comment = "bit \(bit) of byte \(place)"
                #expect(failure != nil, comment)
                names.insert(failure?.name ?? "none")
            }
            let cut = Self.failure(pending, Array(answer[..<place]), serverKey: identity?.publicKey)
            #expect(cut?.name == "malformed", "cut after \(place)")
        }
        #expect(Self.failure(pending, answer + [0], serverKey: identity?.publicKey)?.name == "malformed")
        #expect(names.isSuperset(of: ["malformed", "replayed", "otherIdentifier", "tampered"]))
    }

    @Test("what was sealed for another request does not open")
    func replayed() throws {
        let (first, second) = (Self.request(), Self.request())
        let old = try Self.answer(first)
        #expect(Self.failure(second, old) == .replayed)
        // With the new request's number on the old answer.
        var renumbered = old
        renumbered.replaceSubrange(6..<22, with: second.request.number)
        #expect(Self.failure(second, renumbered) == .tampered)
    }

    @Test("a key for another identifier does not open")
    func otherIdentifier() throws {
        let pending = Self.request(["aa", "bb"])
        let key = try SecretKey(Self.keyBytes)
        let answer = try Self.answer(pending, [.key(key, .online(validity: nil)), .key(key, .online(validity: nil))])
        let (head, entry) = (68, 2 + 2 + 1 + 8 + 8 + 2 + 32)
        let (first, second) = (answer[head..<head + entry], answer[(head + entry)...])
        #expect(Self.failure(pending, Array(answer[..<head]) + second + first) == .otherIdentifier)
        // The sealed keys change places, the identifiers do not.
        let swapped =
            Array(answer[..<head]) + first.prefix(23) + second.suffix(32) + second.prefix(23) + first.suffix(32)
        #expect(Self.failure(pending, swapped) == .tampered)
        // One that was not asked for, from a server that would give it.
        var foreign = answer
        foreign.replaceSubrange(head + 2..<head + 4, with: Array("cc".utf8))
        #expect(Self.failure(pending, foreign) == .otherIdentifier)
    }

    @Test("the server's proof can be neither left out nor made by another")
    func proof() throws {
        let identity = try Self.identity()
        let other = try ServerIdentity(SecretKey([UInt8](2...33)))
        let pending = Self.request()
        let base = try Self.answer(pending)
        let proven = try Self.answer(pending, identity: identity)
        #expect(Self.failure(pending, base, serverKey: identity.publicKey)?.name == "malformed")
        #expect(Self.failure(pending, proven)?.name == "malformed")
        #expect(Self.failure(pending, proven, serverKey: other.publicKey) == .tampered)
        var claimed = base
        claimed[5] = 2
        #expect(Self.failure(pending, claimed, serverKey: identity.publicKey) == .tampered)
    }

    @Test("an answer is not opened after its lifetime")
    func late() throws {
        let pending = Self.request()
        let answer = try Self.answer(pending)
        #expect(Self.failure(pending, answer, elapsed: .seconds(60)) == nil)
        #expect(Self.failure(pending, answer, elapsed: .milliseconds(60_001)) == .timedOut(after: .seconds(60)))
    }

    @Test("a key of another length is said to be one", arguments: [24, 32])
    func wrongLength(_ count: Int) throws {
        let pending = Self.request(["a"])
        let key = try SecretKey([UInt8](repeating: 7, count: count))
        let keys = try pending.open(
            Self.answer(pending, [.key(key, .online(validity: nil))]), elapsed: .zero, serverKey: nil)
        #expect(throws: KeyFailure.wrongLength(byteCount: count)) { try keys[0].key.get() }
    }

    @Test("nothing is sealed to a point of small order", arguments: [UInt8(0), 1])
    func smallOrder(_ first: UInt8) throws {
        var bytes = Self.request().bytes
        bytes.replaceSubrange(30..<62, with: [first] + [UInt8](repeating: 0, count: 31))
        let request = try KeyRequest(bytes)
        #expect(throws: WireFault.self) {
            try AnswerSealer(identity: nil, lifetimeMilliseconds: 1).seal(
                [.missing, .missing, .missing], for: request, bytes: bytes, at: 0)
        }
    }

    @Test("nothing shows a private key")
    func descriptions() throws {
        let identity = try Self.identity()
        for text in ["\(identity)", String(reflecting: identity), "\(Self.request())"] {
            #expect(!text.contains("rivateKey") && !text.contains("0x"), "\(text)")
        }
    }
}

import ByteSources
import HLS
import Keys
import OpenSSLBackend
import RandomAccess
import Synchronization
import TestSupport
import Testing

/// Keys by the number in their names, with faults that follow from a seed; none without one.
private final class FaultyExchange: KeyExchange {
    private let random: Mutex<UInt64?>
    private let list = Mutex<[KeyQuery]>([])

    init(seed: UInt64?) {
        random = Mutex(seed)
    }

    var queries: [KeyQuery] { list.withLock { $0 } }

    private func draw(_ count: UInt64) -> UInt64? {
        random.withLock { state in
            guard let old = state else { return nil }
            let next = old &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            state = next
            return (next >> 33) % count
        }
    }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        list.withLock { $0.append(query) }
        switch draw(8) {
        case 0: throw .unreachable(reason: "no route to host")
        case 1: throw .busy(retryAfter: .zero)
        case 2: throw .tampered
        default: break
        }
        var answers: [ExchangedKey] = []
        for identifier in query.identifiers { answers += one(identifier) }
        if draw(4) == 0 { answers.reverse() }
        if draw(6) == 0 { answers.append(contentsOf: one("key3")) }
        return answers
    }

    private func one(_ identifier: String) -> [ExchangedKey] {
        guard let key = try? testKey(Int(identifier.filter(\.isNumber)) ?? 0),
            let short = try? SecretKey(material: [UInt8](repeating: 2, count: 15)),
            let long = try? SecretKey([UInt8](repeating: 2, count: 32)), let other = try? testKey(200)
        else { return [] }
        switch draw(12) {
        case 0: return []
        case 1: return [ExchangedKey(identifier, key: short)]
        case 2: return [ExchangedKey(identifier, key: long)]
        case 3: return [ExchangedKey(identifier + "x", key: key)]
        case 4: return [ExchangedKey(identifier, failure: .replayed)]
        case 5: return [ExchangedKey(identifier, failure: .unreachable(reason: "reset"))]
        // A key that is not the right one: it must not decrypt to anything.
        case 6: return [ExchangedKey(identifier, key: other)]
        case 7: return [ExchangedKey(identifier, key: key), ExchangedKey(identifier, key: other)]
        default: return [ExchangedKey(identifier, key: key)]
        }
    }
}

@Suite("keys that come with faults")
struct FaultyKeysTests {
    private static let plain = Samples.bytes(3 * 1000)
    private static let resources: [String: [UInt8]] = {
        var resources: [String: [UInt8]] = [:]
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        for index in 0..<3 {
            let part = Array(plain[index * 1000..<(index + 1) * 1000])
            resources["\(index).ts"] = try? encryptedSegment(part, key: index + 1, iv: UInt128(index))
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"key\(index + 1)\"\n#EXTINF:6,\n\(index).ts\n"
        }
        resources["playlist.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        return resources
    }()

    private func session(_ exchange: FaultyExchange) -> KeySession {
        // No time limit that a busy machine could reach.
        let day = Duration.seconds(86_400)
        return KeySession(
            exchange: exchange, policy: KeyPolicy(deadline: day, idleTimeout: day, firstPause: .zero), device: "d",
            seed: 1, clock: SystemKeyClock())
    }

    private func open(_ session: KeySession) async throws -> HLSObject {
        try await HLSObject.open(
            try mediaPlaylist(String(decoding: Self.resources["playlist.m3u8"] ?? [], as: UTF8.self)),
            resources: MemoryResources(Self.resources), session: session, backend: OpenSSL())
    }

    @Test("each of 1000 faulty exchanges ends in the right bytes or a named error without a byte of the key")
    func faults() async throws {
        var (right, named) = (0, Set<String>())
        for seed in 1...1000 as ClosedRange<UInt64> {
            let session = session(FaultyExchange(seed: seed))
            let object = try await open(session)
            for (index, range) in [0..<1000, 1000..<2000, 2000..<3000].enumerated() {
                guard object.problems.allSatisfy({ !$0.error.description.contains("\(index).ts") }) else { continue }
                let start = object.plaintextRange(ofSegment: index).lowerBound
                do {
                    let bytes = try await object.read(at: start, count: 1000, session: session)
                    #expect(bytes == Array(Self.plain[range]), "seed \(seed), segment \(index)")
                    right += 1
                } catch {
                    named.insert(error.protocolName)
                }
            }
            for problem in object.problems {
                named.insert(problem.error.protocolName)
                #expect(["invalidKey", "invalidPadding"].contains(problem.error.protocolName), "\(problem.error)")
            }
            let text = "\(object.problems) \(await session.notices)"
            #expect(!text.contains("2, 2") && !text.contains("0202") && !text.contains("\u{2}\u{2}"))
            await session.close()
        }
        #expect(right > 0 && named.contains("invalidKey"))
    }

    @Test("preloaded keys come in one question, and none is asked between opening and the first byte")
    func preloaded() async throws {
        let exchange = FaultyExchange(seed: nil)
        let session = session(exchange)
        await session.preload(["key1", "key2", "key3"])
        while exchange.queries.isEmpty { await Task.yield() }
        let object = try await open(session)
        #expect(object.problems.isEmpty)
        let bytes = try await object.read(at: 0, count: 3000, session: session)
        #expect(bytes == Self.plain)
        #expect(exchange.queries.map(\.identifiers) == [["key1", "key2", "key3"]])
    }
}

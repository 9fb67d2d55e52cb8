import ByteSources
import Gate
import HLS
import KeyTesting
import Keys
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support
import SwiftAESBackend
import TestSupport
import Vectors

extension FuzzTarget {
    static let all: [FuzzTarget] =
        [
            FuzzTarget("json", "Sources/Support/Support/JSON", seeds: ["data/scenarios/*.json", "data/traces/*.json"]) {
                bytes in
                guard let value = JSONValue.parse(bytes) else { return }
                let again = JSONValue.parse(Array(value.text.utf8))
                expect(again?.text == value.text, "what is written is read as something else")
            },
            FuzzTarget("playlist", "Sources/Core/HLS/Playlists") { bytes in
                guard case .media(let playlist)? = try? Playlist.parse(bytes) else { return }
                let names = RewrittenNames(
                    segment: { "s\($0)" }, initializationSection: { "i\($0)" }, key: { _ in "key" })
                guard let text = try? bytes.withUnsafeBytes({ try MediaRewriter.rewrite($0, playlist, names: names) })
                else { return }
                guard case .media(let again)? = try? Playlist.parse(text) else {
                    expect(false, "a rewritten playlist is none")
                    return
                }
                expect(again.segments.count == playlist.segments.count, "a rewritten playlist has other segments")
            },
            FuzzTarget("master-playlist", "Sources/Core/HLS/Playlists") { bytes in
                guard case .master? = try? Playlist.parse(bytes),
                    let text = try? bytes.withUnsafeBytes({ try MasterRewriter.rewrite($0) { uri, _ in uri } })
                else { return }
                _ = try? Playlist.parse(text)
            },
            FuzzTarget("uri", "Sources/Core/HLS/Playlists/URIReference.swift") { bytes in
                let parts = String(decoding: bytes, as: UTF8.self).split(
                    separator: "\n", omittingEmptySubsequences: false)
                let base = URIReference(String(parts[0]))
                let found = URIReference(String(parts[parts.count - 1])).resolved(against: base)
                // A relative one depends on its base again.
                guard found.scheme != nil else { return }
                // An empty reference takes the base's path as it is, with its dots. Source: RFC 3986, section 5.2.2.
                let again = URIReference(found.text).resolved(against: base)
                expect(
                    URIReference(again.text).resolved(against: base).text == again.text,
                    "resolved three times, it is another")
            },
            FuzzTarget("plan", "Sources/Harness/Measurement/Plan", seeds: ["Benchmarks/plans/*.yml"]) { bytes in
                let reader = PlanReader(file: "plan", knownBackends: ["openssl", "libgcrypt"])
                _ = try? reader.read(String(decoding: bytes, as: UTF8.self))
            },
            FuzzTarget("results", "Sources/Harness/Results", seeds: ["reports/*/results.jsonl"]) { bytes in
                func read(pieces: Int) -> String {
                    var reader = ResultFileReader()
                    do {
                        for start in stride(from: 0, to: bytes.count, by: pieces) {
                            try bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { try reader.take($0) }
                        }
                        return "\(try reader.finish())"
                    } catch {
                        return "\(error)"
                    }
                }
                expect(read(pieces: 1 << 20) == read(pieces: 7), "in other pieces, it is another file")
            },
            FuzzTarget("vectors", "Sources/Harness/Vectors/Files", seeds: ["data/vectors/*.json"]) { bytes in
                _ = try? VectorFile(bytes, path: "vectors.json")
            },
            FuzzTarget("responses", "Sources/Harness/Vectors/Files") { bytes in
                _ = try? VectorFile(bytes, path: "CBCMMT128.rsp")
            },
            FuzzTarget("trace", "Sources/Harness/Measurement/Plan/PlayerTrace.swift", seeds: ["data/traces/*.json"]) {
                bytes in
                guard let trace = try? PlayerTrace(JSONValue.parse(bytes), file: "trace") else { return }
                _ = trace.reads(objectByteCount: 1 << 20, windowByteCount: 4096)
            },
            FuzzTarget("ratios", "Sources/Harness/Results/Gate") { bytes in
                _ = try? StoredRatios.read(bytes, file: "ratios")
            },
            FuzzTarget("self-test", "Sources/Harness/Gate/SelfTestLog.swift") { bytes in
                _ = try? SelfTestRecord.read(bytes, file: "log")
            },
            FuzzTarget("gate", "Sources/Harness/Results/Gate") { bytes in _ = GateResult.parse(bytes) },
            FuzzTarget("open", "Sources/Harness/SubjectProtocol") { bytes in
                guard let request = JSONValue.parse(bytes) else { return }
                _ = try? OpenParameters(request)
            },
            FuzzTarget("chunks", "Sources/Core/RandomAccess") { bytes in
                // The first byte chooses the strategy, the rest is a ciphertext.
                guard let choice = bytes.first, let iv = try? Block([UInt8](repeating: choice, count: 16)) else {
                    return
                }
                let strategies: [Strategy] = [
                    .chunked(.cobblestone(keyByteCount: 16, context: [])),
                    .chunked(.cobblestone(keyByteCount: 32, context: [1])),
                    .cbcContinuous(iv: iv, padding: .pkcs7),
                    .ctr(iv: iv),
                ]
                let strategy = strategies[Int(choice) % strategies.count]
                guard
                    let key = try? SecretKey([UInt8](repeating: 7, count: choice % 4 == 1 ? 32 : 16)),
                    let object = try? EncryptedObject(
                        source: MemorySource(Array(bytes.dropFirst())), strategy: strategy, backend: SwiftBitsliced(),
                        key: key),
                    let cursor = try? object.makeCursor(windowByteCount: 64)
                else { return }
                var buffer = [UInt8](repeating: 0, count: 100)
                for offset: UInt64 in [0, 1, 17, object.plaintextByteCount / 2] {
                    _ = try? buffer.withUnsafeMutableBytes { try cursor.read(at: offset, into: $0) }
                }
            },
            FuzzTarget("scenario", "Sources/Streaming/KeyTesting/Scenarios", seeds: ["data/scenarios/*.json"]) {
                bytes in
                _ = try? KeyScenario(JSONValue.parse(bytes), file: "scenario")
            },
            FuzzTarget("stored-key", "Sources/Streaming/Keys/Stored") { bytes in
                _ = bytes.withUnsafeBytes { StoredKey.read($0)?.stored }
            },
        ] + [format, pieces, film, key] + network
}

import Foundation
import RandomAccess
import Testing

@testable import Vectors

@Suite("vector files")
struct VectorFileTests {
    private func load(_ text: String) throws -> VectorFile {
        let url = FileManager.default.temporaryDirectory.appending(path: "chunkwise-\(UUID().uuidString).json")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try VectorFile(path: url.path(percentEncoded: false))
    }

    @Test("SP 800-38A has its twelve sections' cases")
    func sp80038a() throws {
        let file = try VectorFile(path: vectorFilePath)
        #expect(
            file.groups.map(\.id) == [2, 4, 6].map { "sp800-38a/F.2.\($0)" } + [2, 4, 6].map { "sp800-38a/F.5.\($0)" })
        #expect(file.groups.map(\.readCount) == [Int](repeating: 28, count: 6))
        #expect(file.groups.allSatisfy { $0.source.hasPrefix("NIST SP 800-38A (2001), sections F.") })
    }

    @Test(
        "what is wrong is said exactly",
        arguments: [
            ("{}", "", "member \"schema\" is missing"),
            ("{\"schema\":2}", "/schema", "2: expected 1"),
            ("[]", "", "expected an object"),
            ("nonsense", "line 1", "expected NAME = value"),
            ("{\"schema\":1,\"source\":\"s\",\"groups\":[]}", "/groups", "expected at least one element"),
            ("{\"schema\":1,\"source\":\"s\",\"descriptions\":\"x: 1\",\"groups\":[]}", "/descriptions", "expected"),
            (group("\"key\":\"00\""), "/groups/0/key", "the key has 1 bytes"),
            (group("\"key\":\"0G\""), "/groups/0/key", "expected lower-case hex digits"),
            (group("\"key\":\"000\""), "/groups/0/key", "an even number of them"),
            (group("\"iv\":\"00\""), "/groups/0/iv", "the IV has 1 bytes"),
            (group("\"strategy\":\"ecb\""), "/groups/0/strategy", "expected one of cbc-continuous, cbc-chunked, ctr"),
            (group("\"flags\":[\"Nothing\"]"), "/groups/0/flags/0", "expected one of KnownAnswer"),
            (group("\"reads\":[]"), "/groups/0/reads", "expected at least one element"),
            (group("\"odd\":1"), "/groups/0", "member \"odd\" is unknown"),
            (group("\"flags\":[]"), "/groups/0/flags", "expected at least one element"),
            (
                group("\"reads\":[{\"offsets\":[[3,2]],\"counts\":[1]}]"), "/groups/0/reads/0/offsets/0",
                "3 is more than 2"
            ),
            (
                group("\"reads\":[{\"offsets\":[[0,\"18446744073709551615\"]],\"counts\":[1]}]"), "/groups/0/reads/0",
                "more than 4000000 reads"
            ),
            (group("\"reads\":[{\"offset\":0,\"count\":4503599627370496}]"), "/groups/0/reads/0/count", "268435456"),
            (group("\"reads\":[{\"offsets\":[0]}]"), "/groups/0/reads/0", "neither \"counts\" nor \"toEnd\""),
            (
                group("\"reads\":[{\"exhaustive\":0,\"digests\":\"0000000000000000\"}]"),
                "/groups/0/reads/0/digests", "16 for each of 3 reads"
            ),
            (
                group("\"reads\":[{\"offset\":0,\"count\":1,\"sha256\":\"00\"}]"), "/groups/0/reads/0/sha256",
                "not the digest"
            ),
            (
                group("\"reads\":[{\"offset\":2,\"count\":1,\"plaintext\":\"\"}]"), "/groups/0/reads/0",
                "rangeOutOfBounds"
            ),
            (
                group("\"object\":{\"plaintextByteCount\":1,\"seed\":1}"), "/groups/0/ciphertext",
                "beside \"object\""
            ),
            (
                "{\"schema\":1,\"source\":\"s\",\"flags\":{\"Odd\":{}},\"groups\":[]}", "/flags/Odd",
                "expected one of KnownAnswer"
            ),
            (
                group("\"reads\":[{\"flags\":[\"ZeroCount\"],\"offset\":-1,\"count\":0}]"), "/groups/0/reads/0/offset",
                "-1"
            ),
            (
                group("\"reads\":[{\"flags\":[\"ZeroCount\"],\"offset\":0,\"count\":1,\"plaintext\":\"ff\"}]"),
                "/groups/0/reads/0/plaintext", "not the bytes"
            ),
            (
                group("\"reads\":[{\"flags\":[\"ZeroCount\"],\"offset\":9,\"count\":1,\"error\":\"odd\"}]"),
                "/groups/0/reads/0/error", "expected one of invalidRequest"
            ),
            (playlist("\"playlist\":7"), "/groups/0/playlist", "expected a string"),
            (playlist("\"keys\":{\"k\":\"0G\"}"), "/groups/0/keys/k", "expected lower-case hex digits"),
            (playlist("\"resources\":[]"), "/groups/0/resources", "expected an object"),
            (playlist("\"key\":\"00\""), "/groups/0", "member \"key\" is unknown"),
            (playlist("\"error\":\"io\""), "/groups/0/reads", "expected none"),
            (group("\"strategy\":\"film\""), "/groups/0", "member \"iv\" is unknown"),
            (playlist("\"strategy\":\"film\""), "/groups/0", "member \"keys\" is unknown"),
            (playlist("\"reads\":[{\"offset\":3,\"count\":1,\"plaintext\":\"\"}]"), "/groups/0/reads/0", "past"),
        ])
    func errors(text: String, pointer: String, reason: String) {
        #expect {
            try load(text)
        } throws: {
            guard let error = $0 as? VectorFileError else { return false }
            return error.pointer == pointer && error.reason.contains(reason)
        }
    }

    @Test("a file that is not there is missing")
    func missing() {
        #expect {
            try VectorFile(path: "/nonexistent/vectors.json")
        } throws: { ($0 as? VectorFileError)?.kind == .missing }
    }

    /// A file with one good group of a playlist, in which a member is another.
    private static func playlist(_ member: String) -> String {
        file(
            [
                "id": "\"g\"", "flags": "[\"SequenceIV\"]", "strategy": "\"hls-aes128\"", "playlist": "\"#EXTM3U\"",
                "keys": "{}", "resources": "{\"a\":\"00\"}", "plaintext": "\"66\"",
                "reads": "[{\"offset\":0,\"count\":1,\"plaintext\":\"66\"}]",
            ], member)
    }

    /// A file with one good group, in which a member is another.
    private static func group(_ member: String) -> String {
        let members = [
            "id": "\"g\"", "source": "\"s\"", "flags": "[\"KnownAnswer\"]", "strategy": "\"ctr\"",
            "iv": "\"\(String(repeating: "00", count: 16))\"", "key": "\"\(String(repeating: "00", count: 16))\"",
            "ciphertext": "\"00\"", "plaintext": "\"66\"", "reads": "[]",
        ]
        return file(members, member)
    }

    private static func file(_ members: [String: String], _ member: String) -> String {
        var members = members
        let parts = member.split(separator: ":", maxSplits: 1)
        members[parts[0].trimmingCharacters(in: ["\""])] = String(parts[1])
        let text = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        return "{\"schema\":1,\"source\":\"s\",\"groups\":[{\(text)}]}"
    }
}

@Suite("the standard vectors")
struct VectorSetTests {
    @Test("identifiers are unique, counts are true, every flag is used and explained")
    func inventory() throws {
        let groups = VectorSet.standard()
        #expect(Set(groups.map(\.id)).count == groups.count)
        var flags: Set<VectorFlag> = []
        for group in groups {
            flags.formUnion(group.flags)
            // The exhaustive groups are too many for a debug build; their counts are checked on small objects below.
            guard !group.flags.contains(.exhaustive) else { continue }
            let reads = Array(group.reads)
            #expect(reads.count == group.readCount, "\(group.id)")
            for read in reads { flags.formUnion(read.flags) }
        }
        for flag in VectorFlag.allCases where flag != .knownAnswer { #expect(flags.contains(flag), "\(flag)") }
        #expect(Set(VectorFlag.allCases.map(\.explanation)).count == VectorFlag.allCases.count)
        #expect(VectorFlag.allCases.allSatisfy { !$0.source.isEmpty })
    }

    @Test("exhaustive means every offset and count, and each key length for each strategy")
    func exhaustive() {
        let groups = VectorSet.exhaustive(blockCounts: 0...1)
        for group in groups {
            #expect(group.reads.reduce(0) { count, _ in count + 1 } == group.readCount, "\(group.id)")
            let pairs = Set(group.reads.map { [Int($0.offset), $0.count] })
            let length = Int(group.plaintext.byteCount)
            let isComplete = (0...length).allSatisfy { offset in
                (0...length - offset + 2).allSatisfy { pairs.contains([offset, $0]) }
            }
            #expect(isComplete && pairs.count == group.readCount, "\(group.id)")
        }
        var keys: [Strategy: Set<Int>] = [:]
        for group in VectorSet.exhaustive() { keys[group.strategy, default: []].insert(group.key.byteCount) }
        #expect(keys.count == 7 && keys.values.allSatisfy { $0 == [16, 24, 32] })
    }

    @Test("objects that are not to open do not open for the oracle either, and for the same reason")
    func failures() throws {
        for group in VectorSet.badPaddings() + VectorSet.impossibleLengths() {
            guard case .fails(let name) = group.opening else { continue }
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            do {
                _ = try oracle.plaintextByteCount(of: group.ciphertext)
                Issue.record("\(group.id) opens")
            } catch {
                #expect(ErrorName(error) == name, "\(group.id)")
            }
        }
    }
}

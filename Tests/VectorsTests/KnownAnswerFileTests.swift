import Foundation
import RandomAccess
import Testing

@testable import Vectors

@Suite("vector files of others")
struct KnownAnswerFileTests {
    private func load(_ text: String, name: String = "file.json") throws -> VectorFile {
        try VectorFile(Array(text.utf8), path: "folder/\(name)")
    }

    private func wycheproof(_ tests: String, algorithm: String = "AES-CBC-PKCS5") -> String {
        """
        {"algorithm":"\(algorithm)","notes":{"BadPadding":{},"NoPadding":{},"Pseudorandom":{}},
         "testGroups":[{"tests":[\(tests)]}]}
        """
    }

    /// Wycheproof, aes_cbc_pkcs5_test.json, tcId 5.
    private let valid = """
        {"tcId":5,"comment":"","flags":["Pseudorandom"],"key":"e1e726677f4893890f8c027f9d8ef80d",
         "iv":"155fd397579b0b5d991d42607f2cc9ad","msg":"3f","ct":"599d77aca16910b42d8b4ac9560efe1b","result":"valid"}
        """

    @Test("Wycheproof's valid, invalid and acceptable cases are vectors, failures and unsupported")
    func wycheproofResults() throws {
        let empty = valid.replacing("\"ct\":\"599d77aca16910b42d8b4ac9560efe1b\"", with: "\"ct\":\"\"")
            .replacing("\"valid\"", with: "\"invalid\"").replacing(":5", with: ":6")
            .replacing("Pseudorandom", with: "NoPadding")
        let bad = valid.replacing("\"valid\"", with: "\"invalid\"").replacing(":5", with: ":7")
            .replacing("Pseudorandom", with: "BadPadding")
        let either = valid.replacing("\"valid\"", with: "\"acceptable\"").replacing(":5", with: ":8")
        let file = try load(wycheproof([valid, empty, bad, either].joined(separator: ",")))
        #expect(file.groups.map(\.id) == ["file.json/5", "file.json/6", "file.json/7"])
        #expect(
            file.groups.map(\.opening) == [
                .opens(plaintextByteCount: 1), .fails(.truncatedCiphertext), .fails(.invalidPadding),
            ])
        #expect(file.groups.map(\.flags) == [[.knownAnswer], [.emptyCiphertext], [.badPadding]])
        #expect(file.unsupported.map(\.id) == ["file.json/8"])
        let oracle = Oracle(strategy: file.groups[0].strategy, key: file.groups[0].key)
        #expect(try oracle.plaintextByteCount(of: file.groups[0].ciphertext) == 1)
    }

    @Test("cases of other algorithms are unsupported, never passes")
    func otherAlgorithms() throws {
        let file = try load(wycheproof(valid, algorithm: "AES-GCM"))
        #expect(file.groups.isEmpty && file.unsupported.map(\.reason) == ["no backend has AES-GCM"])
    }

    private let responses = """
        # AESVS MMT test data for CBC
        [ENCRYPT]

        COUNT = 0
        KEY = 1f8e4973953f3fb0bd6b16662e9a3c17
        IV = 2fe2b333ceda8f98f4a99b40d2cd34a8
        PLAINTEXT = 45cf12964fc824ab76616ae2f4bf0822
        CIPHERTEXT = 0f61c4d44c5147c03c195ad7e2cc12b2

        [DECRYPT]

        COUNT = 0
        KEY = 0700d603a1c514e46b6191ba430a3a0c
        IV = AAD1583CD91365E3BB2F0C3430D065BB
        CIPHERTEXT = c4dc61d9725967a3020104a9738f23868527ce839aab1752fd8bdb95a82c4d00
        PLAINTEXT = 068b25c7bfb1f8bdd4cfc908f69dffc5ddc726a197f0e5f720f730393279be91
        """

    @Test("both sections of an .rsp file are read, upper case and line ends of either kind included")
    func sections() throws {
        for text in [responses, responses.replacing("\n", with: "\r\n")] {
            let file = try load(text, name: "CBCMMT128.rsp")
            #expect(file.groups.map(\.id) == ["CBCMMT128.rsp/[ENCRYPT]/0", "CBCMMT128.rsp/[DECRYPT]/0"])
            #expect(file.groups.map(\.source).last == "CBCMMT128.rsp, [DECRYPT], COUNT = 0")
            for group in file.groups {
                let oracle = Oracle(strategy: group.strategy, key: group.key)
                let length = Int(group.plaintext.byteCount)
                var (found, expected) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 1, count: length))
                try found.withUnsafeMutableBytes {
                    try oracle.decrypt(
                        ciphertext: group.ciphertext, plaintextByteCount: UInt64(length), range: 0..<UInt64(length),
                        into: $0)
                }
                try expected.withUnsafeMutableBytes { try group.plaintext.copy(0..<UInt64(length), into: $0) }
                #expect(found == expected)
            }
        }
        let ecb = try load(responses.replacing("for CBC", with: "for ECB"), name: "x.rsp")
        #expect(ecb.groups.isEmpty && ecb.unsupported.count == 2)
    }

    @Test("the Monte Carlo loop comes to what NIST published", arguments: MonteCarloSeed.published.indices)
    func monteCarlo(index: Int) throws {
        let seed = MonteCarloSeed.published[index]
        var run = try seed.start()
        var step = try run.step()
        for _ in 1..<MonteCarlo.stepCount { step = try run.step() }
        let last = step.outputs.suffix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(last.joined() == seed.lastOutput, "\(seed.name)")
    }

    @Test("a step of a Monte Carlo .rsp file is an object of a thousand blocks, if its result is right")
    func monteCarloFile() throws {
        // CBCMCT128.rsp, [ENCRYPT], COUNT = 0.
        let text = """
            # AESVS MCT test data for CBC
            [ENCRYPT]
            COUNT = 0
            KEY = 8809e7dd3a959ee5d8dbb13f501f2274
            IV = e5c0bb535d7d54572ad06d170a0e58ae
            PLAINTEXT = 1fd4ee65603e6130cfc2a82ab3d56c24
            CIPHERTEXT = b127a5b4c4692d87483db0c3b0d11e64
            """
        #expect(try load(text, name: "CBCMCT128.rsp").groups.map(\.plaintext.byteCount) == [16000])
        #expect { try load(text.replacing("b127", with: "b128"), name: "CBCMCT128.rsp") } throws: {
            ($0 as? VectorFileError)?.pointer == "line 7"
        }
    }

    @Test("what is wrong with a file is said exactly")
    func errors() {
        let cases: [(text: String, name: String, pointer: String, reason: String)] = [
            (" \n", "a.json", "", "nothing but white space"),
            ("{\"a\": x}", "a.json", "", "no JSON"),
            (wycheproof(""), "a.json", "/testGroups/0/tests", "expected at least one element"),
            (
                wycheproof(valid.replacing("Pseudorandom", with: "Odd")), "a.json",
                "/testGroups/0/tests/0/flags/0", "BadPadding, NoPadding, Pseudorandom"
            ),
            (
                wycheproof(valid.replacing("\"valid\"", with: "\"good\"")), "a.json",
                "/testGroups/0/tests/0/result", "expected one of valid"
            ),
            (wycheproof(valid + "," + valid), "a.json", "/testGroups/0/tests/1/tcId", "stands here twice"),
            ("# for CBC\n[ENCRYPT]\n", "a.rsp", "", "no case"),
            (responses.replacing("IV = A", with: "IV = G"), "a.rsp", "line 14", "IV has 32 characters"),
            (responses.replacing("IV = A", with: "IX = A"), "a.rsp", "line 12", "has no IV"),
            (responses.replacing("KEY = 07", with: "KEY = "), "a.rsp", "line 13", "15 bytes"),
            (responses.replacing("for CBC", with: "for all"), "a.rsp", "line 4", "no cipher mode"),
            (responses.replacing("\n\n[DECRYPT]", with: "\nnonsense\n[DECRYPT]"), "a.rsp", "line 9", "NAME = value"),
            ("nonsense", "a.txt", "line 1", "expected NAME = value"),
        ]
        for item in cases {
            do {
                _ = try load(item.text, name: item.name)
                Issue.record("\(item.name) is read: expected \(item.reason)")
            } catch {
                let error = error as? VectorFileError
                #expect(error?.pointer.hasPrefix(item.pointer) == true, "\(item.reason): \(error?.pointer ?? "")")
                #expect(error?.reason.contains(item.reason) == true, "\(error?.reason ?? "")")
                #expect(error?.kind == .malformed)
            }
        }
    }
}

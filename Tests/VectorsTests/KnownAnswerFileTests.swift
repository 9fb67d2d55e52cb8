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
        {"algorithm":"\(algorithm)","notes":{"BadPadding":{},"ModifiedTag":{},"NoPadding":{},"Pseudorandom":{}},
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
        for algorithm in ["AES-CCM", "XSALSA20-POLY1305"] {
            let file = try load(wycheproof(valid, algorithm: algorithm))
            #expect(file.groups.isEmpty)
            #expect(file.unsupported.map(\.reason) == ["no format of messages has \(algorithm)"])
        }
    }

    /// A case of Wycheproof: an algorithm, its cipher, and the members that the two kinds of files share.
    struct Message: Sendable, CustomTestStringConvertible {
        let algorithm: String
        let cipher: Cipher
        let key: String
        let nonce: String
        var aad = ""
        let text: String
        let ciphertext: String
        var tag: String?

        var testDescription: String { algorithm }

        func test(
            _ number: Int, _ result: String = "valid", tag: String? = nil, flag: String = "Pseudorandom"
        ) -> String {
            let tag = (tag ?? self.tag).map { ",\"aad\":\"\(aad)\",\"tag\":\"\($0)\"" } ?? ""
            return """
                {"tcId":\(number),"flags":["\(flag)"],"key":"\(key)","iv":"\(nonce)","msg":"\(text)",
                 "ct":"\(ciphertext)"\(tag),"result":"\(result)"}
                """
        }
    }

    /// Cases of NIST's CAVP, RFC 8452 and Wycheproof; of XTS, with a tweak without its zeros.
    static let messages: [Message] = [
        Message(
            algorithm: "AES-GCM", cipher: .aesGCM, key: "816e39070410cf2184904da03ea5075a",
            nonce: "32c367a3362613b27fc3e67e", aad: "f2a30728ed874ee02983c294435d3c16",
            text: "ecafe96c67a1646744f1c891f5e69427", ciphertext: "552ebe012e7bcf90fcef712f8344e8f1",
            tag: "ecaae9fc68276a45ab0ca3cb9dd9539f"),
        Message(
            algorithm: "AES-GCM-SIV", cipher: .aesGCMSIV, key: "36864200e0eaf5284d884a0e77d31646",
            nonce: "bae8e37fc83441b16034566b", aad: "46bb91c3c5", text: "7a806c", ciphertext: "af60eb",
            tag: "711bd85bc1e4d3e0a462e074eea428a8"),
        Message(
            algorithm: "AES-EAX", cipher: .aesEAX, key: "91945d3f4dcbee0bf45ef52255f095a4",
            nonce: "becaf043b0a23d843194ba972c66debd", aad: "fa3bfd4806eb53fa", text: "f7fb", ciphertext: "19dd",
            tag: "5c4c9331049d0bdab0277408f67967e5"),
        Message(
            algorithm: "AEAD-AES-SIV-CMAC", cipher: .aesSIV,
            key: "eb2278745939dacc07a157425b147c8e6036c47f56d182e7221f7645903d5b3d",
            nonce: "19476b0f523b8e4066c79466", aad: "f5", text: "24150140e7c72d755c2d1a5d",
            ciphertext: "c7259a9da07588dd00cf6fed", tag: "41b3ed98b1f61840df01826375fc792e"),
        Message(
            algorithm: "CHACHA20-POLY1305", cipher: .chaCha20Poly1305,
            key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647", aad: "31", text: "31323334353637383961626364656630",
            ciphertext: "ae49da6934cb77822c83ed9852e46c9e", tag: "dac9c841c168379dcf8f2bb8e22d6da2"),
        Message(
            algorithm: "XCHACHA20-POLY1305", cipher: .xChaCha20Poly1305,
            key: "697c197c9e0023c8eee42ddf08c12c46718a436561b0c66d998c81879f7cb74c",
            nonce: "cd78f4533c94648feacd5aef0291b00b454ee3dcdb76dcc8", aad: "6384f4714ff18c18", text: "e1",
            ciphertext: "b0", tag: "e5e35f5332f91bdd2d28e59d68a0b141"),
        Message(
            algorithm: "AES-XTS", cipher: .aesXTS,
            key: "a3e40d5bd4b6bbedb2d18c700ad2db2210c81190646d673cbca53f133eab373c", nonce: "8d",
            text: "20e0719405993f09a66ae5bb500e562c", ciphertext: "74623551210216ac926b9650b6d3fa52"),
    ]

    @Test("Wycheproof's messages are read whole, and those with a wrong tag do not open", arguments: messages)
    func wholeMessages(message: Message) throws {
        let wrong = String(repeating: "0", count: 32)
        let invalid = message.test(2, "invalid", tag: wrong, flag: "ModifiedTag")
        let tests = [message.test(1)] + (message.tag == nil ? [] : [invalid])
        let file = try load(wycheproof(tests.joined(separator: ","), algorithm: message.algorithm))
        #expect(file.groups.count == tests.count && file.unsupported.isEmpty)
        for group in file.groups {
            #expect(group.strategy.cipher == message.cipher)
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            switch group.opening {
            case .opens(let byteCount):
                #expect(try oracle.plaintextByteCount(of: group.ciphertext) == byteCount)
                let found = GroupPlaintext(oracle: oracle, ciphertext: group.ciphertext, byteCount: byteCount)
                #expect(try found.bytes(0..<byteCount) == group.plaintext.bytes(0..<byteCount))
            case .fails(let error):
                #expect(error == .authenticationFailed && group.flags == [.chunkTag])
                #expect { try oracle.plaintextByteCount(of: group.ciphertext) } throws: {
                    ($0 as? DecryptionError).map(ErrorName.init) == error
                }
            }
        }
    }

    @Test("lengths that a cipher does not have are named")
    func messageLengths() throws {
        let (gcm, xts) = (Self.messages[0], Self.messages[6])
        let cases = [
            (gcm.test(1, tag: "ecaae9fc68276a45ab0ca3cb"), "AES-GCM", "aes-gcm with a tag of 12 bytes"),
            (gcm.test(1).replacing("816e", with: ""), "AES-GCM", "aes-gcm with a key of 14 and a nonce of 12 bytes"),
            (gcm.test(1).replacing("\"iv\"", with: "\"no\""), "AES-GCM", "aes-gcm without a nonce"),
            (xts.test(1).replacing("7462", with: ""), "AES-XTS", "aes-xts with 14 bytes of ciphertext"),
            (xts.test(1, "invalid"), "AES-XTS", "nothing shows that it is invalid: aes-xts has no tag"),
        ]
        for (test, algorithm, reason) in cases {
            let file = try load(wycheproof(test, algorithm: algorithm))
            #expect(file.groups.isEmpty && file.unsupported.map(\.reason) == [reason])
        }
    }

    @Test("the file of messages describes the formats of Wycheproof's messages")
    func describedMessages() throws {
        let path = URL(filePath: #filePath).appending(path: "../../../data/vectors/messages.json").standardized
        let file = try VectorFile(path: path.path(percentEncoded: false))
        let own = [
            MessageFormats.strategy(.aesGCM, nonce: [0], associatedData: []).format,
            MessageFormats.strategy(.aesXTS, nonce: [], associatedData: []).format,
        ]
        #expect(file.groups.allSatisfy { own.contains($0.strategy.format) })
        #expect(Set(file.groups.map(\.strategy.cipher)) == Set(MessageFormats.ciphers).subtracting(Cipher.streaming))
        for group in file.groups {
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            let byteCount = try? oracle.plaintextByteCount(of: group.ciphertext)
            #expect(byteCount == (group.opening == .fails(.authenticationFailed) ? nil : group.plaintext.byteCount))
        }
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
        let reason = "NIST's files of ECB are not read: expected CBC or CTR"
        #expect(ecb.groups.isEmpty && ecb.unsupported.map(\.reason) == [reason, reason])
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
                "/testGroups/0/tests/0/flags/0", "BadPadding, ModifiedTag, NoPadding, Pseudorandom"
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

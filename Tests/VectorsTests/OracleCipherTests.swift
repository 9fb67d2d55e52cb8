import ByteSources
import RandomAccess
import Testing

@testable import Vectors

/// A published answer of a cipher.
struct OracleAnswer: Sendable, CustomTestStringConvertible {
    var source: String
    var cipher: String
    var key: [UInt8]
    var nonce: [UInt8]
    var associatedData: [UInt8] = []
    var plaintext: [UInt8]
    var ciphertext: [UInt8]
    var tag: [UInt8] = []

    var testDescription: String { "\(cipher), \(source)" }

    private static let sunscreen = Array(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8)

    private static let packet = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
            + "b16aedf5aa0de657ba637b39")

    static let all = [
        OracleAnswer(
            source: "McGrew and Viega, appendix B, test case 4", cipher: "aes-gcm",
            key: bytes("feffe9928665731c6d6a8f9467308308"), nonce: bytes("cafebabefacedbaddecaf888"),
            associatedData: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"), plaintext: packet,
            ciphertext: bytes(
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
                    + "1ba30b396a0aac973d58e091"), tag: bytes("5bc94fbc3221a5db94fae95ae7121a47")),
        OracleAnswer(
            source: "McGrew and Viega, appendix B, test case 5", cipher: "aes-gcm",
            key: bytes("feffe9928665731c6d6a8f9467308308"), nonce: bytes("cafebabefacedbad"),
            associatedData: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"), plaintext: packet,
            ciphertext: bytes(
                "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42"
                    + "4989b5e1ebac0f07c23f4598"), tag: bytes("3612d2e79e3b0785561be14aaca2fccb")),
        OracleAnswer(
            source: "RFC 8439, section 2.8.2", cipher: "chacha20-poly1305", key: Array(0x80..<0xA0),
            nonce: bytes("070000004041424344454647"), associatedData: bytes("50515253c0c1c2c3c4c5c6c7"),
            plaintext: sunscreen,
            ciphertext: bytes(
                "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
                    + "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                    + "3ff4def08e4b7a9de576d26586cec64b6116"), tag: bytes("1ae10b594f09e26a7e902ecbd0600691")),
        OracleAnswer(
            source: "draft-irtf-cfrg-xchacha-03, A.3.1", cipher: "xchacha20-poly1305", key: Array(0x80..<0xA0),
            nonce: Array(0x40..<0x58), associatedData: bytes("50515253c0c1c2c3c4c5c6c7"), plaintext: sunscreen,
            ciphertext: bytes(
                "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
                    + "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                    + "21f9664c97637da9768812f615c68b13b52e"), tag: bytes("c0875924c1c7987947deafd8780acf49")),
        OracleAnswer(
            source: "nacl-20110221, tests/secretbox.c", cipher: "xsalsa20-poly1305",
            key: bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"),
            nonce: bytes("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37"),
            plaintext: bytes(
                "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129"
                    + "6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde"
                    + "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705"),
            ciphertext: bytes(
                "8e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972"
                    + "71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da"
                    + "99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5"),
            tag: bytes("f3ffc7703f9400e52a7dfb4b3d3305d9")),
        OracleAnswer(
            source: "IEEE 1619-2007, annex B, vector 1", cipher: "aes-xts", key: [UInt8](repeating: 0, count: 32),
            nonce: [UInt8](repeating: 0, count: 16), plaintext: [UInt8](repeating: 0, count: 32),
            ciphertext: bytes("917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e")),
        OracleAnswer(
            source: "IEEE 1619-2007, annex B, vector 2", cipher: "aes-xts",
            key: [UInt8](repeating: 0x11, count: 16) + [UInt8](repeating: 0x22, count: 16),
            nonce: bytes("33333333330000000000000000000000"), plaintext: [UInt8](repeating: 0x44, count: 32),
            ciphertext: bytes("c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0")),
    ]
}

@Suite("the oracle's other ciphers")
struct OracleCipherTests {
    @Test("have the published answers, from each block on", arguments: OracleAnswer.all)
    func answers(answer: OracleAnswer) throws {
        let cipher = try OracleCipher(Array(answer.cipher.utf8), key: answer.key)
        #expect(cipher.takes(nonce: answer.nonce))
        for start in stride(from: 0, to: answer.ciphertext.count, by: 16) {
            let count = answer.ciphertext.count - start
            var rest = answer.ciphertext[start...] + [UInt8](repeating: 0, count: (16 - count % 16) % 16)
            rest.withUnsafeMutableBytes { cipher.decrypt($0, at: UInt64(start), nonce: answer.nonce) }
            #expect(rest.prefix(count) == answer.plaintext[start...], "from \(start) on")
        }
        #expect(cipher.encrypt(answer.plaintext, nonce: answer.nonce) == answer.ciphertext)
        let tag = cipher.tag(answer.ciphertext, nonce: answer.nonce, associatedData: answer.associatedData)
        #expect(tag == answer.tag)
    }

    @Test("are refused by an unknown name, and with a key of another length")
    func refusals() {
        #expect(throws: DecryptionError.self) { try OracleCipher(Array("rot13".utf8), key: []) }
        #expect(throws: DecryptionError.invalidKey(byteCount: 31)) {
            try OracleCipher(Array("chacha20-poly1305".utf8), key: [UInt8](repeating: 0, count: 31))
        }
    }
}

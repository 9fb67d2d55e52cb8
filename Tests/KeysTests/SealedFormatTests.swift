import Crypto
import Foundation
import TestSupport
import Testing

@testable import Keys

/// Bytes that are no requests.
@Suite("requests for keys, malformed")
struct RequestFormatTests {
    private static func fault(_ bytes: [UInt8]) -> String? {
        do throws(WireFault) {
            _ = try KeyRequest(bytes)
            return nil
        } catch {
            return error.description
        }
    }

    private static func request(_ identifiers: [String] = ["a", "b"]) -> [UInt8] {
        PendingRequest(identifiers: identifiers, route: "local", wantsPersistable: false, at: 1).bytes
    }

    private static func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = request()
        change(&bytes)
        return bytes
    }

    @Test(
        "each is refused with a reason",
        arguments: [
            ("mark", changed { $0[0] = 0x58 }, "mark"), ("version", changed { $0[4] = 2 }, "version is 2"),
            ("kind", changed { $0[5] = 3 }, "kind of keys is 3"), ("none", changed { $0[64] = 0 }, "0 identifiers"),
            ("too many", changed { $0[64] = 65 }, "65 identifiers"),
            ("route", changed { $0[65] = 0xFF }, "route is not UTF-8"),
            ("empty identifier", request([""]), "identifier 1 has 0 bytes"),
            ("long identifier", request([String(repeating: "x", count: 2049)]), "identifier 1 has 2049 bytes"),
            ("identifier", changed { $0[$0.count - 1] = 0xC0 }, "identifier 2 is not UTF-8"),
            ("twice", request(["a", "a"]), "twice"), ("more", request() + [0], "1 bytes follow"), ("empty", [], "ends"),
        ])
    func refused(_ name: String, _ bytes: [UInt8], _ reason: String) {
        #expect(Self.fault(bytes)?.contains(reason) == true, "\(name): \(Self.fault(bytes) ?? "was taken")")
    }

    @Test("a cut at any byte is refused")
    func cut() {
        let bytes = Self.request()
        for count in bytes.indices { #expect(Self.fault(Array(bytes[..<count])) != nil, "cut after \(count)") }
    }

    @Test("the longest request has as many bytes as are allowed")
    func longest() throws {
        let identifiers = (0..<64).map { String(repeating: "x", count: 2040) + "\(10_000_000 + $0)" }
        let pending = PendingRequest(
            identifiers: identifiers, route: String(repeating: "ü", count: 200), wantsPersistable: true, at: 1)
        #expect(pending.bytes.count == KeyRequest.maxByteCount - 1)
        #expect(try KeyRequest(pending.bytes).route == String(repeating: "ü", count: 127))
    }

    @Test("whatever bytes come, none trap", arguments: 0..<200)
    func random(_ seed: UInt64) {
        var bytes = Self.request()
        let noise = Samples.bytes(8, seed: seed + 1)
        for (index, value) in noise.enumerated() {
            bytes[Int(noise[(index + 1) % 8]) % bytes.count] = value
        }
        // Taken or refused: both are answers.
        if let fault = Self.fault(bytes) { #expect(!fault.isEmpty) }
        #expect(Self.fault(Samples.bytes(100, seed: seed + 1)) != nil)
    }
}

/// The cipher suite and the modes that answers use, against known answers.
///
/// - Source: RFC 9180, appendix A.1.1 (base) and A.1.3 (authenticated).
@Suite("HPKE, known answers")
struct HPKEVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let recipient: String
        let sender: String?
        let encapsulated: String
        /// The ciphertexts with sequence numbers 0 and 1.
        let ciphertexts: [String]
    }

    private static let info = "4f6465206f6e2061204772656369616e2055726e"
    private static let plaintext = "4265617574792069732074727574682c20747275746820626561757479"

    static let vectors = [
        Vector(
            testDescription: "A.1.1",
            recipient: "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8", sender: nil,
            encapsulated: "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
            ciphertexts: [
                "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
                "af2d7e9ac9ae7e270f46ba1f975be53c09f8d875bdc8535458c2494e8a6eab251c03d0c22a56b8ca42c2063b84",
            ]),
        Vector(
            testDescription: "A.1.3",
            recipient: "fdea67cf831f1ca98d8e27b1f6abeb5b7745e9d35348b80fa407ff6958f9137e",
            sender: "8b0c70873dc5aecb7f9ee4e62406a397b350e57012be45cf53b7105ae731790b",
            encapsulated: "23fb952571a14a25e3d678140cd0e5eb47a0961bb18afcf85896e5453c312e76",
            ciphertexts: [
                "5fd92cc9d46dbf8943e72a07e42f363ed5f721212cd90bcfd072bfd9f44e06b80fd17824947496e21b680c141b",
                "d3736bb256c19bfa93d79e8f80b7971262cb7c887e35c26370cfed62254369a1b52e3d505b79dd699f002bc8ed",
            ]),
    ]

    @Test("the suite opens what the standard sealed", arguments: vectors)
    func opens(_ vector: Vector) throws {
        let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Self.bytes(vector.recipient))
        let (info, encapsulated) = (Data(Self.bytes(Self.info)), Data(Self.bytes(vector.encapsulated)))
        let suite = AnswerFormat.ciphersuite
        var recipient =
            if let sender = vector.sender {
                try HPKE.Recipient(
                    privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: encapsulated,
                    authenticatedBy: Curve25519.KeyAgreement.PublicKey(rawRepresentation: Self.bytes(sender)))
            } else {
                try HPKE.Recipient(privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: encapsulated)
            }
        for (number, ciphertext) in vector.ciphertexts.enumerated() {
            let opened = try recipient.open(
                Self.bytes(ciphertext), authenticating: Array("Count-\(number)".utf8))
            #expect(Array(opened) == Self.bytes(Self.plaintext), "sequence number \(number)")
        }
    }

    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

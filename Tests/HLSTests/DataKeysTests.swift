import HLS
import RandomAccess
import Testing

@Suite("keys in data URIs")
struct DataKeysTests {
    private func bytes(_ uri: String) throws -> [UInt8] {
        try DataKeys().key(for: uri).key.withUnsafeBytes { Array($0) }
    }

    @Test(
        "every way to write them",
        arguments: [
            "data:;base64,AAECAwQFBgcICQoLDA0ODw==", "data:text/plain;base64,AAECAwQFBgcICQoLDA0ODw==",
            "data:text/plain;charset=utf-8;base64,AAECAwQFBgcICQoLDA0ODw==", "DATA:;BASE64,AAECAwQFBgcICQoLDA0ODw==",
            "data:;base64,AAECAwQFBgcICQoLDA0ODw", "data:;base64,AAECAwQFBgcICQoLDA0ODw%3D%3d",
            "data:;base64,%41%41ECAwQFBgcICQoLDA0ODw==#fragment",
            "data:,%00%01%02%03%04%05%06%07%08%09%0a%0B%0C%0d%0e%0F",
        ])
    func spellings(uri: String) throws {
        #expect(try bytes(uri) == Array(0...15))
    }

    @Test("bytes that are characters of URIs")
    func characters() throws {
        #expect(try bytes("data:,a?b/c:d@e!f+g=h,") == Array("a?b/c:d@e!f+g=h,".utf8))
        #expect(
            try bytes("data:;base64,+/+/+/+/+/+/+/+/+/+/+w") == Array(repeating: [0xFB, 0xFF, 0xBF], count: 5).flatMap {
                $0
            } + [0xFB])
    }

    @Test(
        "anything else is unusable, and no message has a part of it",
        arguments: [
            "data:", "data:;base64", "data:;base64,", "data:,SECRETSECRET", "data:,SECRETSECRETSECRET",
            "data:;base64,SECRET==", "data:;base64,AAECAwQFBgcICQoLDA0OD", "data:;base64,AAECAwQFBgcICQoLDA0ODw=",
            "data:;base64,AAECAwQFBgcICQoLDA0ODw===", "data:;base64,AAECAwQFBgcICQoLDA0O=w==",
            "data:;base64,SECRET AwQFBgcICQoLDA0ODw==", "data:;base64,SECR-_QFBgcICQoLDA0ODw==",
            "data:,SECRETSECRETSEC%1",
            "data:,SECRETSECRETSEC%gg", "data:," + String(repeating: "SECRET", count: 1000),
        ])
    func unusable(uri: String) throws {
        let ring = KeyRing(SchemeKeys(dataBefore: HandlerKeys { _ in try SecretKey([UInt8](repeating: 1, count: 16)) }))
        let error = #expect(throws: DecryptionError.self) { try ring.key(for: uri) }
        guard case .keyUnusable(let shown, let reason) = error?.playlistError else {
            return #expect(Bool(false), "\(error?.description ?? "")")
        }
        #expect(shown == "data:…" && !reason.contains("SECR") && reason.contains("expected 16"), "\(reason)")
    }

    @Test("another provider gets the other URIs, and none of these")
    func others() throws {
        let keys = SchemeKeys(
            dataBefore: HandlerKeys { uri in
                guard !uri.lowercased().hasPrefix("data:") else { throw KeyError.noKey(reason: "told") }
                return try SecretKey([UInt8](repeating: 1, count: 16))
            })
        #expect(
            try keys.key(for: "data:,0123456789abcdef").key.withUnsafeBytes { Array($0) }
                == Array("0123456789abcdef".utf8))
        #expect(try keys.key(for: "data.key").key.withUnsafeBytes { $0[0] } == 1)
    }
}

import RandomAccess
import Testing

@Suite("keys do not show")
struct SecretKeyTests {
    private struct Holder {
        let key: SecretKey
        let keys: [String: SecretKey]
    }

    @Test("printing, dumping and interpolating show the length only")
    func printing() throws {
        let key = try SecretKey([UInt8](repeating: 0xab, count: 24))
        #expect("\(key)" == "SecretKey(24 bytes)")
        #expect(String(reflecting: key) == "SecretKey(24 bytes)")
        #expect(Mirror(reflecting: key).children.isEmpty)
        var text = ""
        dump(Holder(key: key, keys: ["a": key]), to: &text)
        dump(key, to: &text)
        text += "\(Holder(key: key, keys: ["a": key])) \([key]) \(Optional(key) as Any)"
        for telltale in ["ab", "AB", "171", "storage", "0x"] {
            #expect(!text.contains(telltale), "\(text)")
        }
    }

    @Test("only the lengths of AES keys are taken", arguments: 0...40)
    func lengths(_ byteCount: Int) throws {
        let bytes = [UInt8](repeating: 1, count: byteCount)
        if [16, 24, 32].contains(byteCount) {
            let key = try SecretKey(bytes)
            #expect(key.byteCount == byteCount)
            #expect(key.withUnsafeBytes { Array($0) } == bytes)
        } else {
            #expect(throws: DecryptionError.invalidKey(byteCount: byteCount)) { try SecretKey(bytes) }
        }
    }
}

import Support
import Testing

@Suite("hexadecimal")
struct HexadecimalTests {
    @Test("all bytes are written in lower case and read back")
    func roundTrip() {
        let bytes = (0...255).map(UInt8.init)
        let text = Hexadecimal.encode(bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff") && text == text.lowercased())
        #expect(Hexadecimal.decode(text) == bytes)
        #expect(Hexadecimal.decode(text.uppercased(), allowsUpperCase: true) == bytes)
        #expect(Hexadecimal.decode("") == [])
    }

    @Test("all else is refused", arguments: ["0", "000", "0g", "0x00", " 00", "00 ", "0\n", "é0", "-1", "+1", "٠٠"])
    func garbage(text: String) {
        #expect(Hexadecimal.decode(text) == nil && Hexadecimal.decode(text, allowsUpperCase: true) == nil)
    }

    @Test("upper case is refused where the protocol forbids it", arguments: ["AB", "aB", "0A"])
    func upperCase(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}

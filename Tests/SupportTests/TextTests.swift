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

@Suite struct PlainTextTests {
    @Test("a list has commas, and a word before its last element")
    func listed() {
        let texts = (0...3).map { (1...3).prefix($0).listed("or") }
        #expect(texts == ["", "1", "1 or 2", "1, 2 or 3"] && ["a", "b"].listed("and") == "a and b")
    }

    @Test(
        "text from elsewhere is one line, without what drives a terminal",
        arguments: [
            "a\nb", "a\rb", "a\u{85}b", "a\u{2028}b", "a\u{1B}b", "a\0b", "a\u{9B}b", "a\u{202E}b", "a\u{2066}b",
            "a\u{200F}b", "a\u{61C}b",
        ])
    func line(text: String) {
        #expect(PlainText.line(text) == "a b")
    }

    @Test("a line break of two characters is two spaces, and letters of any script stay")
    func others() {
        #expect(PlainText.line("é\r\n日本 ±") == "é  日本 ±")
    }

    @Test(
        "a command's options are what follows its first word, however that is quoted",
        arguments: [
            ("chunkwise subject", "subject"), ("'/a b/c' subject --x", "subject --x"), ("a", ""), ("", ""),
            (" \"a b\"  --x 'y z'", "--x 'y z'"), ("'a b' ", ""),
        ])
    func options(command: String, expected: String) {
        #expect(ShellText.options(of: command) == expected)
    }

    @Test("a word stays one word, also with a combining mark behind a quotation mark")
    func quoted() {
        #expect(ShellText.joined(["a b", "", "it's", "a/b"]) == #"'a b' '' 'it'\''s' a/b"#)
        #expect(ShellText.quoted("'\u{301};x").unicodeScalars.elementsEqual("''\\''\u{301};x'".unicodeScalars))
    }
}

@Suite("byte sizes")
struct ByteSizeTests {
    @Test(
        "sizes are read with binary, decimal and no units",
        arguments: [
            ("0", 0), ("4096", 4096), ("1B", 1), ("64KiB", 65536), ("64kib", 65536), ("16MB", 16_000_000),
            ("16 MB", 16_000_000), ("100MiB", 104_857_600), ("1.5GiB", 1_610_612_736), ("0.5KiB", 512), ("1kB", 1000),
            ("2TB", 2_000_000_000_000), ("1TiB", 1 << 40), ("0.000001MB", 1), ("01KiB", 1024),
        ] as [(String, UInt64)]
    )
    func reading(text: String, byteCount: UInt64) {
        #expect(ByteSize(text)?.byteCount == byteCount)
    }

    @Test(
        "all else is no size",
        arguments: [
            "", " ", "KiB", "-1", "+1", "1.", ".5", "1..5", "1.5.5", "1,5MiB", "0.3", "0.5B", "1.0000001MB", "1PB",
            "1K",
            "1 Mi B", "0x10", "1e3", "64KiBs", " 64KiB", "１６", "٣", "18446744073709551616", "16777216TiB",
            "99999999999999999999999MiB", "9223372036854775808", "nan",
        ])
    func garbage(text: String) {
        #expect(ByteSize(text) == nil, "\"\(text)\"")
    }

    @Test(
        "a size is shown in the largest unit in which it is whole",
        arguments: [
            (0, "0B"), (1, "1B"), (1000, "1000B"), (1024, "1KiB"), (1536, "1536B"), (16_000_000, "16MB"),
            (16 << 20, "16MiB"), (104_857_600, "100MiB"), (1 << 40, "1TiB"), (1_000_000_000, "1GB"), (2 << 20, "2MiB"),
        ] as [(UInt64, String)]
    )
    func printing(byteCount: UInt64, text: String) {
        #expect(ByteSize(byteCount).description == text)
    }

    @Test("what is shown reads back as the same size")
    func roundTrip() {
        var byteCount: UInt64 = 1
        while byteCount < 1 << 61 {
            for size in [
                byteCount, byteCount - 1, byteCount / 3 &* 1000 % (1 << 60), byteCount / 7 &* 1_000_000 % (1 << 60),
            ] {
                let text = ByteSize(size).description
                if size < 1 << 62 { #expect(ByteSize(text)?.byteCount == size, "\(text)") }
            }
            byteCount *= 2
        }
    }
}

@Suite("durations")
struct DurationTextTests {
    @Test(
        "durations are read with every unit, and with a fraction that comes out",
        arguments: [
            ("7ns", 7), ("500us", 500_000), ("500µs", 500_000), ("20ms", 20_000_000), ("2.5ms", 2_500_000),
            ("10s", 10_000_000_000), ("2m", 120_000_000_000), ("1.5h", 5_400_000_000_000), ("0s", 0),
            ("30d", 2_592_000_000_000_000), ("0.000000001s", 1),
        ] as [(String, UInt64)])
    func reading(text: String, nanoseconds: UInt64) {
        #expect(TimeText.nanoseconds(text) == nanoseconds)
        #expect(TimeText.nanoseconds(text, in: .hours) == nanoseconds, "a unit that is written counts")
    }

    @Test("a number alone is in the unit that goes with it, and nothing without one")
    func bare() {
        #expect(TimeText.nanoseconds("5") == nil)
        #expect(TimeText.nanoseconds("5", in: .seconds) == 5_000_000_000)
        #expect(TimeText.nanoseconds("0.5", in: .milliseconds) == 500_000)
    }

    @Test(
        "all else is no duration",
        arguments: [
            "", "s", "-1s", "+1s", "1.", ".5s", "1..5s", "1 s", "5S", "5min", "1e3s", "0.5ns", "0.0000000001s", "nan",
            "5s5", "99999999999999999999s", "213504d", "٣s",
        ])
    func garbage(text: String) {
        #expect(TimeText.nanoseconds(text, in: .seconds) == nil, "\"\(text)\"")
    }
}

@Suite("figures as whole numbers")
struct NearestTests {
    @Test(
        "the nearest, from 0 to 2^63, whatever the figure is",
        arguments: [
            (0, 0), (0.4, 0), (0.5, 1), (1e3, 1000), (-1, 0), (-.infinity, 0), (.nan, 0), (0x1p62, 1 << 62),
            (0x1p63, 1 << 63), (0x1p64, 1 << 63), (1e308, 1 << 63), (.infinity, 1 << 63),
        ] as [(Double, UInt64)])
    func nearest(figure: Double, expected: UInt64) {
        #expect(UInt64(nearest: figure) == expected)
    }
}

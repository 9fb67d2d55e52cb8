import Report
import Support
import Testing

@Suite struct FormattingTests {
    @Test(
        "sizes that somebody chose keep the kind of unit they were chosen in",
        arguments: [
            (0, "0 B"), (16, "16 B"), (1000, "1000 B"), (4096, "4 KiB"), (1 << 20, "1 MiB"), (16_000_000, "16 MB"),
            (16 << 20, "16 MiB"), (104_857_600, "100 MiB"), (100_000_000, "100 MB"), (64 << 30, "64 GiB"),
            (1536, "1.50 KiB"), (1_000_001, "977 KiB"), (.max, "16.0 EiB"),
        ] as [(UInt64, String)]
    )
    func sizes(byteCount: UInt64, expected: String) {
        #expect(ByteCountText.size(byteCount) == expected)
    }

    @Test(
        "measured sizes have three digits and a binary unit",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10_229, "9.99 KiB"), (10_239, "10.0 KiB"),
            (1_048_064, "1.00 MiB"), (1_047_000, "1,022 KiB"), (101 << 20, "101 MiB"), (16_000_000, "15.3 MiB"),
        ] as [(UInt64, String)]
    )
    func measured(byteCount: UInt64, expected: String) {
        #expect(ByteCountText.measured(byteCount) == expected)
    }

    @Test("rates and their intervals name each unit once")
    func rates() {
        #expect(ByteCountText.rate(5_594_192_118) == "5.21 GiB/s")
        #expect(ByteCountText.rateRange(5 << 30, 6 << 30) == "5.00–6.00 GiB/s")
        #expect(ByteCountText.rateRange(900 << 20, 2 << 30) == "900 MiB/s–2.00 GiB/s")
    }

    @Test(
        "durations have three digits",
        arguments: [
            (0, "0 ns"), (850, "850 ns"), (999, "999 ns"), (1000, "1.00 µs"), (12_345, "12.3 µs"), (999_600, "1.00 ms"),
            (4_100_000, "4.10 ms"), (1_234_000_000, "1.23 s"), (7_200_000_000_000, "7,200 s"),
        ] as [(UInt64, String)]
    )
    func durations(nanoseconds: UInt64, expected: String) {
        #expect(DurationText.text(nanoseconds: nanoseconds) == expected)
    }

    @Test(
        "ratios and shares have three digits",
        arguments: [
            (1, "1.00×"), (3906.25, "3,906×"), (0.00204, "0.00204×"), (0.0471, "0.0471×"), (0.471, "0.471×"),
            (99.96, "100×"), (0.0001, "<0.001×"), (0, "0×"), (.nan, "–×"), (.infinity, "–×"),
        ] as [(Double, String)]
    )
    func ratios(ratio: Double, expected: String) {
        #expect(RatioText.times(ratio) == expected)
    }

    @Test("shares are in percent")
    func percent() {
        #expect(RatioText.percent(0.0123) == "1.2 %")
        #expect(RatioText.percent(0.123) == "12 %")
        #expect(RatioText.count(1, "round") == "1 round")
        #expect(RatioText.count(1234, "round") == "1,234 rounds")
    }

    @Test("JSON has its members in order, explicit nulls and unescaped slashes")
    func json() {
        let value = JSONValue.object([
            "b": .array([.integer(.max), .number(0.5)]), "a": .null, "c": .string("a/\"b\"\\\n\u{1}é"),
            "d": .number(.nan), "e": .array([.string("x"), .bool(true)]), "f": .array([]), "g": .object([:]),
        ])
        #expect(
            value.text == """
                {
                  "a": null,
                  "b": [18446744073709551615, 0.5],
                  "c": "a/\\"b\\"\\\\\\n\\u0001é",
                  "d": null,
                  "e": [
                    "x",
                    true
                  ],
                  "f": [],
                  "g": {}
                }
                """)
    }
}

import Measurement
import Support
import Testing

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

    @Test(
        "workloads are read and shown", arguments: [("sequential", "sequential"), ("random:4096", "random:4KiB")])
    func workloads(text: String, shown: String) {
        #expect(CellWorkload(text)?.description == shown)
    }

    @Test(
        "what is no workload is none",
        arguments: [
            "", "Sequential", "random", "random:", "random:0", "random:257MiB", "random:-1", "random:4KiB,8KiB",
        ])
    func badWorkloads(text: String) {
        #expect(CellWorkload(text) == nil)
    }
}

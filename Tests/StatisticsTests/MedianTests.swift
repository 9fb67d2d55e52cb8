import Statistics
import Testing

@Suite struct MedianTests {
    @Test(
        "the median is the middle value or the mean of the two middle ones",
        arguments: [
            ([7], 7), ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([5, 5, 5, 5], 5), ([1, 2], 1.5), ([9, 0, 0, 0, 9], 0),
        ] as [([UInt64], Double)]
    )
    func median(samples: [UInt64], expected: Double) {
        #expect(Statistics.median(of: samples) == expected)
    }

    @Test("the two middle values may be greater than half of 64 bits")
    func noOverflow() {
        #expect(Statistics.median(of: [.max, .max]) == Double(UInt64.max))
    }

    @Test("no samples have no median and no percentile")
    func empty() {
        #expect(Statistics.median(of: []) == nil)
        #expect(percentile(tenthsOfPercent: 500, of: [Int]()) == nil)
    }

    @Test(
        "percentiles are samples, by nearest rank",
        arguments: [(0, 15), (50, 15), (300, 20), (400, 20), (401, 35), (500, 35), (999, 50), (1000, 50)]
    )
    func nearestRank(percent: Int, expected: Int) {
        #expect(percentile(tenthsOfPercent: percent, of: [35, 20, 50, 15, 40]) == expected)
    }

    @Test("99.9 % of a thousand samples is the 999th, not the thousandth")
    func exactRank() {
        #expect(percentile(tenthsOfPercent: 999, of: Array(1...1000)) == 999)
        #expect(percentile(tenthsOfPercent: 999, of: Array(1...1001)) == 1000)
    }
}

@Suite struct FasterHalfTests {
    @Test(
        "the slower half does not count, whatever it is",
        arguments: [
            ([], nil), ([7], 7), ([9, 1], 1), ([5, 1, 9], 3), ([4, 2, 1 << 60, .max], 3), ([3, 1, 2, 100, 50], 2),
        ] as [([UInt64], Double?)])
    func mean(samples: [UInt64], expected: Double?) {
        #expect(meanOfFasterHalf(of: samples) == expected)
        #expect(meanOfFasterHalf(of: samples.reversed()) == expected)
    }
}

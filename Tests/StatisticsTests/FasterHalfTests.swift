import Statistics
import Testing

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

import SubjectProtocol
import Testing

@Suite("arrivals")
struct ArrivalTests {
    @Test("a load has one text, and others are refused")
    func text() {
        #expect(Arrivals("2000")?.description == "poisson:2000")
        #expect(Arrivals("fixed:0.5")?.description == "fixed:0.5")
        #expect(Arrivals.loads("fixed:500,1000")?.map(\.description) == ["fixed:500", "fixed:1000"])
        for text in ["", "0", "-1", "1e3", "1,", "poisson", "poisson:", "burst:5", "0x10", "10x", "nan", "10000001"] {
            #expect(Arrivals.loads(text) == nil, "\(text)")
        }
        #expect(Arrivals("1,2") == nil)
    }

    @Test("fixed arrivals are all as far apart")
    func fixed() throws {
        let due = try #require(Arrivals("fixed:2000")).dueNanoseconds(count: 4, seed: 1)
        #expect(due == [500_000, 1_000_000, 1_500_000, 2_000_000])
        #expect(try #require(Arrivals("fixed:2000")).dueNanoseconds(count: 0, seed: 1).isEmpty)
    }

    @Test("Poisson arrivals have exponential gaps, and a seed gives the same ones again")
    func poisson() throws {
        let arrivals = try #require(Arrivals(.poisson, perSecond: 1000))
        let count = 100_000
        let due = arrivals.dueNanoseconds(count: count, seed: 7)
        #expect(due == arrivals.dueNanoseconds(count: count, seed: 7))
        #expect(due != arrivals.dueNanoseconds(count: count, seed: 8))
        let gaps = zip([0] + due, due).map { Double($1 - $0) / 1e6 }
        let mean = gaps.reduce(0, +) / Double(count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count)
        // Five standard errors: 1 ÷ √n of the mean, √8 ÷ √n of the variance, √(p (1 − p) ÷ n) of a share.
        #expect((mean - 1).magnitude < 5 * 0.00317 && (variance - 1).magnitude < 5 * 0.009)
        for (limit, share) in [(0.5, 0.6065), (1.0, 0.3679), (3.0, 0.0498)] {
            let found = Double(gaps.count { $0 > limit }) / Double(count)
            #expect((found - share).magnitude < 5 * 0.0016, "\(limit): \(found)")
        }
    }
}

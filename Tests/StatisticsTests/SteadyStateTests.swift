import Statistics
import Testing

@Suite("steady state")
struct SteadyStateTests {
    @Test("the last five durations decide, and fewer are not enough")
    func last() {
        #expect(SteadyState.isReached([900, 500, 100, 100, 101, 99, 100]))
        #expect(!SteadyState.isReached([100, 100, 100, 100]))
        #expect(!SteadyState.isReached([100, 100, 100, 100, 100, 100, 200]))
        #expect(!SteadyState.isReached([]))
    }

    @Test("a coefficient of variation of 2 % is steady, and more is not")
    func threshold() {
        // Mean 100; standard deviation 2 and a little more.
        #expect(SteadyState.isReached([98, 98, 100, 102, 102]))
        #expect(!SteadyState.isReached([97, 98, 100, 102, 103]))
    }

    @Test("durations that the clock cannot tell from nothing are steady")
    func zero() {
        #expect(SteadyState.isReached([0, 0, 0, 0, 0]))
    }
}

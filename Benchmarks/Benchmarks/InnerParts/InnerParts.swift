import Benchmark

/// The hot inner parts, each on its own: what a change to one of them is measured with.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuUser, .throughput], warmupIterations: 3, scalingFactor: .kilo,
        maxDuration: .milliseconds(500), maxIterations: 1_000_000)
    addPlanning()
    addBackends()
    addDigesting()
    addStatistics()
}

import Benchmark
import Crypto
import Statistics

/// SHA-256 of a window, with which measurements compare what a reader delivers.
func addDigesting() {
    Benchmark("digest 256 KiB", configuration: .init(scalingFactor: .one)) { benchmark in
        let bytes = [UInt8](repeating: 0x5A, count: 256 << 10)
        benchmark.startMeasurement()
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        blackHole(hash.finalize())
        benchmark.stopMeasurement()
    }
}

/// Medians, percentiles and intervals of as many samples as a cell has.
func addStatistics() {
    let samples = (0..<10_000).map { UInt64($0) &* 2_654_435_761 % 1_000_003 }
    let processes = samples.prefix(5).map { Double($0 + 1) }
    Benchmark("median of 10,000 samples", configuration: .init(scalingFactor: .one)) { _ in
        blackHole(median(of: samples))
    }
    Benchmark("99.9th percentile of 10,000 samples", configuration: .init(scalingFactor: .one)) { _ in
        blackHole(percentile(tenthsOfPercent: 999, of: samples))
    }
    Benchmark("interval of 5 processes", configuration: .init(scalingFactor: .one)) { _ in
        blackHole(LogSample(processes)?.interval)
    }
}

import Statistics

/// The latencies of an open loop at one load: each read is due at a time that was drawn before, whether or not earlier
/// reads are done.
///
/// The record sorts all reads of all processes. An HDR histogram would take less memory for longer runs than these, but
/// it would round each latency to three digits and add a dependency.
package struct OpenLoopRecord: Codable, Hashable, Sendable {
    /// The load, such as `poisson:2000`.
    package let arrivals: String
    /// The number of reads that were due in a second.
    package let offeredPerSecond: Double
    /// The number of reads that were completed in a second: the load times the ratio of the scheduled to the elapsed
    /// time. The ratio is that of the median process. So a lucky or unlucky draw of a Poisson process does not look
    /// like an overload.
    package let achievedPerSecond: Double
    /// The number of processes.
    package let processCount: Int
    /// The number of reads of all processes.
    package let readCount: Int
    /// The time from a read's due time until it is complete.
    package let latency: Percentiles
    /// The time from a read's start until it is complete, which is all that a closed loop sees.
    package let service: Percentiles

    /// The times of one process.
    package struct Process: Hashable, Sendable {
        /// For each read, the time from its due time until it is complete, in nanoseconds.
        package let latencies: [UInt64]
        /// For each read, the time from its start until it is complete, in nanoseconds.
        package let services: [UInt64]
        /// The last read's due time, and the time at which the last read was complete, both from the start of the
        /// schedule.
        package let dueNanoseconds: UInt64, elapsedNanoseconds: UInt64

        package init(latencies: [UInt64], services: [UInt64], dueNanoseconds: UInt64, elapsedNanoseconds: UInt64) {
            self.latencies = latencies
            self.services = services
            self.dueNanoseconds = dueNanoseconds
            self.elapsedNanoseconds = elapsedNanoseconds
        }
    }

    /// Combines the reads of several processes; `nil` without any read.
    package init?(arrivals: String, offeredPerSecond: Double, _ processes: [Process]) {
        let shares = processes.compactMap { process -> Double? in
            process.elapsedNanoseconds > 0
                ? Double(process.dueNanoseconds) / Double(process.elapsedNanoseconds) : nil
        }.sorted()
        guard let latency = Percentiles(Array(processes.map(\.latencies).joined())),
            let service = Percentiles(Array(processes.map(\.services).joined())), !shares.isEmpty
        else { return nil }
        self.arrivals = arrivals
        self.offeredPerSecond = offeredPerSecond
        achievedPerSecond = offeredPerSecond * shares[(shares.count - 1) / 2]
        processCount = processes.count
        readCount = processes.reduce(0) { $0 + $1.latencies.count }
        self.latency = latency
        self.service = service
    }

    /// True if the reader did not keep up, so that latencies grow for as long as the load lasts.
    package var isOverloaded: Bool { achievedPerSecond < 0.95 * offeredPerSecond }

    /// Percentiles by nearest rank, in nanoseconds. A percentile is `nil` if there are too few reads for an upper
    /// bound.
    ///
    /// The longest of n reads is an upper bound of the p-th part with a confidence of 1 − pⁿ, whatever the
    /// distribution.
    /// - Source: David and Nagaraja, "Order Statistics", 3rd edition (2003), §7.1.
    package struct Percentiles: Codable, Hashable, Sendable {
        package let p50: UInt64, p90: UInt64?, p99: UInt64?, p999: UInt64?, p9999: UInt64?
        package let max: UInt64

        /// The numbers of reads that p90, p99, p99.9 and p99.99 need for a confidence of 95 %.
        package static let neededCounts = [29, 299, 2995, 29_956]

        /// Sorts the durations of reads; `nil` without any.
        package init?(_ nanoseconds: [UInt64]) {
            let sorted = nanoseconds.sorted()
            guard let last = sorted.last else { return nil }
            func rank(_ hundredths: Int, _ neededCount: Int) -> UInt64? {
                sorted.count < neededCount ? nil : percentile(hundredthsOfPercent: hundredths, ofSorted: sorted)
            }
            p50 = rank(5000, 1) ?? last
            p90 = rank(9000, Self.neededCounts[0])
            p99 = rank(9900, Self.neededCounts[1])
            p999 = rank(9990, Self.neededCounts[2])
            p9999 = rank(9999, Self.neededCounts[3])
            max = last
        }

        /// All percentiles, from the lowest to the max.
        package var all: [UInt64?] { [p50, p90, p99, p999, p9999, max] }
    }
}

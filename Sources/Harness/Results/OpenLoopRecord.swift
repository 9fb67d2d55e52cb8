import Statistics

/// What an open loop found at one load: reads that were due at times drawn before, whatever became of others.
///
/// All reads of all processes are kept and sorted. An HDR histogram would take less memory for more reads than a process
/// keeps here, would round each to three digits, and would be one more dependency.
package struct OpenLoopRecord: Codable, Hashable, Sendable {
    /// The load: `poisson:2000`.
    package let arrivals: String
    /// The reads that were due in a second.
    package let offeredPerSecond: Double
    /// The reads that were done in a second: the load × the share of the time that the schedule takes, of the process in
    /// the middle. So that the luck of a Poisson process is not taken for an overload.
    package let achievedPerSecond: Double
    /// How many processes there were.
    package let processCount: Int
    /// How many reads all of them did.
    package let readCount: Int
    /// From when a read was due until it was done.
    package let latency: Percentiles
    /// From when a read was started until it was done, which is all that a closed loop sees.
    package let service: Percentiles

    /// What one process found.
    package struct Process: Hashable, Sendable {
        /// For each read, the nanoseconds from its due time on.
        package let latencies: [UInt64]
        /// For each read, the nanoseconds from its start on.
        package let services: [UInt64]
        /// When the last read was due, and when the last one was done, from the start of the schedule.
        package let dueNanoseconds: UInt64, elapsedNanoseconds: UInt64

        /// Creates what a process found.
        package init(latencies: [UInt64], services: [UInt64], dueNanoseconds: UInt64, elapsedNanoseconds: UInt64) {
            self.latencies = latencies
            self.services = services
            self.dueNanoseconds = dueNanoseconds
            self.elapsedNanoseconds = elapsedNanoseconds
        }
    }

    /// Puts the reads of processes together; `nil` without any read.
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

    /// Whether the reader did not keep up, so that latencies grow for as long as it lasts.
    package var isOverloaded: Bool { achievedPerSecond < 0.95 * offeredPerSecond }

    /// Percentiles by nearest rank, in nanoseconds; `nil` for one that too few reads give an upper bound.
    ///
    /// The longest of n reads is an upper bound of the p-th part with a confidence of 1 − pⁿ, whatever the distribution.
    /// - Source: David and Nagaraja, "Order Statistics", 3rd edition (2003), §7.1.
    package struct Percentiles: Codable, Hashable, Sendable {
        package let p50: UInt64, p90: UInt64?, p99: UInt64?, p999: UInt64?, p9999: UInt64?
        package let max: UInt64

        /// The reads that p90, p99, p99.9 and p99.99 need, for 95 %.
        package static let neededCounts = [29, 299, 2995, 29_956]

        /// Sorts reads; `nil` without any.
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

        /// All of them, from the lowest.
        package var all: [UInt64?] { [p50, p90, p99, p999, p9999, max] }
    }
}

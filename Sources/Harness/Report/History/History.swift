package import Results

/// Many runs in the order in which they started: each cell over time, per host, as ratios to a reference backend.
///
/// Times of different days are not compared: what the machine does differently on a day hits the reference too, and falls
/// out of the ratio.
package struct History: Sendable {
    /// The runs, by start and then by path.
    package let runs: [HistoricalRun]
    /// The files that could not be read, by path.
    package let skipped: [SkippedFile]
    /// The backend that the others are put over; `nil` if no run has any figure.
    package let reference: String?
    /// The machines, in the order of their first run.
    package let hosts: [HostHistory]

    /// Puts runs in order.
    ///
    /// - Parameters:
    ///   - runs: The runs, in any order.
    ///   - skipped: What could not be read.
    ///   - reference: The reference backend; unless said, one that has figures in every run: `openssl` if it does, else
    ///     the first. Where no backend does, the one that does in most runs.
    package init(_ runs: [HistoricalRun], skipped: [SkippedFile] = [], reference: String? = nil) {
        let ordered = runs.sorted { ($0.header.startedAt, $0.path) < ($1.header.startedAt, $1.path) }
        self.runs = ordered
        self.skipped = skipped.sorted { $0.path < $1.path }
        let reference = reference ?? Self.commonBackend(ordered)
        self.reference = reference
        var order: [HostIdentity] = []
        var members: [HostIdentity: [HistoricalRun]] = [:]
        for run in ordered {
            let identity = HostIdentity(run.header.host)
            if members[identity] == nil { order.append(identity) }
            members[identity, default: []].append(run)
        }
        hosts = order.map { HostHistory(members[$0] ?? [], reference: reference) }
    }

    /// The history of one machine only; the files that were skipped stay.
    package func only(_ host: RunHeader.Host) -> History {
        History(
            runs.filter { HostIdentity($0.header.host) == HostIdentity(host) }, skipped: skipped, reference: reference)
    }

    /// The backends that have figures in any run, in the order in which they appear.
    package var backends: [String] { Self.backends(runs).map(\.name) }

    private static func commonBackend(_ runs: [HistoricalRun]) -> String? {
        let backends = backends(runs)
        let maximum = backends.map(\.runCount).max() ?? 0
        let common = backends.filter { $0.runCount == maximum }.map(\.name)
        return common.contains("openssl") ? "openssl" : common.first
    }

    private static func backends(_ runs: [HistoricalRun]) -> [(name: String, runCount: Int)] {
        var order: [String] = []
        var counts: [String: Int] = [:]
        for run in runs {
            var seen: Set<String> = []
            for cell in run.cells where seen.insert(cell.cell.backend).inserted {
                if counts[cell.cell.backend] == nil { order.append(cell.cell.backend) }
                counts[cell.cell.backend, default: 0] += 1
            }
        }
        return order.map { ($0, counts[$0] ?? 0) }
    }
}

/// What makes two runs those of one machine; the kernel and its settings may change.
struct HostIdentity: Hashable, Sendable {
    private let name: String
    private let cpuModel: String
    private let cpuCount: Int
    private let cpuFlags: Set<String>
    private let memoryByteCount: UInt64
    private let cacheByteCounts: [UInt64]

    init(_ host: RunHeader.Host) {
        name = host.name
        cpuModel = host.cpuModel
        cpuCount = host.cpuCount
        cpuFlags = Set(host.cpuFlags)
        memoryByteCount = host.memoryByteCount
        cacheByteCounts = host.cacheByteCounts
    }
}

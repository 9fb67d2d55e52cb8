import Results
import Statistics

/// The hosts of a merged run: their kinds, the outliers within a kind, and the choices that hold on all of them. No
/// figure is averaged over hosts.
struct Fleet: Sendable {
    /// Hosts with the same CPU, microcode, and number and kind of usable CPUs.
    struct Kind: Sendable {
        /// The title of its column: `A · Xeon, 0x2b, 2 CPUs`.
        var label: String
        var cpuModel: String
        var microcode: String?
        var cpuCount: Int
        /// The indices of the hosts.
        var hosts: [Int]
    }

    /// A host whose throughput differs from that of the middle host of its kind.
    struct Outlier: Sendable {
        var host: Int
        /// The number of cells whose intervals show the difference, and the number of cells compared.
        var cellCount: Int, comparedCount: Int
        /// The largest difference, with its cell and the host that it is relative to.
        var ratio: SpeedRatio
        var cell: Cell
        var other: Int
    }

    let hosts: [RunSummary]
    let kinds: [Kind]
    let outliers: [Outlier]
    let laws: [BestPerHostKind]
    /// The locations of each cell's figures, in the order in which hosts first name the cells.
    let cells: [(cell: Cell, figures: [Figures])]

    /// The indices of a host and of a cell on it.
    struct Figures: Sendable {
        var host: Int
        var cell: Int
    }

    init(_ hosts: [RunSummary]) {
        self.hosts = hosts
        let kinds = hosts.indices.grouped { HostTraits(hosts[$0].header.host) }.enumerated().map { index, group in
            Kind(group.key, letter: Self.letter(index), hosts: group.elements)
        }
        let all = hosts.indices.flatMap { host in hosts[host].cells.indices.map { Figures(host: host, cell: $0) } }
        let cells = all.grouped { hosts[$0.host].cells[$0.cell].cell.id }.map { _, figures in
            (hosts[figures[0].host].cells[figures[0].cell].cell, figures)
        }
        self.kinds = kinds
        self.cells = cells
        outliers = kinds.flatMap { Self.outliers(of: $0, hosts, cells) }
        laws = BestPerHostKind.all(of: hosts, kinds)
    }

    /// The findings that no reader should miss.
    var verdict: [String] {
        let records = ConformanceRecord.sums(of: hosts.flatMap(\.results.conformance))
        let failed = records.filter { $0.failed > 0 }.map { "\($0.subject) failed \($0.failed)" }
        let passed = records.filter { $0.passed > 0 }.map {
            "\($0.subject) \(SignificantDigits.grouped(UInt64($0.passed)))"
        }
        let vectors =
            records.isEmpty
            ? [] : [failed.isEmpty ? "Vectors passed: \(Verdict.list(passed))." : "Vectors: \(Verdict.list(failed))."]
        let failures = hosts.filter { !$0.cellsWithoutFigures.isEmpty }
        let without = failures.map { "\($0.name) \($0.cellsWithoutFigures.count)" }
        let cells = without.isEmpty ? [] : ["Cells without figures: \(Verdict.list(without))."]
        return vectors + cells + laws.map { $0.sentence(kinds, hosts) }
            + outliers.map { outlier in
                "\(hosts[outlier.host].name) differs from \(hosts[outlier.other].name), of the same kind, in "
                    + "\(outlier.cellCount) of \(outlier.comparedCount) cells, by up to \(outlier.ratio.text)."
            } + [
                "Figures of \(RatioText.count(hosts.count, "host")) of \(RatioText.count(kinds.count, "kind")); none "
                    + "is averaged over hosts."
            ]
    }

    /// The caveats that a reader must know before any figure.
    var warnings: [String] {
        let merge = hosts.first?.header.merge
        let done = Set(hosts.flatMap { $0.header.merge?.shards ?? [] }).count
        let missing =
            hosts.allSatisfy(\.isComplete)
            ? []
            : [
                "Shards are missing, or parts of them: of \(merge?.shardCount ?? 0), \(done) left anything. chunkwise "
                    + "merge names them."
            ]
        return missing + hosts.flatMap { host in host.omittedTexts.map { "\(host.name): \($0)" } }
    }

    func summary(_ figures: Figures) -> CellSummary { hosts[figures.host].cells[figures.cell] }

    /// Returns a letter from `A` to `Z`, and a number for further indices.
    private static func letter(_ index: Int) -> String {
        index < 26 ? String(UnicodeScalar(UInt8(65 + index))) : "\(index + 1)"
    }

    /// The minimum difference that matters to users.
    static let outlierMargin = 0.02

    /// Returns the hosts of a kind that are shown to differ from the middle one by more than the margin, with 95 %
    /// confidence for all hosts of the kind together. A host is shown to differ in either of two ways: in more cells
    /// than 95 % intervals miss by chance, or in one cell whose interval is widened for the number of comparisons.
    private static func outliers(
        of kind: Kind, _ hosts: [RunSummary], _ cells: [(cell: Cell, figures: [Figures])]
    ) -> [Outlier] {
        let members = Set(kind.hosts)
        var compared: [Int: [(ratio: SpeedRatio, one: LogSample, over: LogSample, cell: Cell, other: Int)]] = [:]
        for (cell, figures) in cells {
            let measured = figures.filter { members.contains($0.host) }
                .compactMap { figures in
                    hosts[figures.host].cells[figures.cell].speed.map { (host: figures.host, speed: $0) }
                }
                .sorted { ($0.speed.bytesPerSecond, $0.host) < ($1.speed.bytesPerSecond, $1.host) }
            guard measured.count > 1 else { continue }
            // Of two hosts, the faster one is the middle: the slower one is likely to have a problem.
            let middle = measured[measured.count / 2]
            for one in measured where one.host != middle.host {
                let (sample, other) = (one.speed.sample, middle.speed.sample)
                compared[one.host, default: []].append(
                    (SpeedRatio(of: sample, over: other), sample, other, cell, middle.host))
            }
        }
        let comparisonCount = Double(compared.values.reduce(0) { $0 + $1.count })
        return compared.keys.sorted().compactMap { host in
            let all = compared[host] ?? []
            let differing = all.filter { $0.ratio.hasInterval && Self.differs($0.ratio.low, $0.ratio.high) }
            let isShownAlone = differing.contains { one in
                let interval = one.one.ratioInterval(over: one.over, tail: 0.025 / comparisonCount)
                return interval.map { Self.differs($0.low, $0.high) } ?? false
            }
            let chance = Self.chance(ofAtLeast: differing.count, of: all.count, each: 0.05)
            guard isShownAlone || chance <= 0.05 / Double(max(1, members.count)),
                let largest = differing.max(by: { $0.ratio.distance < $1.ratio.distance })
            else { return nil }
            return Outlier(
                host: host, cellCount: differing.count, comparedCount: all.count, ratio: largest.ratio,
                cell: largest.cell, other: largest.other)
        }
    }

    /// Returns whether an interval lies beyond the margin.
    private static func differs(_ low: Double, _ high: Double) -> Bool {
        low > 1 + outlierMargin || high < 1 / (1 + outlierMargin)
    }

    /// Returns the probability of at least `count` successes.
    private static func chance(ofAtLeast count: Int, of total: Int, each: Double) -> Double {
        guard count > 0 else { return 1 }
        // The probability of no success, then of each further number of successes.
        var (term, below) = ((0..<total).reduce(1.0) { product, _ in product * (1 - each) }, 0.0)
        for number in 0..<count {
            below += term
            term *= Double(total - number) / Double(number + 1) * each / (1 - each)
        }
        return max(0, 1 - below)
    }
}

extension SpeedRatio {
    /// The distance of the two, as a factor of at least 1.
    fileprivate var distance: Double { max(ratio, 1 / ratio) }
}

/// The properties that hosts of one kind share.
private struct HostTraits: Hashable {
    var cpuModel: String
    var microcode: String?
    var cpuCount: Int
    var cpuKind: String?

    init(_ host: RunHeader.Host) {
        (cpuModel, microcode) = (host.cpuModel, host.microcode)
        (cpuCount, cpuKind) = (host.usableCPUCount, host.cpuKind)
    }
}

extension Fleet.Kind {
    fileprivate init(_ traits: HostTraits, letter: String, hosts: [Int]) {
        let details = [
            traits.microcode.map { "microcode \($0)" }, RatioText.count(traits.cpuCount, "CPU"), traits.cpuKind,
        ].compactMap { $0 }
        self.init(
            label: "\(letter) · \(traits.cpuModel), \(details.joined(separator: ", "))", cpuModel: traits.cpuModel,
            microcode: traits.microcode, cpuCount: traits.cpuCount, hosts: hosts)
    }

    /// The kind's letter.
    var name: String { String(label.prefix { $0 != " " }) }
}

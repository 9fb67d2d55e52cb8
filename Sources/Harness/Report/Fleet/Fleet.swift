import Results
import Statistics

/// The hosts of a merged run: which are of one kind, which of them differs from the others of its kind, and which choices
/// hold on all of them. No figure is averaged over hosts.
struct Fleet: Sendable {
    /// Hosts with the same CPU, microcode and number of CPUs to use.
    struct Kind: Sendable {
        /// What its column is called: `A · Xeon, 0x2b, 2 CPUs`.
        var label: String
        var cpuModel: String
        var microcode: String?
        var cpuCount: Int
        /// The hosts by their indices.
        var hosts: [Int]
    }

    /// A host whose throughput is another one than that of the middle host of its kind.
    struct Outlier: Sendable {
        var host: Int
        /// The cells in which its interval says so, and all that it was compared in.
        var cellCount: Int, comparedCount: Int
        /// The largest difference with its cell and the host that it is put over.
        var ratio: SpeedRatio
        var cell: Cell
        var other: Int
    }

    let hosts: [RunSummary]
    let kinds: [Kind]
    let outliers: [Outlier]
    let laws: [ScalingLaw]
    /// Where each cell's figures are, in the order in which hosts first name them.
    let cells: [(cell: Cell, figures: [Figures])]

    /// A cell on a host, by their indices.
    struct Figures: Sendable {
        var host: Int
        var cell: Int
    }

    init(_ hosts: [RunSummary]) {
        self.hosts = hosts
        let kinds = hosts.indices.grouped { KindKey(hosts[$0].header.host) }.enumerated().map { index, group in
            Kind(group.key, letter: Self.letter(index), hosts: group.elements)
        }
        let all = hosts.indices.flatMap { host in hosts[host].cells.indices.map { Figures(host: host, cell: $0) } }
        let cells = all.grouped { hosts[$0.host].cells[$0.cell].cell.id }.map { _, figures in
            (hosts[figures[0].host].cells[figures[0].cell].cell, figures)
        }
        self.kinds = kinds
        self.cells = cells
        outliers = kinds.flatMap { Self.outliers(of: $0, hosts, cells) }
        laws = ScalingLaw.all(of: hosts, kinds)
    }

    /// What no reader should miss.
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
        return vectors + cells + laws.map { $0.sentence(kinds) }
            + outliers.map { outlier in
                "\(hosts[outlier.host].name) differs from \(hosts[outlier.other].name), of the same kind, in "
                    + "\(outlier.cellCount) of \(outlier.comparedCount) cells, by up to \(outlier.ratio.text)."
            } + [
                "Figures of \(RatioText.count(hosts.count, "host")) of \(RatioText.count(kinds.count, "kind")); none is averaged "
                    + "over hosts."
            ]
    }

    /// What must be known before any figure is read.
    var warnings: [String] {
        let merge = hosts.first?.header.merge
        let done = hosts.reduce(0) { $0 + ($1.header.merge?.shards.count ?? 0) }
        let missing =
            hosts.allSatisfy(\.isComplete)
            ? []
            : [
                "Shards are missing, or parts of them: of \(merge?.shardCount ?? 0), \(done) left anything. chunkwise merge "
                    + "names them."
            ]
        return missing + hosts.flatMap { host in host.leftOutTexts.map { "\(host.name): \($0)" } }
    }

    func summary(_ figures: Figures) -> CellSummary { hosts[figures.host].cells[figures.cell] }

    /// `A` to `Z`, and then numbers.
    private static func letter(_ index: Int) -> String {
        index < 26 ? String(UnicodeScalar(UInt8(65 + index))) : "\(index + 1)"
    }

    /// The hosts of a kind that differ from the middle one in more cells than intervals of 95 % miss by themselves.
    private static func outliers(
        of kind: Kind, _ hosts: [RunSummary], _ cells: [(cell: Cell, figures: [Figures])]
    ) -> [Outlier] {
        let members = Set(kind.hosts)
        var compared: [Int: Int] = [:]
        var found: [Int: [Outlier]] = [:]
        for (cell, figures) in cells {
            let measured = figures.filter { members.contains($0.host) }
                .map { (host: $0.host, summary: hosts[$0.host].cells[$0.cell]) }.filter { $0.summary.speed != nil }
                .sorted {
                    ($0.summary.speed?.bytesPerSecond ?? 0, $0.host) < ($1.summary.speed?.bytesPerSecond ?? 0, $1.host)
                }
            guard measured.count > 1 else { continue }
            // Of two the faster one: it is the slower one that something is wrong with.
            let middle = measured[measured.count / 2]
            for one in measured where one.host != middle.host {
                compared[one.host, default: 0] += 1
                guard let ratio = SpeedRatio(of: one.summary, over: middle.summary), ratio.hasInterval, !ratio.isTie
                else {
                    continue
                }
                found[one.host, default: []].append(
                    Outlier(
                        host: one.host, cellCount: 0, comparedCount: 0, ratio: ratio, cell: cell, other: middle.host))
            }
        }
        return found.keys.sorted().compactMap { host in
            guard let ratios = found[host], let count = compared[host],
                var outlier = ratios.max(by: { $0.distance < $1.distance })
            else { return nil }
            let chance = 0.05 * Double(count)
            guard Double(ratios.count) > chance + 2 * (chance * 0.95).squareRoot() else { return nil }
            (outlier.cellCount, outlier.comparedCount) = (ratios.count, count)
            return outlier
        }
    }
}

extension Fleet.Outlier {
    /// How far the host is from the other, as a factor of at least 1.
    fileprivate var distance: Double { max(ratio.ratio, 1 / ratio.ratio) }
}

/// What makes hosts those of one kind.
private struct KindKey: Hashable {
    var cpuModel: String
    var microcode: String?
    var cpuCount: Int

    init(_ host: RunHeader.Host) {
        (cpuModel, microcode, cpuCount) = (host.cpuModel, host.microcode, host.usableCPUCount)
    }
}

extension Fleet.Kind {
    fileprivate init(_ key: KindKey, letter: String, hosts: [Int]) {
        let details = [key.microcode.map { "microcode \($0)" }, RatioText.count(key.cpuCount, "CPU")].compactMap { $0 }
        self.init(
            label: "\(letter) · \(key.cpuModel), \(details.joined(separator: ", "))", cpuModel: key.cpuModel,
            microcode: key.microcode, cpuCount: key.cpuCount, hosts: hosts)
    }

    /// Its letter.
    var name: String { String(label.prefix { $0 != " " }) }
}

import Report
import Results
import Statistics
import Testing

/// Hosts of a merged run that are made up.
private func host(
    _ name: String, cpu: String = "CPU A", milliseconds: [(backend: String, window: UInt64, milliseconds: Double)]
) -> RunResults {
    var results = Fixture.small
    results.header.host.nodeName = name
    results.header.host.cpuModel = cpu
    results.header.host.microcode = "0x1"
    results.header.merge = .init(manifest: "m", shardCount: 4, shards: [0])
    results.cells = milliseconds.map {
        Fixture.sequential($0.backend, window: $0.window, milliseconds: $0.milliseconds, growth: 72 << 10)
    }
    return results
}

private func text(_ hosts: [RunResults]) -> String {
    String(decoding: SideBySide(hosts: hosts).file(.fullMarkdown).bytes, as: UTF8.self)
}

/// The rows of the table below a caption, without its head.
private func rows(_ text: String, column: String) -> [[String]] {
    let lines = text.split(separator: "\n").map(String.init)
    guard let head = lines.firstIndex(where: { $0.hasPrefix("|") && $0.contains(column) }) else { return [] }
    return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
        line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
    }
}

@Suite("reports of merged runs")
struct FleetTests {
    private static let fast = [("openssl", 64 << 10, 1.0), ("openssl", 1 << 20, 2.0), ("libgcrypt", 64 << 10, 3.0)]
        .map { (backend: $0.0, window: UInt64($0.1), milliseconds: $0.2) }

    @Test("hosts of the same CPU, microcode and number of CPUs are one column, and no figure is a mean over them")
    func kinds() {
        let slow = Self.fast.map { ($0.backend, $0.window, $0.milliseconds * 2) }
        let text = text([
            host("n1", milliseconds: Self.fast), host("n2", milliseconds: slow),
            host("n3", cpu: "CPU B", milliseconds: Self.fast),
        ])
        #expect(text.hasPrefix("# 3 hosts of 2 kinds"))
        let throughput = rows(text, column: "| Cell | A")
        #expect(throughput.count == 3 && throughput.allSatisfy { $0.count == 3 })
        // 1 MiB in 1 ms and in 2 ms: no 1.5 ms.
        let entry = throughput[0].joined(separator: " ")
        #expect(entry.contains("500 MiB/s to 1,000 MiB/s"), "\(entry)")
        #expect(!text.contains("666 MiB/s") && !text.contains("667 MiB/s") && !text.contains("750 MiB/s"))
    }

    @Test("what is near the best everywhere is said once; where choices differ, a table has what a wrong one costs")
    func laws() {
        let other = [("openssl", 64 << 10, 4.0), ("openssl", 1 << 20, 4.0), ("libgcrypt", 64 << 10, 1.0)]
            .map { (backend: $0.0, window: UInt64($0.1), milliseconds: $0.2) }
        let same = text([host("n1", milliseconds: Self.fast), host("n2", cpu: "CPU B", milliseconds: Self.fast)])
        #expect(same.contains("openssl, 64 KiB windows is near the best on 2 kinds of host, 2 hosts."))
        let different = text([
            host("n1", milliseconds: Self.fast), host("n2", milliseconds: Self.fast),
            host("n3", cpu: "CPU B", milliseconds: other),
        ])
        #expect(different.contains("no configuration is near the best on 2 kinds of host, 3 hosts"))
        let table = rows(different, column: "openssl, 64 KiB windows")
        #expect(table.count == 2 && table[0].count == 3, "\(table)")
        guard table.count == 2, table.allSatisfy({ $0.count == 3 }) else { return }
        // The choices in the order of the kinds; 3 ms instead of 1 ms, and 4 ms instead of 1 ms.
        #expect(table[0][1].contains("best") && table[0][2].contains("67 %"), "\(table[0])")
        #expect(table[1][1].contains("75 %") && table[1][2].contains("best"), "\(table[1])")
    }

    /// Hosts of a kind whose cells take about the same, but for noise between processes.
    private static func noisy(
        _ count: Int, cpu: String = "CPU A", noise: Double, using generator: inout SplitMix64,
        odd: (Int) -> [Double] = { _ in [1, 1, 1] }
    ) -> [RunResults] {
        (0..<count).map { index in
            let factors = odd(index)
            var results = host(
                "\(cpu.suffix(1))\(index)", cpu: cpu, milliseconds: fast.map { ($0.backend, $0.window, 1) })
            for cell in results.cells.indices {
                results.cells[cell].rounds = (0..<5).map { _ in
                    [UInt64(1e8 * factors[cell] * (1 + Double.random(in: -noise...noise, using: &generator)))]
                }
            }
            return results
        }
    }

    @Test("noise alone is never said to be a choice that differs, nor a host that does, however many hosts there are")
    func noiseOfManyHosts() {
        var generator = SplitMix64(seed: 24)
        for count in [3, 10, 40] {
            for noise in [0.02, 0.05] {
                let hosts =
                    Self.noisy(count, noise: noise, using: &generator)
                    + Self.noisy(count, cpu: "CPU B", noise: noise, using: &generator)
                let verdict = SideBySide(hosts: hosts).verdict
                let law = verdict.first { $0.contains("near the best") }
                #expect(law?.contains("no configuration") == false, "\(verdict)")
                #expect(noise > 0.02 || law?.contains("undecided") == false, "\(verdict)")
                #expect(!verdict.contains { $0.contains(" differs from ") }, "\(verdict)")
            }
        }
    }

    @Test("one odd host does not decide for its kind, whatever its name, and is named as an exception")
    func oddHost() {
        var generator = SplitMix64(seed: 7)
        for place in [0, 39] {
            let hosts = Self.noisy(40, noise: 0.005, using: &generator) {
                $0 == place ? [1, 1.25, 1.25] : [1.25, 1, 1.25]
            }
            let verdict = SideBySide(hosts: hosts).verdict
            let law = verdict.first { $0.contains("near the best") } ?? ""
            #expect(law.contains("openssl, 1 MiB windows is near the best on 1 kind of host, 40 hosts."), "\(law)")
            #expect(law.contains("On A\(place), openssl, 64 KiB windows is 1.2"), "\(law)")
        }
    }

    @Test("a host that is slower than others of its kind by more than its interval is named, and no other one")
    func outliers() {
        let slow = Self.fast.map { ($0.backend, $0.window, $0.milliseconds * 1.2) }
        let hosts = [
            host("n1", milliseconds: Self.fast), host("n2", milliseconds: slow), host("n3", milliseconds: Self.fast),
            host("n4", cpu: "CPU B", milliseconds: slow),
        ]
        let verdict = SideBySide(hosts: hosts).verdict
        #expect(verdict.filter { $0.contains(" differs from ") }.count == 1, "\(verdict)")
        #expect(verdict.contains { $0.hasPrefix("n2 differs from n") && $0.contains("in 3 of 3 cells") }, "\(verdict)")
    }

    @Test("vectors of all hosts are added up; what is missing stands above the verdict")
    func conformance() {
        var hosts = [host("n1", milliseconds: []), host("n2", milliseconds: [])]
        let records = { (passed: Int, failed: Int) in
            [
                ConformanceRecord(
                    subject: "s", passed: passed, failed: failed, unsupported: 0, notRun: 0, failures: [])
            ]
        }
        hosts[0].conformance = records(1000, 0)
        hosts[1].conformance = records(234, 0)
        #expect(SideBySide(hosts: hosts).verdict.first == "Vectors passed: s 1,234.")
        hosts[1].conformance = records(230, 4)
        hosts[1].isComplete = false
        #expect(SideBySide(hosts: hosts).verdict.first == "Vectors: s failed 4.")
        #expect(text(hosts).contains("Shards are missing"))
    }

    @Test("a file of several hosts is read as such, and refused where results of one are expected")
    func files() throws {
        let hosts = [host("n1", milliseconds: Self.fast), host("n2", milliseconds: Self.fast)]
        var bytes: [UInt8] = []
        for host in hosts {
            bytes += try ResultRecord.header(host.header).line()
            for cell in host.cells { bytes += try ResultRecord.check(#require(cell.check)).line() }
            bytes += try ResultRecord.end.line()
        }
        var reader = ResultFileReader()
        try bytes.withUnsafeBytes { try reader.take($0) }
        let read = try reader.finishHosts()
        #expect(
            read.map(\.header.host.nodeName) == ["n1", "n2"] && read.allSatisfy { $0.cells.count == 3 && $0.isComplete }
        )
    }
}

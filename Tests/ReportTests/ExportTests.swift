import Report
import Results
import Statistics
import Support
import Testing

@Suite("exports")
struct ExportTests {
    private static let report = RunReport(Fixture.small)
    private static let sequential =
        "libgcrypt aes128 cbc-continuous window=65536 sequential block threads=1 object=1048576 file"
    private static let random =
        "libgcrypt aes128 cbc-chunked:chunk=16MB window=4096 random:4KiB block threads=1 "
        + "object=67108864 file"

    private static func json(_ format: ExportFormat, _ report: RunReport = report) throws -> JSONValue {
        try #require(JSONValue.parse(report.export(format).bytes))
    }

    private static func number(_ value: JSONValue?) -> Double? {
        switch value {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        default: nil
        }
    }

    @Test("hyperfine: seconds of each process, and as parameters what tells cells apart")
    func hyperfine() throws {
        let results = try #require(try Self.json(.hyperfine)["results"]?.array)
        #expect(results.count == 7)
        let cell = try #require(results.first { $0["command"]?.string == Self.sequential })
        #expect(cell["times"]?.array?.compactMap(Self.number) == [0.001, 0.001001, 0.000999])
        #expect(cell["exit_codes"]?.array?.count == 3)
        #expect(Self.number(cell["median"]) == 0.001 && Self.number(cell["max"]) == 0.001001)
        #expect(try #require(Self.number(cell["mean"])).isClose(to: 0.001))
        #expect(try #require(Self.number(cell["stddev"])).isClose(to: 1e-6))
        // CPU time was not recorded, which is not 0.
        #expect(cell["user"] == .null && cell["system"] == .null)
        #expect(cell["parameters"]?["window"]?.string == "65536" && cell["parameters"]?["threads"] == nil)
        let one = try #require(results.first { $0["command"]?.string == Self.random })
        #expect(one["stddev"] == .null && one["times"]?.array?.count == 1)
    }

    @Test("criterion: the median with the report's interval, and no cell without one")
    func criterion() throws {
        let json = try Self.json(.criterion)
        guard case .object(let benchmarks) = json["benchmarks"] else { return #expect(Bool(false)) }
        #expect(json["name"]?.string == "bench-1 2026-11-20T12:00:00Z")
        #expect(benchmarks.count == 5 && Self.report.cellsWithoutIntervalCount == 2)
        let cell = try #require(benchmarks[Self.sequential])
        #expect(cell["criterion_benchmark_v1"]?["throughput"]?["Bytes"]?.integer == 1 << 20)
        let estimates = try #require(cell["criterion_estimates_v1"])
        let interval = try #require(LogSample([1e6, 1.001e6, 0.999e6])?.interval)
        let bounds = estimates["median"]?["confidence_interval"]
        #expect(try #require(Self.number(estimates["median"]?["point_estimate"])).isClose(to: 1e6))
        #expect(Self.number(bounds?["lower_bound"]) == interval.low)
        #expect(Self.number(bounds?["upper_bound"]) == interval.high)
        for name in ["mean", "median", "median_abs_dev", "std_dev"] {
            let estimate = try #require(estimates[name])
            let level = Self.number(estimate["confidence_interval"]?["confidence_level"])
            #expect(level == 0.95 && Self.number(estimate["standard_error"]) ?? -1 >= 0, "\(name)")
        }
        #expect(estimates["slope"] == .null)
    }

    @Test("Bencher Metric Format: numbers only, and bounds around values that have an interval")
    func bencher() throws {
        guard case .object(let benchmarks) = try Self.json(.bencher) else { return #expect(Bool(false)) }
        #expect(benchmarks.count == 7)
        for (name, measures) in benchmarks {
            guard case .object(let measures) = measures else { return #expect(Bool(false), "\(name)") }
            for (measure, metric) in measures {
                guard case .object(let members) = metric else { return #expect(Bool(false), "\(measure)") }
                let value = try #require(Self.number(members["value"]))
                let bounds = ["lower_value", "upper_value"].compactMap { Self.number(members[$0]) }
                #expect(members.count == 1 + bounds.count && [0, 2].contains(bounds.count), "\(measure)")
                if bounds.count == 2 { #expect(bounds[0] <= value + 1 && value <= bounds[1] + 1, "\(name) \(measure)") }
            }
        }
        #expect(benchmarks[Self.sequential]?["throughput"]?["lower_value"] != nil)
        #expect(benchmarks[Self.random]?["throughput"]?["lower_value"] == nil)
        #expect(benchmarks[Self.random]?["latency"]?["value"]?.integer == 9000)
    }

    @Test("asv: a machine, benchmarks with the cell as parameter, and results in the order of the columns")
    func asv() throws {
        let commit = String(repeating: "ab", count: 20)
        let files = Dictionary(
            uniqueKeysWithValues: Self.report.asvFiles(commit: commit).map { ($0.name, JSONValue.parse($0.bytes)) })
        #expect(
            Set(files.keys) == ["benchmarks.json", "bench-1/machine.json", "bench-1/abababab-chunkwise.json"])
        let result = try #require(files["bench-1/abababab-chunkwise.json"] ?? nil)
        #expect(result["commit_hash"]?.string == commit && result["date"]?.integer == 1_795_176_000_000)
        let columns = try #require(result["result_columns"]?.array?.compactMap { $0.string })
        let row = try #require(result["results"]?["chunkwise.time_iteration"]?.array)
        let cells = Dictionary(uniqueKeysWithValues: zip(columns, row))
        let names = try #require(cells["params"]?.array?.first?.array?.compactMap { $0.string })
        #expect(names.count == 7 && !names.contains { $0.contains("window=3 ") })
        for name in columns where name.hasPrefix("stats_") || name == "samples" || name == "result" {
            #expect(cells[name]?.array?.count == 7, "\(name)")
        }
        let index = try #require(names.firstIndex(of: Self.sequential))
        #expect(try #require(Self.number(cells["result"]?.array?[index])).isClose(to: 0.001))
        #expect(Self.number(cells["stats_repeat"]?.array?[index]) == 3)
        let single = try #require(names.firstIndex(of: Self.random))
        #expect(cells["stats_ci_99_a"]?.array?[single] == .null)
        let benchmark = (files["benchmarks.json"] ?? nil)?["chunkwise.time_iteration"]
        #expect(benchmark?["params"]?.array?.first?.array?.count == 7 && benchmark?["unit"]?.string == "seconds")
    }

    @Test("a host's name of any kind stays within the folder")
    func foreignNames() {
        var results = Fixture.small
        for name in ["../../etc", "a/b", "..", "", String(repeating: "x", count: 5000)] {
            results.header.host.name = name
            for file in RunReport(results).asvFiles(commit: "0123456789") {
                let parts = file.name.split(separator: "/", omittingEmptySubsequences: false)
                #expect(
                    parts.count <= 2 && !parts.contains { $0.isEmpty || $0.hasPrefix(".") || $0.count > 120 }, "\(name)"
                )
            }
        }
    }

    @Test("what failed, is unchecked or has no figures is in no export")
    func checked() throws {
        var results = Fixture.small
        results.cells = results.cells.filter { $0.failure != nil || $0.check == nil }
        #expect(!results.cells.isEmpty && RunReport(results).exportedCount == 0)
    }
}

extension Double {
    fileprivate func isClose(to other: Double) -> Bool { (self - other).magnitude <= 1e-9 * other.magnitude }
}

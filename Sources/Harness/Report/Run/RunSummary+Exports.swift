import Glibc
import Results
import Statistics
import Support

/// Formats for other programs.
///
/// One value stands for one process: the median time of its iterations, since iterations of one process resemble each
/// other. Only cells whose plaintext was right and that were timed are exported. A figure without an interval has no
/// bounds.
package enum ExportFormat: String, CaseIterable, Sendable {
    /// The format of `hyperfine --export-json`.
    case hyperfine
    /// The format of `critcmp --export`: `benchmark.json` and `estimates.json` of criterion.rs, for each cell.
    case criterion
    /// Bencher Metric Format, <https://bencher.dev/bmf.json>.
    case bencher
    /// A results folder of airspeed velocity.
    case asv
}

extension RunReport {
    /// The number of cells that an export has.
    package var exportedCount: Int { summary.exported.count }

    /// Returns the report as a file for another program.
    ///
    /// - Parameter format: Any but ``ExportFormat/asv``, which is a folder.
    /// - Returns: The file.
    package func export(_ format: ExportFormat) -> ReportFile {
        let value =
            switch format {
            case .hyperfine: summary.hyperfine
            case .criterion: summary.criterion
            case .bencher: summary.bencher
            case .asv: preconditionFailure("asv reads a folder")
            }
        return ReportFile(name: "\(format.rawValue).json", text: value.text + "\n")
    }

    /// Returns the files of a results folder of asv, by their paths in it.
    ///
    /// - Parameter commit: The full hash of the measured commit, which the results do not record.
    /// - Returns: The files.
    package func asvFiles(commit: String) -> [ReportFile] { summary.asvFiles(commit: commit) }

    /// The number of cells that criterion's format leaves out because they have no interval. It requires one for each
    /// figure.
    package var cellsWithoutIntervalCount: Int { summary.exported.count { $0.interval == nil } }
}

/// A cell as it is exported.
private struct Exported {
    let summary: CellSummary
    let delivered: UInt64
    /// The time of each process, in nanoseconds per iteration.
    let times: [Double]
    let sample: LogSample

    init?(_ summary: CellSummary) {
        guard summary.speed != nil, let delivered = summary.deliveredByteCount else { return nil }
        let times = summary.rounds.compactMap { median(of: $0) }
        guard let sample = LogSample(times) else { return nil }
        (self.summary, self.delivered, self.times, self.sample) = (summary, delivered, times, sample)
    }

    var name: String { summary.cell.id }
    var interval: LogInterval? { sample.interval }
}

extension RunSummary {
    fileprivate var exported: [Exported] { cells.compactMap(Exported.init) }

    /// - Source: hyperfine 1.19, `src/benchmark/benchmark_result.rs`; times are in seconds.
    fileprivate var hyperfine: JSONValue {
        let cells = exported
        let parameters = cells.map(\.parameters)
        let scanned = Set(parameters.flatMap(\.keys)).filter { name in Set(parameters.map { $0[name] }).count > 1 }
        return [
            "results": .array(
                zip(cells, parameters).map { cell, parameters in
                    cell.hyperfine(parameters.filter { scanned.contains($0.key) })
                })
        ]
    }

    /// - Source: critcmp 0.1.8, `src/data.rs`; criterion.rs, `src/estimate.rs`; times are in nanoseconds.
    fileprivate var criterion: JSONValue {
        let name = "\(header.host.name) \(header.startedAt)"
        let members = exported.compactMap { cell in cell.criterion(baseline: name).map { (cell.name, $0) } }
        return ["name": .string(name), "benchmarks": .object(Dictionary(members, uniquingKeysWith: { $1 }))]
    }

    /// - Source: <https://bencher.dev/docs/reference/bencher-metric-format>.
    fileprivate var bencher: JSONValue {
        .object(Dictionary(exported.map { ($0.name, $0.bencher) }, uniquingKeysWith: { $1 }))
    }
}

extension Exported {
    /// The parameters that tell cells apart, as text.
    fileprivate var parameters: [String: String] {
        let cell = summary.cell
        let optional: [String: String?] = [
            "latency": cell.remoteLatencyNanoseconds.map { "\($0)" }, "cold": cell.isCold.map { "\($0)" },
            "bandwidth": cell.remoteBytesPerSecond.map { "\($0)" }, "client": cell.remoteClient,
        ]
        return optional.compactMapValues { $0 }.merging([
            "backend": cell.backend, "strategy": cell.strategy, "window": "\(cell.windowByteCount)",
            "workload": cell.workload, "access": cell.access.rawValue, "threads": "\(cell.threads)",
            "key-size": "\(cell.keyByteCount * 8)", "object-size": "\(cell.objectByteCount)", "source": cell.sourceName,
        ]) { $1 }
    }

    fileprivate func hyperfine(_ parameters: [String: String]) -> JSONValue {
        let seconds = times.map { $0 / 1e9 }
        let iterations = Double(summary.sampleCount)
        func used(_ nanoseconds: KeyPath<ProcessUsage, UInt64>) -> JSONValue {
            .number(summary.usage.map { Double($0[keyPath: nanoseconds]) / iterations / 1e9 } ?? .nan)
        }
        var members: [String: JSONValue] = [
            "command": .string(name), "mean": .number(mean(of: seconds)),
            "stddev": .number(standardDeviation(of: seconds) ?? .nan),
            "median": .number(quantile(0.5, of: seconds)),
            "user": used(\.userNanoseconds), "system": used(\.systemNanoseconds),
            "min": .number(seconds.min() ?? .nan), "max": .number(seconds.max() ?? .nan),
            "times": .array(seconds.map(JSONValue.number)), "exit_codes": .array(seconds.map { _ in 0 }),
        ]
        if !parameters.isEmpty { members["parameters"] = .object(parameters.mapValues(JSONValue.string)) }
        return .object(members)
    }

    /// Returns the estimates, or `nil` without an interval, which the format requires.
    fileprivate func criterion(baseline: String) -> JSONValue? {
        guard let interval else { return nil }
        func estimate(_ statistic: ([Double]) -> Double, _ interval: LogInterval? = nil) -> JSONValue {
            let drawn = Bootstrap(times, of: statistic)
            return [
                "confidence_interval": [
                    "confidence_level": .number(0.95), "lower_bound": .number(interval?.low ?? drawn.low),
                    "upper_bound": .number(interval?.high ?? drawn.high),
                ],
                "point_estimate": .number(interval?.estimate ?? statistic(times)),
                "standard_error": .number(drawn.standardError),
            ]
        }
        func middle(_ values: [Double]) -> Double { quantile(0.5, of: values) }
        return [
            "baseline": .string(baseline), "fullname": .string("\(baseline)/\(name)"),
            "criterion_benchmark_v1": [
                "group_id": .string(name), "function_id": .null, "value_str": .null, "full_id": .string(name),
                "directory_name": .string(fileName(name)), "throughput": ["Bytes": .integer(delivered)],
            ],
            "criterion_estimates_v1": [
                "mean": estimate(mean(of:)), "median": estimate(middle, interval), "slope": .null,
                // Scaled as in criterion.rs, so that it equals the standard deviation for normally distributed values.
                "median_abs_dev": estimate { values in
                    let centre = middle(values)
                    return 1.4826 * middle(values.map { ($0 - centre).magnitude })
                },
                "std_dev": estimate { standardDeviation(of: $0) ?? 0 },
            ],
        ]
    }

    fileprivate var bencher: JSONValue {
        let metrics = Figure.all.compactMap { figure -> (String, JSONValue)? in
            guard let name = figure.exportNames[.bencher], let sample = figure.sample?(summary) else { return nil }
            var members: [String: JSONValue] = ["value": .integer(UInt64(nearest: sample.estimate))]
            if let interval = sample.interval {
                members["lower_value"] = .number(interval.low)
                members["upper_value"] = .number(interval.high)
            }
            return (name, .object(members))
        }
        return .object(Dictionary(metrics, uniquingKeysWith: { $1 }))
    }
}

extension RunSummary {
    /// - Source: asv 0.6, `asv/results.py` (version 2), `asv/machine.py` (version 1), `asv/benchmarks.py` (version 2).
    fileprivate func asvFiles(commit: String) -> [ReportFile] {
        let host = header.host
        let machine = fileName(host.name)
        let facts: [String: JSONValue] = [
            "machine": .string(machine), "os": .string(host.kernel), "arch": "", "cpu": .string(host.cpuModel),
            "num_cpu": .string("\(host.cpuCount)"), "ram": .string(ByteCountText.size(host.memoryByteCount)),
        ]
        let measures = AsvMeasure.all.compactMap { measure -> (measure: AsvMeasure, cells: [Exported])? in
            let cells = exported.filter { measure.values($0) != nil }
            return cells.isEmpty ? nil : (measure, cells)
        }
        let milliseconds = JSONValue.integer(UInt64(max(0, (seconds(since1970: header.startedAt) ?? 0))) * 1000)
        var benchmarks: [String: JSONValue] = ["version": 2]
        var results: [String: JSONValue] = [:]
        for (measure, cells) in measures {
            benchmarks[measure.name] = measure.description(cells)
            results[measure.name] = measure.row(cells, startedAt: milliseconds)
        }
        let result: [String: JSONValue] = [
            "version": 2, "commit_hash": .string(commit), "env_name": "chunkwise", "date": milliseconds,
            "params": .object(facts), "python": "", "requirements": [:], "env_vars": [:], "durations": [:],
            "result_columns": JSONValue(strings: AsvMeasure.columns), "results": .object(results),
        ]
        return [
            ReportFile(name: "benchmarks.json", text: JSONValue.object(benchmarks).text + "\n"),
            ReportFile(
                name: "\(machine)/machine.json",
                text: JSONValue.object(facts.merging(["version": 1]) { $1 }).text + "\n"),
            ReportFile(
                name: "\(machine)/\(commit.prefix(8))-chunkwise.json", text: JSONValue.object(result).text + "\n"),
        ]
    }
}

/// A benchmark of asv, with the cell as its parameter. asv takes larger values for worse.
private struct AsvMeasure: Sendable {
    let name: String, isTime: Bool
    /// One value per process, in seconds or bytes; `nil` if it was not measured.
    let values: @Sendable (Exported) -> LogSample?

    static let all =
        [AsvMeasure(name: "chunkwise.time_iteration", isTime: true) { $0.sample.multiplied(by: 1e-9) }]
        + Figure.all.filter { $0.direction == .less }.compactMap { figure in
            guard let name = figure.exportNames[.asv], let sample = figure.sample else { return nil }
            let isTime = figure.unit == .nanoseconds
            return AsvMeasure(name: "chunkwise.\(name)", isTime: isTime) {
                sample($0.summary)?.multiplied(by: isTime ? 1e-9 : 1)
            }
        }

    static let columns = [
        "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25",
        "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
    ]

    func description(_ cells: [Exported]) -> JSONValue {
        [
            "name": .string(name), "type": isTime ? "time" : "memory", "unit": isTime ? "seconds" : "bytes",
            "version": "1", "code": "", "timeout": 0, "param_names": ["cell"],
            "params": [JSONValue(strings: cells.map(\.name))],
        ]
    }

    /// Returns the results in the order of ``columns``, without the last columns, for which there are no values.
    func row(_ cells: [Exported], startedAt: JSONValue) -> JSONValue {
        let samples = cells.map { values($0) }
        func list(_ value: (LogSample) -> JSONValue?) -> JSONValue {
            .array(samples.map { $0.flatMap(value) ?? .null })
        }
        // asv requires an interval with each of its statistics.
        func statistic(_ value: @escaping (LogSample, LogInterval) -> JSONValue) -> JSONValue {
            list { sample in sample.interval(tail: 0.005).map { value(sample, $0) } }
        }
        return [
            list { .number($0.estimate) }, [JSONValue(strings: cells.map(\.name))], "1", startedAt, .null,
            statistic { .number($1.low) }, statistic { .number($1.high) },
            statistic { sample, _ in .number(quantile(0.25, of: sample.values)) },
            statistic { sample, _ in .number(quantile(0.75, of: sample.values)) },
            statistic { _, _ in 1 }, statistic { sample, _ in JSONValue(count: sample.count) },
            list { .array($0.values.map(JSONValue.number)) },
        ]
    }
}

/// Returns a name as one path component, whatever characters it has in a result file.
private func fileName(_ name: String) -> String {
    let kept = name.unicodeScalars.map { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains(scalar))
            ? Character(scalar) : "_"
    }
    let text = String(kept.prefix(100))
    return text.isEmpty || text.hasPrefix(".") ? "_" + text : text
}

/// Returns the seconds since 1970 of a time in ISO 8601 with a `Z`, or `nil`. The corresponding C function is `timegm`.
private func seconds(since1970 text: String) -> Int? {
    let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
    guard numbers.count >= 6, text.hasSuffix("Z"), (1970...9999).contains(numbers[0]) else { return nil }
    var time = tm()
    (time.tm_year, time.tm_mon, time.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (time.tm_hour, time.tm_min, time.tm_sec) = (numbers[3], numbers[4], numbers[5])
    return timegm(&time)
}

package import Results
import Support

/// The report of a folder with key results but without a run.
package struct KeyReport: Sendable {
    private let keys: KeyResults
    private let document: Document

    package init(_ keys: KeyResults) {
        self.keys = keys
        let host = keys.waits.map { "\($0.host.cpuModel), \(RatioText.count($0.host.cpuCount, "CPU"))" }
        let clients = (keys.load ?? keys.loopback).map { KeyText.clients($0.clientCount) }
        document = Document(
            title: "Keys: what players wait for, and what servers are asked",
            subtitle: [host, clients].compactMap { $0 }.joined(separator: " · "), warnings: [],
            verdict: keys.findings, sections: [Document.keys(keys, findings: [])].compactMap { $0 })
    }

    /// The findings, in a few lines.
    package var verdict: [String] { document.verdict }

    /// All files of the report: `index.html`, `report.md`, `results.json`, and the pictures for which there are data.
    package var files: [ReportFile] {
        ReportFormat.allCases.compactMap(file)
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// Returns one form of the report, or `nil` for a form that only runs have.
    package func file(_ format: ReportFormat) -> ReportFile? {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .json: ReportFile(name: format.fileName, text: json.text + "\n")
        case .markdown, .csv, .junit: nil
        }
    }

    private var json: JSONValue {
        JSONValue(
            encoding: JSONValue.object(keys.jsonMembers),
            adding: ["schema": "chunkwise-key-report-1", "verdict": verdict])
    }
}

extension KeyResults {
    /// The members of `results.json` for keys.
    var jsonMembers: [String: JSONValue] {
        [
            "keyWaits": waits?.json ?? .null, "keyLoad": load?.json ?? .null,
            "keyLoadLoopback": loopback?.json ?? .null,
        ]
    }
}

extension KeyResults {
    /// The conclusions from the figures, in sentences.
    var findings: [String] {
        (waits.map(Self.findings) ?? []) + (load.map(Self.findings) ?? []) + (loopback.map(Self.agreement) ?? [])
    }

    private static func findings(_ waits: KeyWaitsRecord) -> [String] {
        var findings: [String] = []
        let preloaded = waits.cells.filter { $0.source == .preloaded }
        if let worst = preloaded.max(by: { $0.ratioToLocal.estimate < $1.ratioToLocal.estimate }) {
            let maximum = preloaded.map(\.requestCount).max() ?? 0
            let ratio = worst.ratioToLocal
            findings.append(
                (maximum == 0
                    ? "Preloaded keys need no request"
                    : "Preloaded keys needed up to \(SignificantDigits.grouped(maximum)) requests")
                    + ": the first byte comes after at most \(RatioText.times(ratio.estimate)) of the time with key "
                    + "files (95 % interval \(RatioText.times(ratio.low)) to \(RatioText.times(ratio.high)), "
                    + "\(KeyText.server(worst.delayMilliseconds))).")
        }
        guard let slowest = waits.cells.map(\.delayMilliseconds).max() else { return findings }
        let words = waits.cells.filter { $0.delayMilliseconds == slowest && $0.source != .local }.map { cell in
            "\(KeyText.duration(cell.medianNanoseconds)) \(KeyText.words(cell.source).phrase)"
        }
        if !words.isEmpty {
            findings.append("With a \(KeyText.server(slowest)), the first byte comes after \(Verdict.list(words)).")
        }
        return findings
    }

    private static func findings(_ load: KeyLoadRecord) -> [String] {
        let ordered = load.cells.sorted { $0.mode == .dispersed && $1.mode != .dispersed }
        return ordered.map { cell in
            let figures = cell.simulated
            let ratio = load.peakToIdeal(figures).map { ", \(RatioText.times($0)) of clients ÷ window" } ?? ""
            let late = figures.lateCount > 0 ? ["\(KeyText.clients(figures.lateCount)) had to wait"] : []
            let lost = figures.gaveUpCount > 0 ? ["\(KeyText.clients(figures.gaveUpCount)) got no key"] : []
            let fate = late.isEmpty && lost.isEmpty ? "no client had to wait" : Verdict.list(late + lost)
            return "\(start(cell.mode, load)), \(KeyText.clients(load.clientCount)) ask at most "
                + "\(SignificantDigits.grouped(figures.peakPerSecond)) times a second\(ratio); \(fate)."
        }
    }

    private static func start(_ mode: KeyLoadRecord.RequestMode, _ load: KeyLoadRecord) -> String {
        switch mode {
        case .dispersed: "Dispersed over \(SignificantDigits.grouped(load.windowSeconds)) s"
        case .preloaded: "Preloaded without dispersal"
        case .onDemand: "On demand"
        }
    }

    private static func agreement(_ loopback: KeyLoadRecord) -> [String] {
        let run = loopback.cells.filter { $0.run != nil }
        guard !run.isEmpty else { return [] }
        let differing = run.filter { $0.agrees != true }.map { KeyText.words($0.mode).name }
        let subject = "A run of \(KeyText.clients(loopback.clientCount)) over connections on loopback"
        if loopback.isMachineTooSlow, let lag = run.compactMap(\.lagNanoseconds).max() {
            return [
                "\(subject) cannot be judged: its machine added \(DurationText.text(nanoseconds: lag)) to times, "
                    + "expected less than \(DurationText.text(nanoseconds: KeyLoadRecord.maxLagNanoseconds))."
            ]
        }
        return [
            differing.isEmpty
                ? "\(subject) did what its simulation says: \(Verdict.list(run.map { KeyText.words($0.mode).name }))."
                : "\(subject) differs from its simulation: \(Verdict.list(differing))."
        ]
    }
}
/// The wording of figures about keys.
enum KeyText {
    /// Returns a source's name, its phrase in sentences, and its style, which is the same in all pictures.
    static func words(_ source: KeyWaitsRecord.KeySource) -> (name: String, phrase: String, style: SeriesStyle) {
        switch source {
        case .local: ("key files", "with key files", SeriesStyle(0))
        case .preloaded: ("preloaded", "with preloaded keys", SeriesStyle(1))
        case .batched: ("in one batch", "where one batch asks for all keys", SeriesStyle(2))
        case .onDemand: ("on demand", "where each key is asked for on demand", SeriesStyle(3))
        }
    }

    /// Returns a mode's name, and its style, which is the same in all pictures.
    static func words(_ mode: KeyLoadRecord.RequestMode) -> (name: String, style: SeriesStyle) {
        switch mode {
        case .onDemand: ("on demand", SeriesStyle(3))
        case .preloaded: ("preloaded", SeriesStyle(1))
        case .dispersed: ("dispersed", SeriesStyle(0))
        }
    }

    /// Returns the delay of a key: `in time`, `50.0 ms`, or `no key`.
    static func lateness(_ nanoseconds: UInt64?) -> String {
        guard let nanoseconds else { return "no key" }
        return nanoseconds == 0 ? "in time" : DurationText.text(nanoseconds: nanoseconds)
    }

    static func duration(_ nanoseconds: Double) -> String {
        DurationText.text(nanoseconds: UInt64(min(max(nanoseconds, 0), 1e18).rounded()))
    }

    /// Returns a server's name by its delay.
    static func server(_ delayMilliseconds: UInt64) -> String {
        "key server of \(SignificantDigits.grouped(delayMilliseconds)) ms"
    }

    /// Returns the number of clients with the noun.
    static func clients(_ count: UInt64) -> String {
        "\(SignificantDigits.grouped(count)) \(count == 1 ? "client" : "clients")"
    }
}

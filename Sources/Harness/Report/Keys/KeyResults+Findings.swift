import Results

extension KeyResults {
    /// What to take from the figures, in sentences.
    var findings: [String] {
        (waits.map(Self.findings) ?? []) + (load.map(Self.findings) ?? []) + (loopback.map(Self.agreement) ?? [])
    }

    private static func findings(_ waits: KeyWaitsRecord) -> [String] {
        var findings: [String] = []
        let preloaded = waits.cells.filter { $0.way == .preloaded }
        if let worst = preloaded.max(by: { $0.ratioToLocal.estimate < $1.ratioToLocal.estimate }) {
            let maximum = preloaded.map(\.requestCount).max() ?? 0
            let ratio = worst.ratioToLocal
            findings.append(
                (maximum == 0
                    ? "Preloaded keys need no request"
                    : "Preloaded keys needed up to \(SignificantDigits.grouped(maximum)) requests")
                    + ": the first byte comes after at most \(RatioText.times(ratio.estimate)) of the time with key files "
                    + "(95 % interval \(RatioText.times(ratio.low)) to \(RatioText.times(ratio.high)), "
                    + "\(KeyText.server(worst.delayMilliseconds))).")
        }
        guard let slowest = waits.cells.map(\.delayMilliseconds).max() else { return findings }
        let words = waits.cells.filter { $0.delayMilliseconds == slowest && $0.way != .local }.map { cell in
            "\(KeyText.duration(cell.medianNanoseconds)) \(KeyText.phrase(cell.way))"
        }
        if !words.isEmpty {
            findings.append("With a \(KeyText.server(slowest)), the first byte comes after \(Verdict.list(words)).")
        }
        return findings
    }

    private static func findings(_ load: KeyLoadRecord) -> [String] {
        let ordered = load.cells.sorted { $0.way == .dispersed && $1.way != .dispersed }
        return ordered.map { cell in
            let figures = cell.simulated
            let ratio = load.peakToIdeal(figures).map { ", \(RatioText.times($0)) of clients ÷ window" } ?? ""
            let late = figures.lateCount > 0 ? ["\(KeyText.clients(figures.lateCount)) had to wait"] : []
            let lost = figures.gaveUpCount > 0 ? ["\(KeyText.clients(figures.gaveUpCount)) got no key"] : []
            let fate = late.isEmpty && lost.isEmpty ? "nobody had to wait" : Verdict.list(late + lost)
            return "\(start(cell.way, load)), \(KeyText.clients(load.clientCount)) ask at most "
                + "\(SignificantDigits.grouped(figures.peakPerSecond)) times a second\(ratio); \(fate)."
        }
    }

    private static func start(_ way: KeyLoadRecord.Way, _ load: KeyLoadRecord) -> String {
        switch way {
        case .dispersed: "Dispersed over \(SignificantDigits.grouped(load.windowSeconds)) s"
        case .preloaded: "Preloaded without dispersal"
        case .onDemand: "On demand"
        }
    }

    private static func agreement(_ loopback: KeyLoadRecord) -> [String] {
        let run = loopback.cells.filter { $0.run != nil }
        guard !run.isEmpty else { return [] }
        let differing = run.filter { $0.agrees != true }.map { KeyText.name($0.way) }
        let place = "A run of \(KeyText.clients(loopback.clientCount)) over connections on loopback"
        if loopback.isMachineTooSlow, let lag = run.compactMap(\.lagNanoseconds).max() {
            return [
                "\(place) cannot be judged: its machine added \(DurationText.text(nanoseconds: lag)) to times, expected "
                    + "less than \(DurationText.text(nanoseconds: KeyLoadRecord.maxLagNanoseconds))."
            ]
        }
        return [
            differing.isEmpty
                ? "\(place) did what its simulation says: \(Verdict.list(run.map { KeyText.name($0.way) }))."
                : "\(place) differs from its simulation: \(Verdict.list(differing))."
        ]
    }
}

extension KeyText {
    /// A way after a time.
    fileprivate static func phrase(_ way: KeyWaitsRecord.Way) -> String {
        switch way {
        case .local: "with key files"
        case .preloaded: "with preloaded keys"
        case .batched: "where one batch asks for all keys"
        case .onDemand: "where each key is asked for on demand"
        }
    }
}

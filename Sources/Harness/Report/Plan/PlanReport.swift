package import Results
package import Support

/// Computed plans in words, tables and pictures: the recommended chunk, window, strategy and access, and the cost of a
/// step away from them. There is one plan for each requested object and storage.
package struct PlanReport: Sendable {
    /// The inputs that have a default.
    package enum Input: String, CaseIterable, Hashable, Sendable {
        case object, client, library, key, reads, integrity
    }

    private let plans: [ComputedPlan]
    private let defaults: Set<Input>

    /// - Parameters:
    ///   - plans: The plans, at least one.
    ///   - defaults: The inputs that the user did not give.
    package init(_ plans: [ComputedPlan], defaults: Set<Input> = []) {
        self.plans = plans
        self.defaults = defaults
    }

    /// Returns the report as plain parts. For a terminal, it shows only the access of the choice, and of several plans
    /// only the answers.
    private func document(isPage: Bool) -> Document {
        let isOne = plans.count == 1
        let sections = plans.enumerated().flatMap { index, plan -> [Document.Section] in
            let access = isPage ? nil : plan.choice?.configuration.access
            return plan.sections(
                plan.candidates.filter { access == nil || $0.configuration.access == access }, defaults,
                suffix: isOne ? "" : "-\(index + 1)", title: isOne ? nil : ComputedPlanText.question(plan))
        }.filter { isPage || isOne || $0.name.hasPrefix("asked") || $0.name.hasPrefix("steps") }
        let title =
            isOne
            ? "Chunk, window and strategy for \(ComputedPlanText.storage(plans[0].storage))"
            : "Chunk, window and strategy: \(plans.count) questions"
        return Document(
            title: isPage ? title : "",
            subtitle: !isPage ? "" : isOne ? ComputedPlanText.subtitle(plans[0]) : "computed, not timed",
            verdict: isOne ? plans[0].verdict : [],
            sections: (isOne ? [] : [Self.overview(plans)] + Self.formats(plans)) + sections)
    }

    /// True if each plan has a choice.
    package var hasChoice: Bool { plans.allSatisfy { $0.choice != nil } }

    /// Returns the report for a terminal of 80 columns.
    ///
    /// - Parameter isWhole: True for all formats; otherwise, tables have the best ones, and the number of the others.
    /// - Returns: The report, without a break after its last line.
    package func text(isWhole: Bool) -> String {
        TextRenderer.render(document(isPage: false), allIn: isWhole ? nil : "--all")
    }

    /// The files of the report: `index.html`, `report.md`, `results.json` and the pictures.
    package var files: [ReportFile] {
        let document = document(isPage: true)
        return [
            ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
            ReportFile(name: "report.md", text: MarkdownRenderer.render(document)),
            ReportFile(name: "results.json", text: json.text + "\n"),
        ] + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// All figures.
    package var json: JSONValue {
        JSONValue(members: ["schema": "chunkwise-plan-2", "plans": plans.map(\.json)])
    }

    /// The formats side by side; empty with a single format, or with more questions than there are columns for.
    fileprivate static func formats(_ plans: [ComputedPlan]) -> [Document.Section] {
        let headLength = plans.reduce(0) { $0 + ComputedPlanText.head($1, among: plans).count }
        guard headLength <= 40, plans.contains(where: { $0.varies(\.strategy) }) else { return [] }
        return [
            Document.Section(
                name: "formats", title: "Formats side by side",
                blocks: ComputedPlan.formatTables(plans).map(Document.Block.table))
        ]
    }

    /// All questions with their answers.
    private static func overview(_ plans: [ComputedPlan]) -> Document.Section {
        let rows = plans.map { plan -> [Table.Entry] in
            let choice = plan.choice
            let seek = choice?.seeks.first
            return [
                Table.Entry(ComputedPlanText.question(plan)),
                Table.Entry(choice.map { ComputedPlanText.name($0.configuration, in: plan) } ?? "nothing"),
                seek.map { Table.Entry(ComputedPlanText.time($0.coldNanoseconds)) } ?? .absent,
                choice.map { Table.Entry(ComputedPlanText.time($0.firstByteNanoseconds)) } ?? .absent,
                choice.map { Table.Entry(ByteCountText.rate($0.downloadBytesPerSecond)) } ?? .absent,
            ]
        }
        return Document.Section(
            name: "questions", title: "All questions",
            blocks: [
                .table(
                    Table(
                        caption: "What to take, the p90 of a read of the first length, the first byte, and a download.",
                        columns: [
                            .text("Asked"), .text("Take"), .number("p90"), .number("first byte"), .number("download"),
                        ], rows: rows, isWhole: true))
            ])
    }
}

extension ComputedPlan {
    /// Returns whether configurations differ in a property.
    func varies(_ value: (Configuration) -> some Hashable) -> Bool {
        Set(candidates.map { value($0.configuration) }).count > 1
    }

    /// Returns whether configurations of one strategy differ in a property.
    func variesInStrategy(_ value: (Configuration) -> some Hashable) -> Bool {
        candidates.map(\.configuration).grouped(by: \.strategy).contains { Set($0.elements.map(value)).count > 1 }
    }

    /// Returns candidates in the order of their strategies' best ones.
    func ranked(_ candidates: [Candidate]) -> [Candidate] {
        let names = choices.map(\.configuration.strategy)
        let groups = Dictionary(grouping: candidates, by: \.configuration.strategy)
        return names.flatMap { groups[$0] ?? [] }
    }

    /// The choice, and the effect of a step in each direction.
    fileprivate var verdict: [String] {
        guard let choice else { return [refusal] + notes.map(ComputedPlanText.note) }
        let caveat =
            wantsIntegrity
            ? nil
            : choice.noticesChanges
                ? "Integrity was not asked for, and comes with the choice."
                : "The choice notices no change to the ciphertext, as asked for (--integrity none): "
                    + "\(ComputedPlanText.guards)."
        let saving = wantsIntegrity ? saving(choice) : nil
        return [caveat, take(choice), saving, smallestChunk(choice), anyLibrary(choice), rule].compactMap { $0 }
            + notes.map(ComputedPlanText.note)
    }

    /// Returns the fact that no smaller chunk was tried; `nil` if one was, or no other at all.
    private func smallestChunk(_ choice: Candidate) -> String? {
        let others = neighbours(of: choice).compactMap { neighbour -> UInt64? in
            if case .chunk(let count) = neighbour.change { count } else { nil }
        }
        guard let own = choice.configuration.chunkByteCount, let least = others.min(), own < least else { return nil }
        return "Chunks of \(ByteCountText.size(own)) are the smallest that were tried of this format (--chunks)."
    }

    /// Returns the fact that the libraries tie; `nil` if they do not, or if there is only one.
    private func anyLibrary(_ choice: Candidate) -> String? {
        let libraries = equalLibraries(for: choice.configuration)
        guard !libraries.isEmpty else { return nil }
        return "The library does not matter here: \(Verdict.list(libraries)) are within "
            + "\(RatioText.percent(Self.margin)) of each other."
    }

    private func take(_ choice: Candidate) -> String {
        var parts: [String] = []
        if let seek = choice.seeks.first {
            parts.append(
                "a read of \(ByteCountText.size(seek.rangeByteCount)) takes "
                    + "\(ComputedPlanText.time(seek.medianNanoseconds)) (median) and "
                    + "\(ComputedPlanText.time(seek.slowNanoseconds)) (p90), in "
                    + "\(SignificantDigits.text(seek.requestCount)) requests, and fetches "
                    + "\(RatioText.times(seek.amplification)) its bytes")
        }
        parts += [
            "the first byte comes after \(ComputedPlanText.time(choice.firstByteNanoseconds))",
            "a download runs at \(ByteCountText.rate(choice.downloadBytesPerSecond))",
            "memory is at most \(ByteCountText.measured(choice.memoryByteCount))",
        ]
        guard objectByteCount > 0 else {
            return "Take \(ComputedPlanText.name(choice.configuration, in: self)): the object has no bytes, and opens "
                + "after \(ComputedPlanText.time(choice.firstByteNanoseconds))."
        }
        return "Take \(ComputedPlanText.name(choice.configuration, in: self)): \(parts.joined(separator: "; "))."
    }

    /// Returns the savings without integrity, and the protection that the file would then need.
    private func saving(_ choice: Candidate) -> String {
        guard let other = unguardedChoice else {
            return "It notices changes. Formats that notice none were not considered."
        }
        let changes = differences(of: other, from: choice)
        let without = "\(ComputedPlanText.name(other.configuration, in: self)) (--integrity none)"
        return "It notices changes. Without that, \(without) "
            + (changes.isEmpty ? "would save nothing" : "would have \(Verdict.list(changes))")
            + "; \(ComputedPlanText.guards)."
    }

    private var rule: String {
        "\(RatioText.count(eligible.count, "configuration")) "
            + (wantsIntegrity ? "that \(eligible.count == 1 ? "notices" : "notice") changes " : "")
            + "\(eligible.count == 1 ? "was" : "were") compared"
            + (memoryBudget.map { ", within \(ByteCountText.size($0)) of memory" } ?? "")
            + ". plan keeps those within \(RatioText.percent(Self.margin)) of the fastest p90 with an empty cache. "
            + "Then the smallest memory decides, the fewest bytes fetched, and the fastest download."
    }

    /// The reason why there is no choice.
    private var refusal: String {
        let guarded = candidates.filter { !wantsIntegrity || $0.noticesChanges }
        guard let least = guarded.map(\.memoryByteCount).min() else {
            return
                "None of these formats notices changes to the ciphertext: add one to --strategies of which chunkwise "
                + "format list says that it does, or use --integrity none."
        }
        return "Nothing fits: the smallest reader needs \(ByteCountText.measured(least)) of memory."
    }

    /// Returns the differences between the figures of two candidates.
    func differences(of other: Candidate, from choice: Candidate) -> [String] {
        [
            ComputedPlanText.change(Double(other.decidingNanoseconds), Double(choice.decidingNanoseconds), "p90"),
            ComputedPlanText.change(
                other.seeks.first?.amplification ?? 0, choice.seeks.first?.amplification ?? 0, "bytes fetched"),
            ComputedPlanText.change(
                Double(other.firstByteNanoseconds), Double(choice.firstByteNanoseconds), "time to the first byte"),
            ComputedPlanText.change(
                Double(other.downloadBytesPerSecond), Double(choice.downloadBytesPerSecond), "download rate"),
            ComputedPlanText.change(Double(other.memoryByteCount), Double(choice.memoryByteCount), "memory"),
        ].compactMap { $0 }
    }

    /// Returns the sections, with the candidates that pictures and long tables show.
    fileprivate func sections(
        _ shown: [Candidate], _ defaults: Set<PlanReport.Input>, suffix: String, title: String?
    ) -> [Document.Section] {
        let shown = ranked(shown)
        func section(_ name: String, _ heading: String, _ blocks: [Document.Block]) -> Document.Section {
            Document.Section(
                name: name + suffix, title: title.map { "\(heading): \($0)" } ?? heading, blocks: blocks)
        }
        let answers = title == nil ? [] : verdict.map(Document.Block.paragraph)
        var sections = [section("asked", "Asked", answers + [.facts(facts(defaults))])]
        if let choice {
            sections.append(section("steps", "One step in each direction", [.table(stepTable(from: choice))]))
        }
        if title == nil { sections += PlanReport.formats([self]) }
        sections.append(
            section(
                "chunks", "By chunk and strategy",
                [seekChart(shown, suffix), amplificationChart(shown, suffix)].compactMap {
                    $0.map(Document.Block.picture)
                } + [.table(chunkTable(shown))]))
        if objectByteCount > 0 {
            sections.append(
                section("windows", "By window: reading from start to end", [.table(windowTable(shown))]))
        }
        sections.append(section("method", "How this is computed", [.paragraph(method), .foldedTable(rateTable)]))
        return sections
    }

    private func facts(_ defaults: Set<PlanReport.Input>) -> [(name: String, value: String)] {
        func fact(_ name: String, _ value: String, _ input: PlanReport.Input? = nil) -> (name: String, value: String) {
            (name, value + (input.map(defaults.contains) == true ? " (default)" : ""))
        }
        let ranges = candidates.first?.seeks.map(\.rangeByteCount) ?? []
        let reads = ranges.enumerated().map { index, count in
            ByteCountText.size(count) + (index == 0 && ranges.count > 1 ? " (decides)" : "")
        }
        let place =
            storage.client == nil
            ? "a file that the system has in memory"
            : "answers after \(ComputedPlanText.time(storage.latencyNanoseconds))"
                + (storage.bytesPerSecond.map { ", \(ByteCountText.size($0))/s a connection" } ?? "")
        let keys = candidates.map(\.configuration.keyName).unique.sorted()
        var facts = [fact("object", ByteCountText.size(objectByteCount), .object), fact("storage", place)]
        if let client = storage.client { facts.append(fact("client", ComputedPlanText.client(client), .client)) }
        facts += [
            fact("library", candidates.map(\.configuration.backend).unique.joined(separator: ", "), .library),
            fact("key", keys.joined(separator: ", "), .key),
            fact("reads", reads.isEmpty ? "none" : reads.joined(separator: ", "), .reads),
            fact("memory", memoryBudget.map { "at most \(ByteCountText.size($0))" } ?? "any"),
            fact("integrity", wantsIntegrity ? "changes must be noticed" : "none asked for", .integrity),
        ]
        return facts
    }

    private var method: String {
        "The readers read a simulated object of this length. "
            + (storage.client == nil
                ? "Their requests are counted: a read takes its system calls and then the decryption. "
                : "A simulated clock advances by the latency of each answer, the transfer of its bytes and their "
                    + "decryption; connections are open already. ")
            + "Offsets are random, and one reader keeps its cache between reads. The first byte is that of a reader "
            + "that has just opened the object. Other readers and the system are not simulated: measure the choice "
            + "(measure --latency --bandwidth --client)."
    }

    private var rateTable: Table {
        let own = choice?.configuration
        let isOwn = { (rate: Rate) in
            rate.backend == own?.backend && rate.keyByteCount == own?.keyByteCount && rate.cipher == own?.cipher
        }
        let rates = rates.filter(isOwn) + rates.filter { !isOwn($0) }
        let rows = rates.grouped { "\($0.backend), \($0.cipherName)" }.map { group, members -> [Table.Entry] in
            let calls = members.sorted { $0.callByteCount < $1.callByteCount }.map {
                "\(ByteCountText.size($0.callByteCount)) \(ByteCountText.rate($0.bytesPerSecond))"
            }
            return [Table.Entry(group), Table.Entry(calls.joined(separator: ", "))]
        }
        return Table(
            caption: "Decryption rates, measured just now from memory, in calls of a chunk or a window.",
            columns: [.text("Library, cipher"), .text("Call and its rate")], rows: rows)
    }

    fileprivate var json: JSONValue {
        let rates = rates.map { rate in
            JSONValue(members: [
                "backend": rate.backend, "mode": rate.mode, "keyByteCount": rate.keyByteCount,
                "callByteCount": rate.callByteCount, "bytesPerSecond": rate.bytesPerSecond,
            ])
        }
        return JSONValue(members: [
            "objectByteCount": objectByteCount, "latencyNanoseconds": storage.latencyNanoseconds,
            "bytesPerSecond": storage.bytesPerSecond, "client": storage.client, "rates": rates,
            "memoryBudget": memoryBudget, "wantsIntegrity": wantsIntegrity, "notes": notes.map(ComputedPlanText.note),
            "verdict": verdict, "choice": choice?.json, "withoutIntegrity": unguardedChoice?.json,
            "candidates": candidates.map(\.json),
        ])
    }
}

extension ComputedPlan.Candidate {
    fileprivate var json: JSONValue {
        let seeks = seeks.map { seek in
            JSONValue(members: [
                "rangeByteCount": seek.rangeByteCount, "medianNanoseconds": seek.medianNanoseconds,
                "p90Nanoseconds": seek.slowNanoseconds, "coldP90Nanoseconds": seek.coldNanoseconds,
                "requests": seek.requestCount, "amplification": seek.amplification,
            ])
        }
        return JSONValue(members: [
            "backend": configuration.backend, "strategy": configuration.strategy,
            "keyByteCount": configuration.keyByteCount, "chunkByteCount": configuration.chunkByteCount,
            "access": configuration.access.rawValue, "windowByteCount": configuration.windowByteCount,
            "noticesChanges": noticesChanges,
            "notices": ComputedPlan.Notice.allCases.filter(layout.notices.contains).map(\.rawValue),
            "storedByteCount": layout.storedByteCount, "maxByteCount": layout.maxByteCount,
            "firstByteNanoseconds": firstByteNanoseconds, "downloadBytesPerSecond": downloadBytesPerSecond,
            "memoryByteCount": memoryByteCount, "seeks": seeks,
        ])
    }
}

package import Results
import Support

/// One fact in the header of a run. Provenance lists these facts, and comparisons show those that differ.
struct HeaderFact: Hashable, Sendable {
    /// The subject of a fact, in the order in which facts are shown.
    enum Subject: Hashable, Sendable, CaseIterable {
        /// The identity of the machine.
        case host
        /// The setup of the machine, which may change from run to run.
        case setting
        case software
        case run
    }

    /// The value of a fact; lists and long texts are compared by their parts.
    enum Value: Hashable, Sendable {
        case text(String)
        case words([String])
        case plan(String?)

        /// The value that decides equality: for a plan, its lines without comments.
        var compared: Value {
            guard case .plan(let text?) = self else { return self }
            return .words(PlanLine.lines(of: text).map(\.text))
        }
    }

    var subject: Subject
    /// The fact's name, such as `CPU`.
    var name: String
    var value: Value

    var text: String {
        switch value {
        case .text(let text): text
        case .words(let words): words.isEmpty ? "none noted" : words.joined(separator: " ")
        case .plan(let text): text.map { RatioText.count($0.split(separator: "\n").count, "line") } ?? "none"
        }
    }
}

extension RunHeader.Host {
    /// The facts of the machine and its setup.
    var facts: [HeaderFact] {
        func fact(_ subject: HeaderFact.Subject, _ name: String, _ text: String) -> HeaderFact {
            HeaderFact(subject: subject, name: name, value: .text(text))
        }
        let caches = cacheByteCounts.map(ByteCountText.exact)
        let node = nodeName.map { [fact(.host, "node", $0)] } ?? []
        let given = [
            microcode.map { fact(.setting, "microcode", $0) }, cpuset.map { fact(.setting, "CPUs to use", $0) },
            cpuKind.map { fact(.setting, "kind of these CPUs", $0) },
        ].compactMap { $0 }
        return node + [
            fact(.host, "host", name), fact(.host, "CPU", cpuModel), fact(.host, "CPUs online", "\(cpuCount)"),
            HeaderFact(subject: .host, name: "CPU flags", value: .words(cpuFlags.sorted())),
            fact(.host, "data caches", caches.isEmpty ? "unknown" : caches.joined(separator: ", ")),
            fact(.host, "memory", ByteCountText.exact(memoryByteCount)), fact(.setting, "kernel", kernel),
            fact(.setting, "frequency governor", frequencyGovernor ?? "none to be seen"),
            fact(.setting, "transparent huge pages", transparentHugePages ?? "unknown"),
            fact(.setting, "turbo", isTurboOn.map { $0 ? "on" : "off" } ?? "unknown"),
        ] + given
    }

    /// The facts that two runs share if they are of one machine; the kernel and its settings may change.
    var identity: [HeaderFact] { facts.filter { $0.subject == .host } }
}

extension RunHeader {
    /// All facts of the header except the time when the run started.
    var facts: [HeaderFact] {
        func fact(_ subject: HeaderFact.Subject, _ name: String, _ value: HeaderFact.Value) -> HeaderFact {
            HeaderFact(subject: subject, name: name, value: value)
        }
        let libraries = backends.map { backend in
            let features = backend.cpuFeatures.isEmpty ? "" : " (\(backend.cpuFeatures.joined(separator: " ")))"
            return fact(.software, backend.name, .text(backend.version + features))
        }
        let build = programDigest.map { " (SHA-256 \($0.prefix(16))…)" } ?? ""
        return host.facts + [fact(.software, "chunkwise", .text(programVersion + build))] + libraries
            + (input.map { [fact(.run, "input", .text($0))] } ?? []) + [
                fact(.run, "plan", .plan(plan)), fact(.run, "seed", .text("\(seed)")),
                fact(.run, "command", .text(ShellText.joined(command))),
            ]
    }
}

/// A line of a plan that is more than a comment.
struct PlanLine: Hashable, Sendable {
    /// The line's number in the file, from 1.
    var number: Int
    /// The line's text, without a comment.
    var text: String

    /// Returns the lines of a plan, without lines that are blank or only a comment.
    ///
    /// - Source: YAML 1.2.2, section 6.6.
    static func lines(of plan: String) -> [PlanLine] {
        plan.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            var quote: Character?
            var before: Character = " "
            let end = line.indices.first { position in
                let character = line[position]
                defer { before = character }
                if character == quote {
                    quote = nil
                } else if quote == nil, "'\"".contains(character), " \t[{,:".contains(before) {
                    quote = character
                }
                return character == "#" && quote == nil && " \t".contains(before)
            }
            var text = String(line[..<(end ?? line.endIndex)])
            while let last = text.last, last.isWhitespace { text.removeLast() }
            return text.isEmpty ? nil : PlanLine(number: index + 1, text: text)
        }
    }
}

/// A fact that differs between runs.
package struct RunDifference: Hashable, Sendable {
    /// The fact's name, such as `CPU`.
    package var name: String
    package var values: [String]
    /// True if the fact is part of the machine's identity, so that the runs are of different machines.
    package var isOfHost: Bool

    /// Returns the facts that differ between runs, those of the machine first.
    package static func between(_ headers: [RunHeader]) -> [RunDifference] {
        let facts = headers.map(\.facts)
        var known: Set<String> = []
        let named = facts.joined().filter { known.insert("\($0.subject) \($0.name)").inserted }
        return HeaderFact.Subject.allCases.flatMap { subject in
            named.filter { $0.subject == subject }.compactMap { fact -> RunDifference? in
                let values = facts.map { $0.first { $0.subject == subject && $0.name == fact.name } }
                guard Set(values.map { $0?.value.compared }).count > 1 else { return nil }
                return RunDifference(name: fact.name, values: texts(values), isOfHost: subject == .host)
            } + (subject == .setting ? limits(headers) : [])
        }
    }

    /// Returns the value of each run; for lists and plans, only the parts that differ.
    private static func texts(_ facts: [HeaderFact?]) -> [String] {
        let plans = facts.compactMap { fact -> String?? in if case .plan(let text)? = fact?.value { text } else { nil }
        }
        if plans.count == facts.count { return firstDifferingLines(plans) }
        let lists = facts.map { fact -> [String] in if case .words(let words)? = fact?.value { words } else { [] } }
        let shared = lists.dropFirst().reduce(Set(lists.first ?? [])) { $0.intersection($1) }
        return facts.map { fact in
            guard let fact else { return "not there" }
            guard case .words(let words) = fact.value else { return fact.text }
            let own = words.filter { !shared.contains($0) }
            return own.isEmpty ? "none of these" : own.joined(separator: " ")
        }
    }

    /// Returns, for each plan, the first line in which the plans differ.
    private static func firstDifferingLines(_ plans: [String?]) -> [String] {
        let lines = plans.map { PlanLine.lines(of: $0 ?? "") }
        let count = lines.map(\.count).min() ?? 0
        let index = (0..<count).first { index in Set(lines.map { $0[index].text }).count > 1 } ?? count
        return zip(plans, lines).map { plan, lines in
            guard plan != nil else { return "none" }
            return index < lines.count
                ? "line \(lines[index].number): \(lines[index].text)" : "ends after line \(lines.last?.number ?? 0)"
        }
    }

    /// Returns the machine's own limits that differ by more than 5 %: the machine was then not in the same state.
    private static func limits(_ headers: [RunHeader]) -> [RunDifference] {
        let limits = headers.compactMap(\.limits?.oneThread)
        guard limits.count == headers.count, let first = limits.first else { return [] }
        let aes = first.aesDecrypt.map(\.keyByteCount).map { length in
            (
                "AES unit, \(length * 8)-bit keys",
                limits.compactMap { $0.aesDecrypt.first { $0.keyByteCount == length }?.rate.bytesPerSecond }
            )
        }
        let rates = aes + [("copies in memory", limits.map(\.memoryCopy.rate.bytesPerSecond))]
        return rates.filter { _, rates in
            guard rates.count == headers.count, let minimum = rates.min(), let maximum = rates.max() else {
                return false
            }
            return !CellPair.isWithin5Percent(Double(maximum) / Double(max(minimum, 1)))
        }.map { RunDifference(name: $0.0, values: $0.1.map(ByteCountText.rate), isOfHost: false) }
    }
}

extension Document {
    /// Returns the origin of figures, in blocks: machine, program, backends, and last the command.
    static func origin(
        host: RunHeader.Host, backends: [RunHeader.Backend], program: [(name: String, value: String)],
        command: [String]
    ) -> [Block] {
        let facts = host.facts.map { (name: $0.name.prefix(1).uppercased() + $0.name.dropFirst(), value: $0.text) }
        let table = Table(
            caption: "Backends as they were found.",
            columns: [.text("Backend"), .text("Version"), .text("CPU features used")],
            rows: backends.map { backend in
                [
                    Table.Entry(backend.name), Table.Entry(backend.version),
                    backend.cpuFeatures.isEmpty ? .absent : Table.Entry(backend.cpuFeatures.joined(separator: " ")),
                ]
            })
        return [.facts(facts + program)] + (backends.isEmpty ? [] : [.table(table)])
            + [.verbatim(caption: "Command", text: ShellText.joined(command))]
    }
}

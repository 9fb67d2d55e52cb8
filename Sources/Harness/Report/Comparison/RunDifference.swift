package import Results
import Support

/// Something that two runs do not share.
package struct RunDifference: Hashable, Sendable {
    /// What it is, such as `CPU`.
    package var name: String
    /// What the first run has.
    package var a: String
    /// What the second run has.
    package var b: String
    /// Whether it makes them runs on different machines.
    package var isOfHost: Bool

    /// Finds what differs, what concerns the machine first.
    package static func between(_ a: RunHeader, _ b: RunHeader) -> [RunDifference] {
        host(a.host, b.host) + environment(a, b) + software(a, b) + run(a, b)
    }

    private static func host(_ a: RunHeader.Host, _ b: RunHeader.Host) -> [RunDifference] {
        facts(
            isOfHost: true,
            [
                ("host", a.name, b.name),
                ("CPU", a.cpuModel, b.cpuModel),
                ("CPUs online", "\(a.cpuCount)", "\(b.cpuCount)"),
                ("CPU flags", only(a.cpuFlags, b.cpuFlags), only(b.cpuFlags, a.cpuFlags)),
                ("data caches", sizes(a.cacheByteCounts), sizes(b.cacheByteCounts)),
                ("memory", "\(a.memoryByteCount) B", "\(b.memoryByteCount) B"),
            ])
    }

    private static func environment(_ a: RunHeader, _ b: RunHeader) -> [RunDifference] {
        facts([
            ("kernel", a.host.kernel, b.host.kernel),
            (
                "frequency governor", a.host.frequencyGovernor ?? "none to be seen",
                b.host.frequencyGovernor ?? "none to be seen"
            ),
            (
                "transparent huge pages", a.host.transparentHugePages ?? "unknown",
                b.host.transparentHugePages ?? "unknown"
            ),
        ]) + limits(a.limits, b.limits)
    }

    private static func software(_ a: RunHeader, _ b: RunHeader) -> [RunDifference] {
        var names: [String] = []
        for backend in a.backends + b.backends where !names.contains(backend.name) { names.append(backend.name) }
        func text(_ header: RunHeader, _ name: String) -> String {
            guard let backend = header.backends.first(where: { $0.name == name }) else { return "not there" }
            let features = backend.cpuFeatures.isEmpty ? "" : " (\(backend.cpuFeatures.joined(separator: " ")))"
            return backend.version + features
        }
        return facts(
            [("chunkwise", a.programVersion, b.programVersion)] + names.map { ($0, text(a, $0), text(b, $0)) })
    }

    private static func run(_ a: RunHeader, _ b: RunHeader) -> [RunDifference] {
        let (planA, planB) = plans(a.plan, b.plan)
        return facts([
            ("plan", planA, planB), ("seed", "\(a.seed)", "\(b.seed)"),
            ("command", ShellText.joined(a.command), ShellText.joined(b.command)),
        ])
    }

    /// The machine's own limits, where they differ by more than 5 %: then it was not in the same state.
    private static func limits(_ a: MachineLimits?, _ b: MachineLimits?) -> [RunDifference] {
        guard let a = a?.oneThread, let b = b?.oneThread else { return [] }
        let aes = a.aesDecrypt.compactMap { one in
            b.aesDecrypt.first { $0.keyByteCount == one.keyByteCount }.map {
                ("AES unit, \(one.keyByteCount * 8)-bit keys", one.rate.bytesPerSecond, $0.rate.bytesPerSecond)
            }
        }
        let rates = aes + [("copies in memory", a.memoryCopy.rate.bytesPerSecond, b.memoryCopy.rate.bytesPerSecond)]
        return facts(
            rates.filter { !CellPair.isWithin5Percent(Double($0.1) / Double(max($0.2, 1))) }.map {
                ($0.0, ByteCountText.rate($0.1), ByteCountText.rate($0.2))
            })
    }

    /// The first line in which two plans differ.
    private static func plans(_ a: String?, _ b: String?) -> (String, String) {
        guard a != b else { return ("", "") }
        func lines(_ plan: String?) -> [Substring] {
            (plan ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        }
        let (linesA, linesB) = (lines(a), lines(b))
        let place =
            zip(linesA, linesB).enumerated().first { $0.1.0 != $0.1.1 }?.offset ?? min(linesA.count, linesB.count)
        func text(_ plan: String?, _ lines: [Substring]) -> String {
            guard plan != nil else { return "none" }
            return place < lines.count ? "line \(place + 1): \(lines[place])" : "ends after line \(lines.count)"
        }
        return (text(a, linesA), text(b, linesB))
    }

    private static func only(_ flags: [String], _ others: [String]) -> String {
        let own = flags.filter { !others.contains($0) }
        return own.isEmpty ? "none of these" : own.joined(separator: " ")
    }

    private static func sizes(_ byteCounts: [UInt64]) -> String {
        byteCounts.isEmpty ? "unknown" : byteCounts.map(ByteCountText.measured).joined(separator: ", ")
    }

    private static func facts(
        isOfHost: Bool = false, _ facts: [(name: String, a: String, b: String)]
    ) -> [RunDifference] {
        facts.filter { $0.a != $0.b }.map { RunDifference(name: $0.name, a: $0.a, b: $0.b, isOfHost: isOfHost) }
    }
}

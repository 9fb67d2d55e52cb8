import Results

extension Document {
    /// How the figures came about: machine, versions, seed, command and plan.
    static func provenance(_ summary: RunSummary) -> Section {
        let header = summary.results.header
        let host = header.host
        var blocks: [Block] = [
            .facts([
                ("Host", host.name),
                ("CPU", "\(host.cpuModel), \(RatioText.count(host.cpuCount, "CPU")) online"),
                ("CPU flags", host.cpuFlags.isEmpty ? "none noted" : host.cpuFlags.joined(separator: " ")),
                ("Data caches", caches(host)),
                ("Memory", ByteCountText.measured(host.memoryByteCount)),
                ("Kernel", host.kernel),
                ("Transparent huge pages", host.transparentHugePages ?? "unknown"),
                ("Frequency governor", host.frequencyGovernor ?? "none to be seen"),
                ("Turbo", host.isTurboOn.map { $0 ? "on" : "off" } ?? "unknown"),
                ("Started", header.startedAt),
                ("Program", "chunkwise \(header.programVersion), schema \(header.schema)"),
                ("Seed", String(header.seed)),
            ])
        ]
        if !header.backends.isEmpty {
            blocks.append(.table(backendTable(header.backends)))
        }
        blocks.append(.verbatim(caption: "Command", text: header.command.map(shellQuoted).joined(separator: " ")))
        if let plan = header.plan { blocks.append(.verbatim(caption: "Plan", text: plan)) }
        return Section(name: "provenance", title: "Where the figures come from", blocks: blocks)
    }

    private static func caches(_ host: RunHeader.Host) -> String {
        host.cacheByteCounts.isEmpty
            ? "unknown" : host.cacheByteCounts.map(ByteCountText.measured).joined(separator: ", ")
    }

    private static func backendTable(_ backends: [RunHeader.Backend]) -> Table {
        Table(
            caption: "Backends as they were found.",
            columns: [.text("Backend"), .text("Version"), .text("CPU features used")],
            rows: backends.map { backend in
                [
                    Table.Entry(backend.name), Table.Entry(backend.version),
                    backend.cpuFeatures.isEmpty ? .absent : Table.Entry(backend.cpuFeatures.joined(separator: " ")),
                ]
            })
    }

    /// Returns an argument as a POSIX shell reads it back.
    private static func shellQuoted(_ argument: String) -> String {
        let isPlain = argument.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:=,+@%".utf8.contains(byte)
            }
        }
        if isPlain, !argument.isEmpty { return argument }
        return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

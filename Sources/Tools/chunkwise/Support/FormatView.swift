import BackendRegistry
import ByteSources
import Conformance
import RandomAccess
import Report
import SubjectProtocol
import Support

/// The facts about a format that are shown, for the defaults of its inputs.
struct FormatView {
    let format: Format
    let strategy: Strategy
    let facts: FormatFacts
    /// The ciphers that its objects may have, first the one that a writer uses.
    let ciphers: [Cipher]
    /// The names of the backends that have the first of them.
    let backends: [String]

    /// Computes the facts.
    ///
    /// - Throws: `CommandFailure` with the path, for a description that cannot work.
    init(_ format: Format, path: String? = nil) throws {
        self.format = format
        let strategy = Strategy(sampling: format)
        self.strategy = strategy
        facts = try attemptData([path, format.name].compactMap { $0 }.joined(separator: ": ")) {
            try strategy.facts()
        }
        ciphers = strategy.possibleCiphers
        backends = BackendRegistry.availableNames(reading: strategy)
    }

    var chunkByteCount: UInt64? {
        if case .integer(let count)? = format.chunk?.expression { return UInt64(exactly: count) }
        return facts.chunkByteCount
    }

    private static let toldByHeader = "told by the header"

    var cipherText: String { facts.cipher?.rawValue ?? Self.toldByHeader }

    var chunkText: String {
        if facts.isWhole { return "whole file" }
        let given = format.inputs.filter { $0.defaultValue == nil }.map(\.name)
        if let chunk = format.chunk, !chunk.expression.names.isDisjoint(with: given) { return "as given" }
        guard let count = chunkByteCount else { return Self.toldByHeader }
        return count % 1024 == 0 ? ByteCountText.size(count) : "\(count) B"
    }

    /// The facts that are not numbers, in words.
    private var remarks: [[String]] {
        var rows = notices.map { [$0.words, $0.isNoticed ? "is noticed" : "is not noticed"] }
        if format.whole != nil { rows.append(["all chunks together", "are checked by verify interop"]) }
        if let fault = facts.readFault { rows.append(["cannot be read", "\(fault)"]) }
        if facts.isTagged, facts.canBeCutToNothing {
            rows.append(["a cut to nothing", "reads as an empty plaintext"])
        }
        if let nonceFault { rows.append(["nonces", nonceFault]) }
        if let hole = format.hole {
            let isAny = if case .integer = hole.expression { true } else { false }
            let chunk = isAny ? "a full chunk of zeros" : "a chunk of zeros, where \"hole\" in the description holds,"
            rows.append(["a hole", chunk + " reads as zeros, even if an attacker wrote it"])
        }
        if !strategy.hasWholeChunks {
            rows.append(["data", "stands together, behind a table of the chunks' other parts"])
        }
        if !facts.unchecked.isEmpty { rows.append(["not checked", facts.unchecked.joined(separator: ", ")]) }
        return rows
    }

    /// The reason for which nonces repeat; `nil` if they do not.
    var nonceFault: String? {
        if let (first, second) = facts.chunksWithOneNonce {
            return "chunks \(first) and \(second) of an object have one key and nonce"
        }
        if let field = facts.fieldWithUsedNonce { return "\"\(field)\" has the key and nonce of something else" }
        return facts.sharesNonces ? "objects with one key and the same parameters have the same ones" : nil
    }

    private var notices: [(name: String, words: String, isNoticed: Bool)] {
        [
            ("changedChunk", "a changed chunk", facts.isTagged), ("movedChunk", "a moved chunk", facts.isIndexBound),
            ("foreignChunk", "another file's chunk", facts.isObjectBound), ("cutEnd", "a cut end", facts.isEndBound),
        ]
    }

    var noticesText: String {
        let noticed = notices.filter(\.isNoticed).map(\.words)
        return noticed.isEmpty ? "nothing" : noticed.joined(separator: ", ")
    }

    /// Some lengths that the format accepts.
    private var lengths: [(plaintext: UInt64, ciphertext: UInt64, chunks: UInt64)] {
        guard let geometry = strategy.geometry else { return [] }
        return [0, 1, 1 << 20, 1 << 30].filter { count in
            count % geometry.plaintextUnitByteCount == 0 && count <= facts.maxPlaintextByteCount ?? .max
        }.map { count in
            (count, geometry.ciphertextByteCount(ofPlaintext: count), geometry.chunkCount(ofPlaintext: count))
        }
    }

    // MARK: Text

    /// A table with a title for a page. The first row is the heading.
    private struct Section {
        let title: String
        let rows: [[String]]
        var rightAligned: Set<Int> = []
    }

    /// The tables of the view but for the last one, which has no heading.
    private var sections: [Section] {
        var sections: [Section] = []
        if !facts.header.isEmpty {
            let rows = facts.header.map { part in
                [part.name, Self.text(part.offset), Self.text(part.byteCount), part.isChecked ? "checked" : "any"]
            }
            sections.append(
                Section(title: "Header", rows: [["header", "offset", "bytes", ""]] + rows, rightAligned: [1, 2]))
        }
        sections.append(Section(title: "Chunk", rows: chunkDrawing, rightAligned: [1, 2]))
        if !format.trailerFields.isEmpty {
            let rows = format.trailerFields.map { [$0.name, Self.byteCount($0), Self.check($0)] }
            sections.append(Section(title: "Trailer", rows: [["trailer", "bytes", ""]] + rows, rightAligned: [1]))
        }
        let held = (format.header + format.trailerFields).flatMap { box in
            (box.sealed?.holds ?? []).map { [$0.name, box.name, Self.byteCount($0), Self.check($0)] }
        }
        if !held.isEmpty {
            sections.append(
                Section(
                    title: "Encrypted fields", rows: [["encrypted", "in", "bytes", ""]] + held, rightAligned: [2]))
        }
        sections.append(
            Section(
                title: "Inputs",
                rows: [["input", "value", "default"]] + inputs.map { [$0.name, $0.expected, $0.shown] }))
        if !lengths.isEmpty {
            let rows = lengths.map { plaintext, ciphertext, chunks in
                [
                    ByteCountText.size(plaintext), "\(ciphertext)", "\(ciphertext - min(ciphertext, plaintext))",
                    "\(chunks)",
                ]
            }
            sections.append(
                Section(
                    title: "Lengths", rows: [["plaintext", "ciphertext", "overhead", "chunks"]] + rows,
                    rightAligned: [1, 2, 3]))
        }
        return sections
    }

    /// The known pitfalls, if any.
    private var pitfalls: [Section] {
        let rows = format.pitfalls.map { [$0.fault, $0.result, $0.seen] }
        return rows.isEmpty
            ? [] : [Section(title: "Known pitfalls", rows: [["known pitfall", "what comes out", "source"]] + rows)]
    }

    /// The limits, and the changes that are noticed.
    private var properties: [[String]] {
        [
            ["cipher", facts.cipher == nil ? cipherChoice : cipherText], ["chunk", chunkText],
            ["max chunks", facts.maxChunkCount.map { "\($0)" } ?? "no limit"],
            ["max length", facts.maxPlaintextByteCount.map { "\($0) bytes" } ?? "no limit"],
        ] + remarks
    }

    var text: String {
        var lines = [TextWrapping.text("\(format.name): \(PlainText.line(format.summary))")]
        if !format.source.isEmpty { lines.append(TextWrapping.text("source: \(PlainText.line(format.source))")) }
        let writers = facts.cipher == nil ? ciphers.first.map { ", of \($0.rawValue)" } ?? "" : ""
        let names = (backends.isEmpty ? "none" : backends.joined(separator: " ")) + writers
        return
            ([lines.joined(separator: "\n"), drawing] + sections.map { table($0.rows, rightAligned: $0.rightAligned) }
            + [table(properties + [["backends", names]])] + pitfalls.map { table($0.rows) }).joined(separator: "\n\n")
    }

    /// A page for users of the format, in Markdown: the same tables, a command that reads a range, and the faults that
    /// follow from the format's rules. It says nothing that differs between machines.
    var page: String {
        let given = format.inputs.filter { $0.defaultValue == nil }.map { input in
            let isBytes = if case .bytes = input.kind { true } else { false }
            return "\(input.optionName)=\(isBytes ? input.optionName.uppercased() : input.text(of: input.sample))"
        }
        let strategy = ([format.name] + (given.isEmpty ? [] : [given.joined(separator: ",")])).joined(separator: ":")
        var parts = ["# \(format.name)", "\(PlainText.line(format.summary))."]
        if !format.source.isEmpty { parts.append("Source: \(PlainText.line(format.source)).") }
        parts.append(
            """
            ```text
            chunkwise decrypt --strategy \(strategy) \\
                --key-file KEY --range 1000000-1000999 FILE OUTPUT
            ```
            """)
        let derivations = KeyCommand.configuration.subcommands.compactMap { $0.configuration.commandName }.filter {
            name in
            format.name == name || format.name.hasPrefix(name + "-")
        }
        if let name = derivations.first {
            parts.append(
                "`chunkwise key \(name)` derives the key; see [Files that others made](../files.md).")
        }
        parts.append("```text\n\(drawing)\n```")
        for section in sections {
            parts += ["## \(section.title)", Self.markdown(section.rows, rightAligned: section.rightAligned)]
        }
        parts += ["## Limits, and changes that a reader notices", Self.markdown([["property", "value"]] + properties)]
        parts += pitfalls.flatMap { ["## \($0.title)", Self.markdown($0.rows)] }
        let faults = Mutant.rules(of: [format]).map { ["`\($0.name)`", $0.summary, $0.source] }
        if !faults.isEmpty {
            parts += [
                "## Faults that the vectors inject",
                """
                Each is one rule of the description changed. The sources are about that rule, mostly in another format.
                `chunkwise verify mutants --strategy \(format.name)` shows what notices each.
                """,
                Self.markdown([["fault", "a reader with it", "source of the rule"]] + faults),
            ]
        }
        return parts.joined(separator: "\n\n")
    }

    /// A table in Markdown, of which the first row is the heading.
    private static func markdown(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
        let lines = rows.map { row in
            "| \(row.map { PlainText.line($0).replacing("|", with: "\\|") }.joined(separator: " | ")) |"
        }
        let rule = (rows.first ?? []).indices.map { rightAligned.contains($0) ? "---:" : "---" }
        return (lines.prefix(1) + ["| \(rule.joined(separator: " | ")) |"] + lines.dropFirst()).joined(separator: "\n")
    }

    private var cipherChoice: String {
        ([Self.toldByHeader] + ciphers.prefix(1).map { "a writer takes \($0.rawValue)" }).joined(separator: "; ")
    }

    /// The parts of a full chunk, with their offsets and lengths if they are known.
    var chunkParts: [(part: FormatFacts.Part, offset: UInt64?, byteCount: UInt64?)] {
        var offset: UInt64? = 0
        return facts.chunk.map { part in
            let count = part.name == "data" ? chunkByteCount : part.byteCount.map { UInt64($0) }
            let start = offset
            offset = offset.flatMap { offset in count.map { offset + $0 } }
            return (part, start, count)
        }
    }

    /// A table of the parts of a full chunk.
    private var chunkDrawing: [[String]] {
        let rows = chunkParts.map { part, offset, count in
            [
                part.name, offset.map { "\($0)" } ?? "", count.map { "\($0)" } ?? "",
                part.name == "data" ? "ciphertext" : part.isChecked ? "checked" : "any",
            ]
        }
        return [["full chunk", "offset", "bytes", ""]] + rows
    }

    /// The length of a field; empty if it is not a constant.
    private static func byteCount(_ field: Format.Field) -> String {
        if case .integer(let count) = field.byteCount.expression { "\(count)" } else { "" }
    }

    private static func check(_ field: Format.Field) -> String {
        field.sealed != nil ? "encrypted" : field.content.isEmpty ? "any" : "checked"
    }

    private static func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }

    /// The key and the parameters, in the form of a strategy's text.
    private var inputs: [(name: String, expected: String, value: String?, shown: String)] {
        let counts = format.keyByteCounts.map { "\($0.listed("or")) bytes" }
        return [("key", counts ?? "any number of bytes", nil, "")]
            + format.inputs.map { input in
                let value = input.defaultValue.map(input.text)
                let shown = value.map { $0.isEmpty ? "empty" : $0 } ?? "none; here \(input.text(of: input.sample))"
                return (input.optionName, input.expectedFormat, value, shown)
            }
    }

    // MARK: JSON

    var json: JSONValue {
        func json(_ part: FormatFacts.Part, _ offset: UInt64?, _ byteCount: UInt64?) -> JSONValue {
            JSONValue(members: [
                "name": part.name, "offset": offset, "byteCount": byteCount, "isChecked": part.isChecked,
            ])
        }
        let header = facts.header.map { part in
            json(part, part.offset.map { UInt64($0) }, part.byteCount.map { UInt64($0) })
        }
        let inputs = inputs.map { ["name": $0.name, "expected": $0.expected, "default": $0.value] }
        let lengths = lengths.map { plaintext, ciphertext, chunks in
            ["plaintextByteCount": plaintext, "ciphertextByteCount": ciphertext, "chunkCount": chunks]
        }
        let pitfalls = format.pitfalls.map { ["fault": $0.fault, "result": $0.result, "seen": $0.seen] }
        return JSONValue(members: [
            "name": format.name, "summary": format.summary, "source": format.source,
            "cipher": facts.cipher?.rawValue, "ciphers": ciphers.map(\.rawValue), "chunkByteCount": chunkByteCount,
            "isWhole": facts.isWhole, "header": header, "chunk": chunkParts.map(json), "inputs": inputs,
            "lengths": lengths, "maxChunkCount": facts.maxChunkCount,
            "maxPlaintextByteCount": facts.maxPlaintextByteCount,
            "notices": Dictionary(uniqueKeysWithValues: notices.map { ($0.name, $0.isNoticed) }),
            "hasHoles": facts.hasHoles, "canBeCutToNothing": facts.canBeCutToNothing, "nonceFault": nonceFault,
            "unchecked": facts.unchecked, "backends": backends, "pitfalls": pitfalls,
        ])
    }
}

import ArgumentParser
import BackendRegistry
import Conformance
import RandomAccess
import Support
import Vectors

extension VerifyCommand {
    /// `chunkwise verify interop`
    struct Interop: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "interop",
            abstract: "Reads files of other tools, and damaged copies.",
            discussion: helpText(
                """
                The folder has an index.json, with the keys of the objects and the expected content, or subfolders with
                one each. Each backend that has the cipher, or each subject that has the format, reads every range of
                the index, the whole object, and ranges that chunkwise chooses. Then interop damages copies: it flips a
                bit in each part, removes, doubles and swaps chunks, and appends bytes. A change that the reader does
                not detect is a failure if the format's description demands detection. Objects with an unknown format,
                cipher or value of a parameter count as unsupported, with the reason. Members of parameters that are
                no inputs of the format are ignored.

                EXAMPLES
                  chunkwise verify interop data/interop
                  chunkwise verify interop data/interop/seal --subject ./mine
                  chunkwise verify interop data/interop/dare --backend openssl --format json

                EXIT CODES
                  0 all passed; 1 something failed; 2 nothing was executed; 65 an index or a file is wrong; 66 one is
                  missing, or a subject does not start
                """))

        @Argument(help: "A folder with an index.json, or with folders that have one.", completion: .directory)
        var folder: String

        @OptionGroup var tested: TestedSubjects
        @OptionGroup var output: VerifyOutputOptions

        func run() throws {
            let indexes = try attempt { try InteropIndex.folders(in: folder).map { try InteropIndex(folder: $0) } }
            try tested.check()
            Interruption.install()
            let display = ProgressDisplay()
            let records = try verification().run(indexes) { done, total in
                display.show(done, of: total, "objects", name: "interop")
            }
            Terminal.clearProgress()
            output.show(Self.text(records), json: Self.json(records))
            if records.contains(where: { $0.failed > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
            if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
            try require(
                records.contains { $0.passed > 0 }, .noAnswer,
                "no object was read: expected one of a format and a cipher that are known")
        }

        private func verification() throws -> InteropVerification {
            let isInterrupted = { Interruption.wasRequested }
            if tested.isAsked {
                return InteropVerification(subjects: try tested.searchSubjects(), isInterrupted: isInterrupted)
            }
            // Includes backends that only have the cipher of a chunked format.
            return InteropVerification(
                backends: tested.own.backend.isEmpty
                    ? BackendRegistry.entries.compactMap { try? $0.make() } : try tested.own.backends(),
                isInterrupted: isInterrupted)
        }

        /// The counts by format, and the failures.
        static func text(_ records: [InteropRecord]) -> String {
            var rows = [["format", "files", "ranges", "damages", "passed", "failed", "not detectable", "unsupported"]]
            for record in records { rows.append([record.format] + record.counts.map { "\($0.count)" }) }
            let failures = records.flatMap { record in
                record.failures.map { "FAILED \(record.format)/\($0.file), \($0.backend): \($0.reason)" }
                    + VerifyOutput.more(record.failed, listed: record.failures.count, of: record.format)
            }
            let gaps = records.flatMap { record in record.gaps.map { "not read: \(record.format), \($0)" } }
            return ([table(rows, rightAligned: Set(1...7))] + (gaps + failures).map(PlainText.line))
                .joined(separator: "\n")
        }

        /// The counts by format and the failures, as JSON.
        static func json(_ records: [InteropRecord]) -> JSONValue {
            let formats = records.map { record -> JSONValue in
                let counts = Dictionary(uniqueKeysWithValues: record.counts.map { ($0.name, $0.count) })
                return JSONValue(
                    encoding: counts,
                    adding: ["name": record.format, "gaps": record.gaps, "failures": record.failures])
            }
            return JSONValue(members: ["formats": formats])
        }
    }
}

extension InteropRecord {
    /// The counts in the order of the table, with their names in JSON.
    fileprivate var counts: [(name: String, count: Int)] {
        [
            ("files", files), ("ranges", ranges), ("damages", damages), ("passed", passed), ("failed", failed),
            ("notDetectable", notDetectable), ("unsupported", unsupported),
        ]
    }
}

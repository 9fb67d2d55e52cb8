import ArgumentParser
import Glibc
import Measurement
import SubjectProtocol
import Support
import SystemPackage

/// `chunkwise verify --constant-time`: the check that no branch or address depends on secrets.
enum ConstantTimeVerification {
    /// The backend whose tables are indexed by secrets. If the check finds nothing in it, the check does not work.
    private static let control = "swift-reference"

    /// One operation of a subject.
    private struct Row: Encodable {
        var subject: String
        var operation: String
        var count: UInt64
        var mayBePublic: Bool

        /// True if the operation leaks secrets.
        var isTelling: Bool { count > 0 && !mayBePublic }
    }

    /// Runs backends under valgrind, and prints the counts.
    ///
    /// - Throws: `ExitCode` 1 if something depends on secrets; `CommandFailure` without valgrind, or if the check found
    ///   nothing in the control.
    static func run(backends: [String], format: OutputFormat, color: ColorOptions) throws {
        Interruption.install()
        let asked = backends.filter { $0 != control }
        Terminal.showProgress("verify: \(asked.joined(separator: ", ")) under valgrind")
        let rows = try rows([control] + asked)
        Terminal.clearProgress()
        let isControlFound = rows.contains { $0.subject == control && $0.count > 0 }
        switch format {
        case .json: print(json(rows).text)
        case .text: color.show(text(rows))
        }
        guard isControlFound else {
            throw CommandFailure(
                .noAnswer,
                "nothing was found in \(control), whose tables are indexed by secrets: expected it to be found")
        }
        // The control fails only if the user names it.
        let isAsked = backends == [control]
        if rows.contains(where: { $0.isTelling && (isAsked || $0.subject != control) }) {
            throw ExitCode(CommandFailure.Code.no.rawValue)
        }
    }

    private static func rows(_ backends: [String]) throws -> [Row] {
        let program = FilePath(Program.path).removingLastComponent().appending("chunkwise-subject").string
        guard access(program, X_OK) == 0 else {
            throw CommandFailure(.missingInput, "no chunkwise-subject beside this program: expected one")
        }
        let folder = try attempt { try RunFolder.temporary() }
        defer { folder.removeTemporary() }
        try attempt { try folder.createObjects() }
        // valgrind 3.19 fails on this compiler's debug information. A system without `strip` uses the program as it is.
        let copy = folder.objectFolder.appending("subject.chunkwise.bin").string
        let stripped = try? CapturedCommand(["strip", "--strip-debug", "-o", copy, program])
        let options = ["--quiet", "--error-limit=no", "--log-file=/dev/null"]
        let captured = try attempt("valgrind") {
            try CapturedCommand(
                ["valgrind"] + options + [stripped?.status == 0 ? copy : program, "--constant-time"] + backends,
                isInterrupted: { Interruption.wasRequested })
        }
        try require(!Interruption.wasRequested, .noAnswer, "stopped before the end")
        guard captured.status == 0 else {
            let reason = SubjectError.died(status: captured.status, log: captured.log)
            throw CommandFailure(
                .missingInput, "valgrind: \(reason): expected it on the path (Debian: valgrind), on x86-64")
        }
        return captured.output.split(separator: 0x0A).compactMap { line in
            guard let found = JSONValue.parse(Array(line)), let subject = found["subject"]?.string,
                let operation = found["operation"]?.string, let count = found["count"]?.integer
            else { return nil }
            return Row(
                subject: subject, operation: operation, count: count, mayBePublic: found["mayBePublic"]?.bool ?? false)
        }
    }

    private static func text(_ rows: [Row]) -> String {
        let lines = rows.map { row -> [String] in
            let count = row.mayBePublic ? "\(row.count), maybe of the tag" : "\(row.count)"
            return [row.subject, row.operation, row.count == 0 ? "none" : count]
        }
        return table([["subject", "operation", "depend on secrets"]] + lines)
            + """
            Counted are branches and addresses, each time that they are reached, in the instructions that valgrind's
            processor has: AES-NI and AVX2, and no VAES. How long an instruction takes is not looked at. With a
            synthetic IV (gcm-siv, siv), counters start from the tag, which is no secret and looks like one here.

            """
    }

    private static func json(_ rows: [Row]) -> JSONValue {
        JSONValue(members: ["control": control, "operations": rows])
    }
}

import ArgumentParser
import Glibc
import Measurement
import SubjectProtocol
import Support
import SystemPackage

extension VerifyCommand {
    /// `chunkwise verify constant-time`
    struct ConstantTime: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "constant-time",
            abstract: "Finds branches and addresses that depend on secrets.",
            discussion: helpText(
                """
                The secrets are keys and plaintext. The backends run under valgrind. swift-reference is the control: its
                tables are indexed by secrets, which the check must find.

                EXAMPLES
                  chunkwise verify constant-time
                  chunkwise verify constant-time --backend swift-bitsliced

                EXIT CODES
                  0 nothing depends on secrets; 1 something does; 2 nothing was found in the control; 66 valgrind is
                  missing
                """))

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

        @OptionGroup var tested: TestedBackends
        @OptionGroup var output: VerifyOutputOptions

        func run() throws {
            let backends = try tested.backends().map(\.name)
            Interruption.install()
            let asked = backends.filter { $0 != Self.control }
            Terminal.showProgress("verify: \(asked.joined(separator: ", ")) under valgrind")
            let rows = try Self.rows([Self.control] + asked)
            Terminal.clearProgress()
            let isControlFound = rows.contains { $0.subject == Self.control && $0.count > 0 }
            output.show(Self.text(rows), json: Self.json(rows))
            try require(
                isControlFound, .noAnswer,
                "nothing was found in \(Self.control), whose tables are indexed by secrets: expected it to be found")
            // The control fails only if the user names it.
            let isAsked = backends == [Self.control]
            if rows.contains(where: { $0.isTelling && (isAsked || $0.subject != Self.control) }) {
                throw ExitCode(CommandFailure.Code.no.rawValue)
            }
        }

        private static func rows(_ backends: [String]) throws -> [Row] {
            let program = FilePath(Program.path).removingLastComponent().appending("chunkwise-subject").string
            try require(
                access(program, X_OK) == 0, .missingInput, "no chunkwise-subject beside this program: expected one")
            let folder = try attempt { try RunFolder.temporary() }
            defer { folder.removeTemporary() }
            try attempt { try folder.createObjects() }
            // valgrind 3.19 fails on this compiler's debug information. A system without `strip` uses the program as it
            // is.
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
                    subject: subject, operation: operation, count: count,
                    mayBePublic: found["mayBePublic"]?.bool ?? false)
            }
        }

        private static func text(_ rows: [Row]) -> String {
            let lines = rows.map { row -> [String] in
                let count = row.mayBePublic ? "\(row.count), maybe of the tag" : "\(row.count)"
                return [row.subject, row.operation, row.count == 0 ? "none" : count]
            }
            return table([["subject", "operation", "depend on secrets"]] + lines)
                + "\n\n"
                + TextWrapping.text(
                    """
                    Counted are branches and addresses, each time that they are reached, in the instructions that \
                    valgrind's processor has: AES-NI and AVX2, and no VAES. The time that an instruction takes is not \
                    measured. With a synthetic IV (gcm-siv, siv), counters start from the tag, which is no secret and \
                    looks like one here.
                    """, indent: "")
        }

        private static func json(_ rows: [Row]) -> JSONValue {
            JSONValue(members: ["control": control, "operations": rows])
        }
    }
}

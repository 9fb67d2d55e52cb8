import ArgumentParser
import Glibc
import Measurement
import Support
import SystemPackage

/// How a result is printed.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
}

/// The option `--format`.
struct FormatOptions: ParsableArguments {
    @Option(help: .taking("format", "How to print the result."))
    var format: OutputFormat = .text
}

/// Rows with columns that line up, in 80 columns: the first to the left, numbers to the right.
func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
    TextTable(rows.map { $0.map(PlainText.line) }, rightAligned: rightAligned).text
}

/// The option `--color`.
struct ColorOptions: ParsableArguments {
    @Option(
        help: .taking(
            "when", "Whether words of text output are coloured; auto is on a terminal, unless NO_COLOR is set."))
    var color = ColorChoice.auto

    /// Prints text, with colours if they are wanted.
    ///
    /// - Parameters:
    ///   - text: The text, which says everything without colours too.
    ///   - words: What its words mean.
    func show(_ text: String, _ words: [String: Tone] = Self.words) {
        print(color.isColored(isTerminal: isatty(1) == 1, variable: Terminal.variable) ? Tone.paint(text, words) : text)
    }

    /// The words that are answers.
    private static let words: [String: Tone] = [
        "FAILED": .bad, "SURVIVED": .bad, "Wrong": .bad, "wrong": .bad, "slower": .bad, "grew": .bad,
        "killed": .good, "Correct": .good, "faster": .good, "same": .good,
        "INCOMPLETE": .unclear, "inconclusive": .unclear, "noisyHost": .unclear, "noisy": .unclear,
        "undecided": .unclear, "warning": .unclear, "not": .unclear,
    ]
}

extension ColorChoice: ExpressibleByArgument {}

/// The option `--cgroup`.
struct CgroupOptions: ParsableArguments {
    @Option(
        help: .taking(
            "folder",
            "The cgroup in which each process gets one whose memory is measured, such as /sys/fs/cgroup/bench. (default: where you may make one, unless you are root)"
        ), completion: .directory)
    var cgroup: String?

    /// Looks for cgroups.
    ///
    /// - Returns: Where they are made, or why there are none.
    /// - Throws: `CommandFailure` if the folder that was named does not do.
    func find() throws -> Result<MemoryCgroups, CgroupAbsence> {
        do throws(CgroupAbsence) {
            return .success(try MemoryCgroups(named: cgroup.map { FilePath($0) }))
        } catch {
            if let cgroup { throw CommandFailure(.usage, "--cgroup \(cgroup): \(error)") }
            return .failure(error)
        }
    }
}

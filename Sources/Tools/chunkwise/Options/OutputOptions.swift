import ArgumentParser
import Glibc
import Measurement
import Support
import SystemPackage

/// The output format of a result.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
}

/// The option `--format`.
struct FormatOptions: ParsableArguments {
    @Option(help: .taking("format", "The output format."))
    var format: OutputFormat = .text

    /// Prints a result in the format that the user wants.
    func show(_ text: @autoclosure () -> String, json: @autoclosure () -> JSONValue) {
        print(format == .json ? json().text : text())
    }
}

/// Returns rows as a table with a width of 80 columns. The first column is aligned left; `rightAligned` names the
/// columns of numbers.
func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
    TextTable(rows.map { $0.map(PlainText.line) }, rightAligned: rightAligned).text
}

/// The option `--color`.
struct ColorOptions: ParsableArguments {
    @Option(
        help: .taking(
            "when", "Color the words of text output; auto means on a terminal, unless NO_COLOR is set."))
    var color = ColorChoice.auto

    /// Prints text, with colors if the user wants them.
    ///
    /// - Parameters:
    ///   - text: The text. It is complete without colors too.
    ///   - words: The words to color, with their tones.
    func show(_ text: String, _ words: [String: Tone] = Self.words) {
        print(color.isColored(isTerminal: isatty(1) == 1, variable: Terminal.variable) ? Tone.paint(text, words) : text)
    }

    /// The words that are verdicts.
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
            """
            The cgroup in which to create a cgroup for each measured process, such as /sys/fs/cgroup/bench. (default: \
            one in which you may create cgroups, unless you are root)
            """), completion: .directory)
    var cgroup: String?

    /// Finds the cgroup for measured processes.
    ///
    /// - Returns: The cgroups, or the reason for their absence.
    /// - Throws: `CommandFailure` if the folder that the user named cannot be used.
    func find() throws -> Result<MemoryCgroups, CgroupAbsence> {
        do throws(CgroupAbsence) {
            return .success(try MemoryCgroups(named: cgroup.map { FilePath($0) }))
        } catch {
            if let cgroup { throw CommandFailure(.usage, "--cgroup \(cgroup): \(error)") }
            return .failure(error)
        }
    }
}

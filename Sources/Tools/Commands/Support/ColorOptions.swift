import ArgumentParser
import CommandOptions
import Glibc
import Support

/// The option `--color`.
struct ColorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whether words of text output are coloured: auto (on a terminal, unless NO_COLOR is set), always or never.",
            valueName: "when"))
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

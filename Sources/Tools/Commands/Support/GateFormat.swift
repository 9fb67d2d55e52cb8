import ArgumentParser
import Gate
import Report
import Results

/// How a gate's result is shown.
enum GateFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case junit
    case github
    case markdown

    /// A result in this format, without a line break at its end.
    func text(of result: GateResult, isRecording: Bool, allowsInconclusive: Bool) -> String {
        switch self {
        case .text: GateText.text(result, isRecording: isRecording)
        case .json: result.summary.text
        case .junit: String(result.junit(allowsInconclusive: allowsInconclusive).dropLast())
        case .github: result.githubAnnotations
        case .markdown: String(result.markdown.dropLast())
        }
    }
}

/// A further file for a gate's result: `junit=gate.xml`.
struct GateFile: ExpressibleByArgument {
    let format: GateFormat
    let path: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let format = GateFormat(rawValue: parts[0]), !parts[1].isEmpty else { return nil }
        self.format = format
        path = parts[1]
    }
}

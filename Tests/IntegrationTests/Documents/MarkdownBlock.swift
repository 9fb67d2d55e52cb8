import Foundation

/// A fenced block of code in a document.
struct MarkdownBlock: Sendable {
    /// The document, from the project's folder on.
    let file: String
    /// The line of the opening fence, from 1.
    let line: Int
    /// The word behind the opening fence: `sh`, `swift`, `yaml`.
    let language: String
    /// The lines between the fences.
    let lines: [String]

    /// The blocks of a text, in order.
    static func all(of text: String, file: String) -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        var open: (line: Int, language: String, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        MarkdownBlock(file: file, line: block.line, language: block.language, lines: block.lines))
                    open = nil
                } else {
                    open = (index + 1, String(trimmed.dropFirst(3)), [])
                }
            } else {
                open?.lines.append(String(line))
            }
        }
        return blocks
    }

    /// The command lines of a block of shell: without comments, those that go on with a backslash joined.
    var commands: [String] {
        var commands: [String] = []
        var begun = ""
        for line in lines {
            var text = Self.withoutComment(line).trimmingCharacters(in: .whitespaces)
            let goesOn = text.hasSuffix("\\")
            if goesOn { text = String(text.dropLast()).trimmingCharacters(in: .whitespaces) }
            begun += begun.isEmpty ? text : " " + text
            if !goesOn, !begun.isEmpty {
                commands.append(begun)
                begun = ""
            }
        }
        return begun.isEmpty ? commands : commands + [begun]
    }

    /// A comment starts with a number sign at the start of a word, outside of quotation marks.
    private static func withoutComment(_ line: String) -> String {
        var kept = ""
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "#", kept.isEmpty || kept.last == " " {
                break
            }
            kept.append(character)
        }
        return kept
    }
}

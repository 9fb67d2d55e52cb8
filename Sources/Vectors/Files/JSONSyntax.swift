#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Finds out where a text stops being JSON.
enum JSONSyntax {
    /// The line and column that the parser of Foundation complains about, or `nil` if it names none.
    static func place(of bytes: [UInt8]) -> String? {
        do {
            _ = try JSONDecoder().decode(Anything.self, from: Data(bytes))
            return nil
        } catch {
            // Such as "… Unexpected character 'x' around line 3, column 7."
            let words = "\(error)".split { !$0.isLetter && !$0.isNumber }
            for index in words.indices.dropLast(3) where words[index] == "line" && words[index + 2] == "column" {
                return "line \(words[index + 1]), column \(words[index + 3])"
            }
            return nil
        }
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}

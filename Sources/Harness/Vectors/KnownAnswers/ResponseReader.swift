/// Splits the text of an `.rsp` file into cases.
struct ResponseReader {
    /// One case: where it starts, and its members.
    struct Entry {
        let section: String
        let count: String
        let line: Int
        var members: [String: (value: String, line: Int)] = [:]
    }

    let path: String
    private(set) var comments: [String] = []

    init(path: String) {
        self.path = path
    }

    func error(_ reason: String, line: Int? = nil) -> VectorFileError {
        VectorFileError(
            kind: .malformed, file: path, pointer: line.map { "line \($0)" } ?? "", reason: reason)
    }

    /// The cases, in order.
    mutating func cases(of text: String) throws(VectorFileError) -> [Entry] {
        var entries: [Entry] = []
        var section = ""
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, rawLine) in lines.enumerated() {
            let line = rawLine.trimmed
            if line.isEmpty { continue }
            if line.hasPrefix("#") {
                comments.append(String(line.dropFirst()))
                continue
            }
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = String(line)
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmed.uppercased()
            let value = parts.count == 2 ? String(parts[1].trimmed) : ""
            guard parts.count == 2 || name == "FAIL" else {
                throw error(
                    "\"\(line.prefix(40))\": expected NAME = value, a section in brackets or a comment", line: index + 1
                )
            }
            if name == "COUNT" {
                entries.append(Entry(section: section, count: value, line: index + 1))
            } else if entries.isEmpty {
                throw error("\(name) before any COUNT: expected COUNT = 0 first", line: index + 1)
            } else if entries[entries.count - 1].members.updateValue((value, index + 1), forKey: name) != nil {
                throw error("\(name) stands twice in a case: expected COUNT before the next one", line: index + 1)
            }
        }
        return entries
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return self[first...last]
    }
}

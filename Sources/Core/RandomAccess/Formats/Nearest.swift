/// The nearest of several names, for messages.
package enum Nearest {
    /// Returns a suggestion of the intended name, or the list of known names.
    package static func hint(_ name: String, in known: some Collection<String>) -> String {
        if let nearest = Nearest.name(to: name, in: known) { return ": expected \"\(nearest)\"?" }
        return known.isEmpty ? "" : ": expected one of \(known.sorted().joined(separator: ", "))"
    }

    /// Returns the name that a word was most likely meant to be; `nil` if none is close.
    package static func name(to word: String, in known: some Collection<String>) -> String? {
        let word = word.lowercased()
        let best = known.sorted().map { ($0, distance(word, $0.lowercased())) }.min { $0.1 < $1.1 }
        if let best, best.1 <= max(1, min(3, word.count / 3)) { return best.0 }
        let begun = known.filter { word.count > 1 && $0.hasPrefix(word) }
        return begun.count == 1 ? begun.first : nil
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbouring letters between two words.
    ///
    /// - Source: The optimal string alignment distance, after Damerau, "A technique for computer detection and
    ///   correction of spelling errors", CACM 7 (1964).
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first.prefix(64)), Array(second.prefix(64)))
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var value = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { value = min(value, rows[i - 1][j - 1] + 1) }
                row.append(value)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

/// What is running, how far it is, and how long it still takes, in one line.
package struct ProgressLine: Hashable, Sendable {
    /// How far: `37/108 cells`.
    package var place: String
    /// What is running: `libgcrypt 256KiB sequential`. The first part to be shortened.
    package var name: String
    /// Which pass: `round 2 of 5`; empty where there is one only.
    package var stage: String
    /// How long still: `about 3 min left`; empty where nobody knows yet.
    package var rest: String

    /// Creates a line.
    package init(place: String, name: String, stage: String = "", rest: String = "") {
        self.place = place
        self.name = name
        self.stage = stage
        self.rest = rest
    }

    /// The line in at most so many columns: the name is shortened first, then left out, then the stage, then the rest.
    package func text(columns: Int) -> String {
        let name = Self.printable(name)
        func joined(_ parts: [String]) -> String { parts.filter { !$0.isEmpty }.joined(separator: " · ") }
        let whole = joined([place, name, stage, rest])
        if whole.count <= columns { return whole }
        let room = columns - (whole.count - name.count)
        if room >= Self.minName { return joined([place, name.prefix(room - 1) + "…", stage, rest]) }
        for parts in [[place, stage, rest], [place, rest], [place]] {
            let text = joined(parts)
            if text.count <= columns { return text }
        }
        return String(place.prefix(max(0, columns)))
    }

    /// Less of a name tells nothing.
    private static let minName = 8

    /// Text without what would drive a terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
    }
}

import Results
import Statistics
import Support

/// A figure of a cell, or a fact of its configuration: its value, its names, and its text.
///
/// CSV, JSON, tables, comparisons, exports and the terminal go through the catalogue, ``all``.
struct Figure: Sendable {
    /// The name in CSV and JSON. With ``sample``, the ends of the interval have this name with `Low` and `High`.
    let id: String
    /// The heading of a column, and the start of a line in a terminal.
    private(set) var name: String
    let unit: Unit
    let direction: Direction
    /// The forms that go through the catalogue and show the figure. Other tables name their figures.
    let places: Places
    /// The name in each export that has the figure.
    let exportNames: [ExportFormat: String]
    /// Returns the figure, or `nil` if it was not measured.
    let value: @Sendable (CellSummary) -> Value?
    /// The figure of each process; `nil` for figures without an interval.
    private(set) var sample: (@Sendable (CellSummary) -> LogSample?)?
    /// Returns the figure in a table, if that is more than its text and its interval.
    private var special: (@Sendable (CellSummary) -> Table.Entry?)?

    init(
        _ id: String, _ name: String, _ unit: Unit, _ direction: Direction = .neither, in places: Places = .csv,
        exportNames: [ExportFormat: String] = [:], sample: (@Sendable (CellSummary) -> LogSample?)? = nil,
        entry: (@Sendable (CellSummary) -> Table.Entry?)? = nil, value: @escaping @Sendable (CellSummary) -> Value?
    ) {
        (self.id, self.name, self.unit, self.direction, self.places) = (id, name, unit, direction, places)
        (self.exportNames, self.sample, special, self.value) = (exportNames, sample, entry, value)
    }

    /// A column of tables that is no figure by itself.
    init(
        column name: String, isNumeric: Bool = false, entry: @escaping @Sendable (CellSummary) -> Table.Entry?
    ) {
        self.init(name, name, isNumeric ? .number : .word, in: [], entry: entry) { _ in nil }
    }

    /// The better direction of a figure.
    enum Direction: Sendable { case more, less, neither }

    struct Places: OptionSet, Sendable {
        let rawValue: Int

        static let csv = Places(rawValue: 1)
        static let json = Places(rawValue: 2)
        static let files: Places = [.csv, .json]
        /// The table of the machine's resources that a cell used.
        static let usage = Places(rawValue: 4)
        /// A line of its own in a terminal.
        static let terminal = Places(rawValue: 8)
    }

    enum Value: Hashable, Sendable {
        case integer(UInt64)
        case number(Double)
        case word(String)
        case flag(Bool)

        init?(_ integer: UInt64?) { if let integer { self = .integer(integer) } else { return nil } }
        init?(_ count: Int?) { if let count { self = .integer(UInt64(max(count, 0))) } else { return nil } }
        init?(_ number: Double?) { if let number { self = .number(number) } else { return nil } }
        init?(_ word: String?) { if let word { self = .word(word) } else { return nil } }
        init?(_ flag: Bool?) { if let flag { self = .flag(flag) } else { return nil } }

        /// The value without unit, as in CSV.
        var text: String {
            switch self {
            case .integer(let value): "\(value)"
            case .number(let value): "\(value)"
            case .word(let value): value
            case .flag(let value): "\(value)"
            }
        }

        /// The value for orders; 0 for words.
        var number: Double {
            switch self {
            case .integer(let value): Double(value)
            case .number(let value): value
            case .word, .flag: 0
            }
        }

        var json: JSONValue {
            switch self {
            case .integer(let value): .integer(value)
            case .number(let value): .number(value)
            case .word(let value): .string(value)
            case .flag(let value): .bool(value)
            }
        }
    }

    /// The unit of a figure, and the way in which people read it.
    enum Unit: Sendable {
        case word, count, share, ratio, number
        /// A size that was chosen, one that was measured, and a growth of memory.
        case size, bytes, growth
        case bytesPerSecond, bitsPerSecond, nanoseconds

        func text(_ value: Value) -> String {
            switch (self, value) {
            case (.count, .integer(let value)): SignificantDigits.grouped(value)
            case (.size, .integer(let value)): ByteCountText.size(value)
            case (.bytes, .integer(let value)): ByteCountText.measured(value)
            case (.growth, .integer(let value)): ByteCountText.growth(value)
            case (.bytesPerSecond, .integer(let value)): ByteCountText.rate(value)
            case (.bitsPerSecond, .integer(let value)): BitRateText.text(value)
            case (.nanoseconds, .integer(let value)): DurationText.text(nanoseconds: value)
            case (.share, .number(let value)): RatioText.percent(value)
            case (.ratio, .number(let value)): RatioText.times(value)
            case (.number, .number(let value)): SignificantDigits.text(value)
            default: value.text
            }
        }

        /// Returns the interval of a sample; `nil` if there is none to tell.
        func interval(_ sample: LogSample) -> String? {
            guard let interval = sample.interval else { return nil }
            // Growth that cannot be told from none has no spread.
            if self == .growth, interval.high <= Double(CellSummary.memoryResolution) { return nil }
            return interval.text { text(.integer($0)) }
        }
    }
}

extension Figure {
    /// The names of the value and of the ends of its interval.
    var ids: [String] { sample == nil ? [id] : [id, id + "Low", id + "High"] }

    /// Returns the value and the ends of its interval, in the order of ``ids``.
    func values(_ cell: CellSummary) -> [Value?] {
        guard let sample else { return [value(cell)] }
        let interval = sample(cell)?.interval
        return [value(cell), interval.map { .integer(UInt64(nearest: $0.low)) }]
            + [interval.map { .integer(UInt64(nearest: $0.high)) }]
    }

    /// Returns the value as a table shows it, with its interval.
    func entry(_ cell: CellSummary) -> Table.Entry {
        if let special { return special(cell) ?? .absent }
        return value(cell).map { Table.Entry(unit.text($0), detail: sample?(cell).flatMap(unit.interval)) } ?? .absent
    }

    /// The figure without its interval and remarks.
    var plain: Figure {
        var figure = self
        figure.sample = nil
        figure.special = { cell in
            var entry = entry(cell)
            entry.detail = nil
            return entry
        }
        return figure
    }

    /// Returns the figure under another heading.
    func titled(_ name: String) -> Figure {
        var figure = self
        figure.name = name
        return figure
    }
}

extension [Figure] {
    /// Returns the figures of the catalogue that a form shows.
    static func shown(in place: Figure.Places) -> [Figure] { Figure.all.filter { $0.places.contains(place) } }

    /// Returns the figures that at least one of the cells has.
    func known(of cells: some Sequence<CellSummary>) -> [Figure] {
        filter { figure in cells.contains { figure.value($0) != nil } }
    }

    /// The members of a JSON object; figures that were not measured are `null`.
    func members(_ cell: CellSummary) -> [String: JSONValue] {
        let pairs = flatMap { zip($0.ids, $0.values(cell)) }
        return Dictionary(pairs.map { ($0, $1?.json ?? .null) }, uniquingKeysWith: { first, _ in first })
    }

    var columns: [Table.Column] { map { Table.Column(title: $0.name, isNumeric: $0.unit != .word) } }

    func entries(_ cell: CellSummary) -> [Table.Entry] { map { $0.entry(cell) } }
}

extension Table {
    /// A table with a row a cell and a column a figure, the first of which names the row. Its caption says how many
    /// rows are left out.
    init(_ caption: String, of cells: [CellSummary], _ figures: [Figure], maxRows: Int = Document.maxRows) {
        self.init(
            caption: caption + Document.remark(cells.count, maxRows), columns: figures.columns,
            rows: cells.prefix(maxRows).map(figures.entries))
        columns[0].isNumeric = false
    }
}

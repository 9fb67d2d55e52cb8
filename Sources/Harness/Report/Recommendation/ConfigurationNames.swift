import Results

/// Short names for configurations that are compared: what all of them share is not repeated.
struct ConfigurationNames: Sendable {
    private let showsStrategy: Bool
    private let showsIVRule: Bool
    private let showsKey: Bool
    private let showsThreads: Bool
    private let showsAccess: Bool
    private let showsSource: Bool
    private let showsReads: Bool

    /// Takes the configurations that are compared.
    init(_ cells: [Cell]) {
        func varies<Value: Hashable>(_ value: (Cell) -> Value) -> Bool { Set(cells.map(value)).count > 1 }
        showsStrategy = varies(\.strategy)
        showsIVRule = Set(cells.map { [$0.strategy, $0.ivRule, $0.padding] }).count > Set(cells.map(\.strategy)).count
        showsKey = varies(\.keyByteCount)
        showsThreads = varies(\.threads) || cells.contains { $0.threads != 1 }
        showsAccess = varies(\.access) || cells.contains { $0.access != "block" }
        showsSource = varies(\.source)
        showsReads = Set(cells.map { Self.withoutReads($0) }).count < cells.count
    }

    /// A cell's name: `libgcrypt, 256 KiB windows, 2 threads`.
    func name(of cell: Cell) -> String {
        let chunk = cell.chunkByteCount.map { "\(ByteCountText.size($0)) chunks" }
        let access: String? =
            switch cell.access {
            case "block": showsAccess && cell.chunkByteCount != nil ? "only the blocks needed" : nil
            case "chunk-cache": "decrypted whole, latest kept"
            case "whole-chunk": "decrypted whole"
            case "fresh-buffers": "new buffers for each"
            default: "access \(cell.access)"
            }
        let mapping: String? = cell.source == "mmap" ? "mapped file" : cell.source == "file" ? nil : cell.source
        let details = [showsIVRule ? cell.ivRule.map { "IV rule \($0)" } : nil, showsIVRule ? cell.padding : nil]
        return [
            cell.backend, showsStrategy ? cell.strategy : nil, chunk,
            "\(ByteCountText.size(cell.windowByteCount)) windows", access,
            showsThreads ? RatioText.count(cell.threads, "thread") : nil, showsSource ? mapping : nil,
            showsKey ? "AES-\(cell.keyByteCount * 8)" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
            + (details.contains { $0 != nil } ? " (\(details.compactMap { $0 }.joined(separator: ", ")))" : "")
            + (showsReads ? cell.readCount.map { ", \(RatioText.count($0, "read"))" } ?? "" : "")
    }

    private static func withoutReads(_ cell: Cell) -> Cell {
        var cell = cell
        cell.readCount = nil
        cell.label = nil
        return cell
    }
}

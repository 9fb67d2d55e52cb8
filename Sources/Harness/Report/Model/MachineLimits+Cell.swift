import Results

extension MachineLimits {
    /// The limit that a cell runs into.
    ///
    /// - Parameters:
    ///   - cell: The cell.
    ///   - bytesPerSecond: Its throughput.
    ///   - deliveredByteCount: What one iteration delivers: a read that is shorter than the window is all that is read
    ///     in one step.
    /// - Returns: The limit, or `nil` if none is known.
    func limit(of cell: Cell, bytesPerSecond: UInt64, deliveredByteCount: UInt64) -> BindingLimit? {
        guard cell.isLocal, let source = LimitedSource(rawValue: cell.source) else { return nil }
        let readByteCount = cell.readCount.map { deliveredByteCount / UInt64(max(1, $0)) } ?? .max
        return bindingLimit(
            bytesPerSecond: Double(bytesPerSecond), keyByteCount: cell.keyByteCount,
            windowByteCount: min(cell.windowByteCount, readByteCount), source: source, threads: cell.threads)
    }
}

extension BindingLimit.Kind {
    /// What is limited, in words.
    var text: String {
        switch self {
        case .aesUnit: "AES instructions"
        case .pageCacheRead: "page-cache reads"
        case .memoryCopy: "memory copies"
        }
    }
}

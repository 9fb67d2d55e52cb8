package import Results

/// Where the ciphertext of a measured object comes from.
package enum ObjectKind: String, CaseIterable, Hashable, Sendable {
    /// A file that was encrypted beforehand; it is in the page cache.
    case file
    /// The same file, decrypted from where the system keeps its pages: no copy, and they count as the process's memory.
    case mmap
    /// Computed where it is read: any length, at no cost.
    case generated
    /// Ranges of the same file, from a server on this machine or the one that a URL names.
    case http
    /// The same over TLS.
    case https

    /// Whether there is a file to be made, for which there must be room.
    package var isFile: Bool { self != .generated }

    /// Whether bytes come from a server.
    package var isServed: Bool { self == .http || self == .https }

    /// What a cell's ``Cell/source`` names, which may say more behind it; `nil` for what no plan makes.
    package init?(of cell: Cell) {
        self.init(rawValue: String(cell.source.prefix { $0 != " " }))
    }
}

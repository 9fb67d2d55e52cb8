#if Network
package import RandomAccess

/// Two catalogues as one: what the first one does not have is looked for in the second.
package struct CombinedCatalogue: ContentCatalogue {
    private let first: any ContentCatalogue
    private let second: any ContentCatalogue

    /// Creates a catalogue whose start page offers what the second one does.
    package init(_ first: any ContentCatalogue, before second: any ContentCatalogue) {
        self.first = first
        self.second = second
    }

    /// Finds content; see ``ContentCatalogue/content(at:)``.
    package func content(at path: [String]) throws(DecryptionError) -> ServedContent? {
        if let found = try first.content(at: path) { return found }
        return try second.content(at: path)
    }

    /// The paths of the second catalogue; see ``ContentCatalogue/listing()``.
    package func listing() throws(DecryptionError) -> [[String]] { try second.listing() }
}
#endif

import Results

/// The user's demand for integrity.
package enum IntegrityDemand: String, CaseIterable, Sendable {
    /// A change of the ciphertext must be noticed.
    case noticed
    /// Changes may go unnoticed, because something else guards the file.
    case unneeded = "none"
}

/// The protection that a strategy gives, from its security properties.
enum Protection: Int, Comparable, Sendable {
    /// Equal content shows in the ciphertext, and changes are not noticed.
    case secrecyInPart
    /// Changes are not noticed, or the strategy's properties are unknown.
    case secrecy
    /// Every change of the ciphertext is noticed.
    case integrity

    init(_ facts: StrategyFacts?) {
        guard let facts else {
            self = .secrecy
            return
        }
        let noticesChanges = facts.isTagged && facts.isIndexBound && facts.isObjectBound && facts.isEndBound
        self = noticesChanges ? .integrity : facts.hasOwnNonces ? .secrecy : .secrecyInPart
    }

    static func < (one: Protection, other: Protection) -> Bool { one.rawValue < other.rawValue }

    /// The protection that a file needs if its format notices no change.
    static let guardText =
        "something else must notice changes: a digest or MAC over the whole file, checked before any of it is used, "
        + "or a store that only you can write to"
}

extension CellSummary {
    /// The protection of the cell's strategy.
    var protection: Protection { Protection(facts) }
}

extension Cell {
    /// The length of a chunk as its format states it, such as `64 KiB`; `nil` if the file is the only chunk.
    ///
    /// Some formats count the tag of 16 bytes as part of the chunk. If the length is round only with the tag, the text
    /// includes the tag.
    var chunkText: String? {
        guard let chunkByteCount else { return nil }
        func isRound(_ count: UInt64) -> Bool { count.isMultiple(of: 1000) || count.isMultiple(of: 1024) }
        let whole = chunkByteCount.addingReportingOverflow(16).partialValue
        return ByteCountText.size(!isRound(chunkByteCount) && isRound(whole) ? whole : chunkByteCount)
    }

    /// The handling of chunks, in words; `nil` if only the needed blocks are read.
    var accessText: String? {
        switch access {
        case .block: nil
        case .chunkCache: "decrypted whole, latest kept"
        case .wholeChunk: "decrypted whole"
        case .freshBuffers: "new buffers for each"
        }
    }
}

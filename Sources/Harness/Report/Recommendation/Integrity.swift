import Results

/// The demand on formats beside speed.
package enum IntegrityDemand: String, CaseIterable, Sendable {
    /// A change of the ciphertext must be noticed.
    case noticed
    /// It need not be: something else guards the file.
    case unneeded = "none"
}

/// The extent to which a strategy protects beside the secrecy of a file, by its security properties.
enum Protection: Int, Comparable, Sendable {
    /// Equal content can be seen in the ciphertext, and changes are not noticed.
    case secrecyInPart
    /// Changes are not noticed, or nothing is known of the strategy.
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

    /// The guard of a file whose format notices no change.
    static let guardText =
        "something else must notice changes: a digest or MAC over the whole file, checked before any of it is used, "
        + "or a store that nobody else can write to"
}

extension CellSummary {
    /// The protection of the cell's strategy.
    var protection: Protection { Protection(facts) }
}

extension Cell {
    /// The length of a chunk as its format says it, such as `64 KiB`; `nil` where the format has one chunk, the file.
    ///
    /// Some formats count the tag of 16 bytes in: what is round with it is said with it.
    var chunkText: String? {
        guard let chunkByteCount else { return nil }
        func isRound(_ count: UInt64) -> Bool { count.isMultiple(of: 1000) || count.isMultiple(of: 1024) }
        let whole = chunkByteCount.addingReportingOverflow(16).partialValue
        return ByteCountText.size(!isRound(chunkByteCount) && isRound(whole) ? whole : chunkByteCount)
    }

    /// The part of a chunk that is fetched, in words; `nil` for what is needed and no more.
    var accessText: String? {
        switch access {
        case "block": nil
        case "chunk-cache": "decrypted whole, latest kept"
        case "whole-chunk": "decrypted whole"
        case "fresh-buffers": "new buffers for each"
        default: "access \(access)"
        }
    }
}

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

    init(_ cell: Cell) {
        self = Self.known[Rule(cell)] ?? Self.judged(cell)
    }

    /// The members of a cell that its security properties follow from.
    private struct Rule: Hashable {
        var strategy: String
        var ivRule: String?
        var padding: String?

        init(_ cell: Cell) { (strategy, ivRule, padding) = (cell.strategy, cell.ivRule, cell.padding) }
    }

    /// The protection of the strategies that are known, worked out once: a run has thousands of cells.
    private static let known: [Rule: Protection] = {
        let rules: [String?] = [nil, "sequence", "fixed"]
        let paddings: [String?] = [nil, "pkcs7", "none"]
        var known: [Rule: Protection] = [:]
        for name in SecurityProfile.knownNames {
            for rule in rules {
                for padding in paddings {
                    let cell = Cell(
                        backend: "", strategy: name, ivRule: rule, padding: padding, windowByteCount: 1,
                        objectByteCount: 1)
                    known[Rule(cell)] = judged(cell)
                }
            }
        }
        return known
    }()

    private static func judged(_ cell: Cell) -> Protection {
        guard let profile = SecurityProfile(cell) else { return .secrecy }
        return profile.noticesChanges ? .integrity : profile.hidesEqualContent ? .secrecy : .secrecyInPart
    }

    static func < (one: Protection, other: Protection) -> Bool { one.rawValue < other.rawValue }

    /// The guard of a file whose format notices no change.
    static let guardText =
        "something else must notice changes: a digest or MAC over the whole file, checked before any of it is used, "
        + "or a store that nobody else can write to"
}

extension SecurityProperty {
    /// Says whether the property is that a change of the ciphertext is noticed.
    var isOfChange: Bool {
        switch self {
        case .truncation, .appending, .reordering, .bitFlips, .splicing, .repetition: true
        case .equalContent, .randomAccess, .parallelDecryption: false
        }
    }
}

extension SecurityProfile {
    /// Says whether every kind of change is noticed.
    var noticesChanges: Bool {
        SecurityProperty.allCases.filter(\.isOfChange).allSatisfy { self[$0].grade == .good }
    }

    /// Says whether equal plaintext cannot be seen in the ciphertext, at least not by who only looks.
    var hidesEqualContent: Bool { self[.equalContent].grade != .bad }

    /// The names of the known strategies that notice changes, for advice on what to measure.
    static let namesNoticingChanges = knownNames.filter { name in
        SecurityProfile(Cell(backend: "", strategy: name, windowByteCount: 1, objectByteCount: 1))?.noticesChanges
            == true
    }

    /// The names of the strategies that there are profiles of.
    fileprivate static let knownNames = [
        "cbc-continuous", "cbc-chunked", "ctr", "hls-aes128", "cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf",
    ]
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

    /// The part of a chunk that is fetched, in words; `nil` where the format has one chunk, the file.
    ///
    /// A chunk with a tag is fetched whole, whatever the access says, since nothing of it may be delivered before.
    var accessText: String? {
        switch access {
        case "block":
            chunkByteCount == nil ? nil : Protection(self) == .integrity ? "whole chunks" : "only the blocks needed"
        case "chunk-cache": "decrypted whole, latest kept"
        case "whole-chunk": "decrypted whole"
        case "fresh-buffers": "new buffers for each"
        default: "access \(access)"
        }
    }
}

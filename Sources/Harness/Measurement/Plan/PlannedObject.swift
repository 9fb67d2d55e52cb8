import RandomAccess

/// What all cells of an entry have from their object.
struct PlannedObject {
    let strategy: String
    /// One a cell; `nil` where the strategy has no chunks.
    let chunkByteCounts: [UInt64?]
    let ivRule: String?
    let padding: String?
    let keyByteCount: Int
    /// The plaintext's length in bytes.
    let byteCount: UInt64
    let source: ObjectKind
}

extension PlannedObject {
    /// An object of the user's.
    init(_ object: PlanObject) {
        strategy = object.strategy.name
        chunkByteCounts = [object.strategy.chunkByteCount]
        ivRule = object.ivRule
        padding = object.strategy.padding?.rawValue
        keyByteCount = object.keyByteCount
        byteCount = object.byteCount
        source = object.kind
    }
}

/// What is done to a ciphertext behind its writer's back.
package enum TamperKind: String, CaseIterable, Codable, Hashable, Sendable {
    /// Something is missing, at the end or before it.
    case truncate
    /// Something stands behind the end.
    case extend
    /// A bit is another one.
    case flip
    /// Two parts have changed places.
    case swap
    /// A part stands there twice, beside or instead of another.
    case `repeat`
    /// A part is from another object with the same key.
    case splice
    /// The header, or the IV where that stands for one, is another one.
    case header
}

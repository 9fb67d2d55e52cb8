package import ByteSources
import RandomAccess

/// An object of the user's that all cells of a plan are measured on: it has what they would otherwise ask for.
package struct PlanObject: Sendable {
    /// What a plan must not ask for then.
    static let keys = ["strategy", "chunk-size", "iv-rule", "padding", "key-size", "object-size", "source"]

    let strategy: Strategy
    let keyByteCount: Int
    let byteCount: UInt64
    let place: RemoteObject?

    /// Describes an object.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - place: Where it is on a server; `nil` for a file.
    package init(_ object: MeasuredObject, at place: RemoteObject?) {
        strategy = object.strategy
        keyByteCount = object.keyByteCount
        byteCount = object.plaintextByteCount
        self.place = place
    }

    /// Where its bytes come from.
    var kind: ObjectKind { place.map { $0.isSecure ? .https : .http } ?? .file }

    /// How its chunks get their IVs, where there is a rule.
    var ivRule: String? {
        guard case .cbcChunked(_, _, let rule, _) = strategy else { return nil }
        return rule.rawValue
    }
}

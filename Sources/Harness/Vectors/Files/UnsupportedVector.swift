/// A case of a file that no reader of this project can be put to, such as one of another cipher mode.
package struct UnsupportedVector: Hashable, Sendable {
    /// The case's identifier.
    package let id: String
    /// What is missing.
    package let reason: String
}

/// Where the ciphertext of a measured object comes from.
package enum ObjectKind: String, CaseIterable, Hashable, Sendable {
    /// A file that was encrypted beforehand; it is in the page cache.
    case file
    /// Computed where it is read: any length, at no cost.
    case generated
}

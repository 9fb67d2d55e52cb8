/// Where the ciphertext of a measured object comes from.
package enum ObjectKind: String, CaseIterable, Hashable, Sendable {
    /// A file that was encrypted beforehand; it is in the page cache.
    case file
    /// The same file, decrypted from where the system keeps its pages: no copy, and they count as the process's memory.
    case mmap
    /// Computed where it is read: any length, at no cost.
    case generated

    /// Whether there is a file to be made, for which there must be room.
    package var isFile: Bool { self != .generated }
}

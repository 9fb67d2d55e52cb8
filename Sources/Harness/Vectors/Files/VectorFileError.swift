package import Support

/// A vector file that cannot be used: which one, where in it, and what was expected.
package struct VectorFileError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// Whether the file is missing, unreadable or wrong.
    package enum Kind: Hashable, Sendable {
        /// There is no such file.
        case missing
        /// It cannot be read.
        case unreadable
        /// Its contents are not what the schema says.
        case malformed
    }

    /// What is the matter.
    package let kind: Kind
    /// The file's path, as it was given.
    package let file: String
    /// Where in the file: a JSON pointer (RFC 6901); empty for the whole of it.
    package let pointer: String
    /// What was found and what was expected.
    package let reason: String

    /// File, place, reason.
    package var description: String {
        pointer.isEmpty ? "\(file): \(reason)" : "\(file), at \(pointer): \(reason)"
    }

    /// What a command ends with that this error stops.
    package var exitStatus: ExitStatus { kind == .malformed ? .badData : .missingInput }
}

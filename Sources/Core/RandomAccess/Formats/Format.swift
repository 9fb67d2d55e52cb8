/// A way to turn a plaintext into ciphertext with random access, as a description states it. Everything else is derived
/// from the description.
///
/// - Source: docs/formats.md.
@dynamicMemberLookup
public final class Format: Sendable {
    /// The format's name.
    public let name: String
    /// The format in a few words.
    public let summary: String
    /// The document that defines it.
    public let source: String
    /// The faults that its readers and writers had.
    package let pitfalls: [Pitfall]
    /// The description.
    package let text: [UInt8]
    /// The rules that the description states.
    package let rules: Rules

    init(name: String, summary: String, source: String, pitfalls: [Pitfall], text: [UInt8], rules: Rules) {
        (self.name, self.summary, self.source, self.pitfalls) = (name, summary, source, pitfalls)
        (self.text, self.rules) = (text, rules)
    }

    /// A rule of the description.
    public subscript<Member>(dynamicMember path: KeyPath<Rules, Member>) -> Member { rules[keyPath: path] }

    /// Returns the format with some rules changed, under the same name.
    package func changing(_ change: (inout Rules) -> Void) -> Format {
        var rules = rules
        change(&rules)
        return Format(name: name, summary: summary, source: source, pitfalls: pitfalls, text: text, rules: rules)
    }

    /// A fault that readers or writers of the format had, in words.
    package struct Pitfall: Sendable {
        /// The fault.
        package let fault: String
        /// The outcome for the user.
        package let result: String
        /// The reports of it.
        package let seen: String
    }

    /// The members of a description.
    public struct Rules: Hashable, Sendable {
        /// The lengths of the key in bytes; `nil` for any.
        package var keyByteCounts: [Int]?
        /// The values that the user gives in addition to the key.
        package var inputs: [Input]
        package var isEmptyObjectEmpty: Bool
        package var header: [Field]
        package var derived: [Derived]
        package var checks: [Check]
        package var start: Formula?
        package var trailer: Formula?
        /// The fields behind the chunks, if any.
        package var trailerFields: [Field]
        package var cipher: Formula
        /// The chunk length; `nil` if the file is one chunk.
        package var chunk: Formula?
        package var firstChunk: Formula?
        /// The plaintext length of the last chunk according to its own parts. It is needed if nothing else tells the
        /// length of the trailer.
        package var lastChunk: Formula?
        package var layout: [Part]
        /// The offset of the data, if the data of all chunks is stored together and their other parts in a table behind
        /// the header; `nil` or 0 if chunks are contiguous.
        package var dataStart: Formula?
        package var key: Formula
        package var nonce: Formula
        package var associatedData: Formula?
        package var padding: Formula?
        package var emptyPlaintext: EmptyPlaintext
        package var emptyLast: EmptyLast
        package var isLastNeverFull: Bool
        package var unit: Formula?
        package var maxChunkCount: Formula?
        /// The condition under which a full chunk of zeros stands for zeros; `nil` if none does.
        package var hole: Formula?
        package var rejectedNonce: Formula?
        package var checksLast: Bool
        /// The check over all chunks, which no reader of a range makes.
        package var whole: WholeCheck?
    }

    /// A value that depends on the header, the inputs and earlier derived values.
    package struct Derived: Hashable, Sendable {
        package let name: String
        package var formula: Formula
    }

    /// A value that a reader must know about an object in advance.
    package struct Input: Hashable, Sendable {
        /// The kinds of values, with their limits.
        package enum Kind: Hashable, Sendable {
            /// A number, such as a length, within a range and a multiple of another number; if there is a list, one of
            /// its numbers.
            case integer(ClosedRange<UInt64>, multipleOf: UInt64, oneOf: [UInt64] = [])
            /// Bytes of one of some lengths; of any length up to 1 MiB for `nil`.
            case bytes([Int]?)
            /// One of some words.
            case text([String])
        }
        package let name: String
        package let kind: Kind
        /// The default value; `nil` for a required input.
        package let defaultValue: Value?
        /// True if a variant fixes the input, so that no other value is accepted.
        package var isFixed = false
    }

    /// Some bytes of a header, or of a chunk besides its data.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let byteCount: Formula
        /// The prefix of the line behind the field, if the field is lines of text. Its length is known after it has
        /// been read.
        package var nextLinePrefix: ByteString?
        /// The number and lengths of repeated fields, if the field consists of them. Its own length is known after it
        /// has been read.
        package var repetition: Repetition?
        /// The allowed contents; if empty, any bytes are allowed, and a writer draws them at random.
        package var content: [Formula]
        /// The bytes that a writer puts into a field without required content; a reader accepts any.
        package var usual: Formula?
        /// The plaintext of an encrypted field, and its encryption.
        package var sealed: Sealed?
        package let error: ObjectError
    }

    /// The stored parts of a chunk.
    package enum Part: Hashable, Sendable {
        case data
        case tag(byteCount: Int)
        case field(Field)
    }

    /// A condition that all chunks decide together, such as a snapshot of all tags.
    package struct WholeCheck: Hashable, Sendable {
        /// The condition for the check; `nil` for all objects.
        package let condition: Formula?
        /// The bytes of each chunk that are combined by exclusive or. They may use the chunk's `tag`.
        package let fold: Formula
        /// The requirement. It may use `fold`, the combined bytes, and `gap`, the bytes between a table and the data.
        package let requirement: Formula
    }

    /// A condition on an object in addition to its fields.
    package struct Check: Hashable, Sendable {
        package let condition: Formula?
        package let requirement: Formula
        package let error: ObjectError
        /// The expectation in words.
        package let words: String?
    }

    /// The error for an object that is refused.
    package enum ObjectError: String, CaseIterable, Sendable {
        case authenticationFailed, unsupported, truncatedCiphertext, invalidHeader
        /// The errors of checks without an object: of parameters, or of the key.
        case invalidRequest, invalidKey
    }

    /// The chunks of an empty plaintext.
    package enum EmptyPlaintext: String, CaseIterable, Sendable {
        case chunk, nothing
    }

    /// The cases in which a reader accepts a last chunk without data.
    package enum EmptyLast: String, CaseIterable, Sendable {
        case never, onlyChunk, allowed
    }
}

extension Format: Hashable {
    /// Returns whether both have the same name, text and rules.
    public static func == (left: Format, right: Format) -> Bool {
        left === right || left.name == right.name && left.text == right.text && left.rules == right.rules
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

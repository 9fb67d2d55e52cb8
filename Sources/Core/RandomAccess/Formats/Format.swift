/// A way in which a plaintext becomes ciphertext that can be read from the middle, as a description says it. All else
/// is derived from it.
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
    /// The description.
    package let text: [UInt8]
    /// The rules that the description states.
    package let rules: Rules

    init(name: String, summary: String, source: String, text: [UInt8], rules: Rules) {
        (self.name, self.summary, self.source) = (name, summary, source)
        (self.text, self.rules) = (text, rules)
    }

    /// A rule that the description states.
    public subscript<Member>(dynamicMember path: KeyPath<Rules, Member>) -> Member { rules[keyPath: path] }

    /// The format with some rules changed: another one, under the same name.
    package func changing(_ change: (inout Rules) -> Void) -> Format {
        var rules = rules
        change(&rules)
        return Format(name: name, summary: summary, source: source, text: text, rules: rules)
    }

    /// The members of a description.
    public struct Rules: Hashable, Sendable {
        /// The lengths of the key in bytes, or `nil` for any.
        package var keyByteCounts: [Int]?
        /// The values that are to be said beside the key.
        package var inputs: [Input]
        package var isEmptyObjectEmpty: Bool
        package var header: [Field]
        package var derived: [Derived]
        package var checks: [Check]
        package var start: Formula?
        package var trailer: Formula?
        /// The fields behind the chunks, if the description has such.
        package var trailerFields: [Field]
        package var cipher: Formula
        /// `nil` where the file is one chunk.
        package var chunk: Formula?
        package var firstChunk: Formula?
        /// The plaintext bytes of the last chunk as its own parts tell them, where nothing else tells how long the
        /// trailer is.
        package var lastChunk: Formula?
        package var layout: [Part]
        /// The offset of the data where the data of all chunks stands together, and their other parts in a table behind
        /// the header; 0 where chunks are whole.
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
        package var hasHoles: Bool
        package var rejectedNonce: Formula?
        package var checksLast: Bool
    }

    /// A value that follows from the header, the inputs and others before it.
    package struct Derived: Hashable, Sendable {
        package let name: String
        package var formula: Formula
    }

    /// Something that has to be known of an object from outside.
    package struct Input: Hashable, Sendable {
        /// The kinds of values, with what they may be.
        package enum Kind: Hashable, Sendable {
            /// A number, such as a length, in a range and a multiple of something.
            case integer(ClosedRange<UInt64>, multipleOf: UInt64)
            /// Bytes, of one of some lengths, or of any up to 1 MiB.
            case bytes([Int]?)
            /// A word, one of some.
            case text([String])
        }
        package let name: String
        package let kind: Kind
        /// The value if none is given; `nil` for an input that has to be.
        package let defaultValue: Value?
        /// `true` of an input that a variant fixes: no other value is taken.
        package var isFixed = false
    }

    /// Some bytes of a header, or of a chunk beside its data.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let byteCount: Formula
        /// Of a text: what its last line begins with. Its length is known once it has been read.
        package var lastLinePrefix: ByteString?
        /// Of fields that come again and again: their number and lengths. Its own length is known once it has been read.
        package var repetition: Repetition?
        /// The bytes that it may be; of a field without, any will do, and a writer draws them at random.
        package var content: [Formula]
        /// The bytes that a writer puts into a field without content; a reader takes any.
        package var usual: Formula?
        /// The plaintext of a field that is encrypted, and the way there.
        package var sealed: Sealed?
        package let error: Refusal
    }

    /// The stored parts of a chunk.
    package enum Part: Hashable, Sendable {
        case data
        case tag(byteCount: Int)
        case field(Field)
    }

    /// Something that must be true of an object, beside its fields.
    package struct Check: Hashable, Sendable {
        package let condition: Formula?
        package let requirement: Formula
        package let error: Refusal
        /// The expectation in words.
        package let words: String?
    }

    /// The error with which an object is refused.
    package enum Refusal: String, CaseIterable, Sendable {
        case authenticationFailed, unsupported, truncatedCiphertext, invalidHeader
        /// Of a check that needs no object: of parameters, or of the key.
        case invalidRequest, invalidKey
    }

    /// The chunks of an empty plaintext.
    package enum EmptyPlaintext: String, CaseIterable, Sendable {
        case chunk, nothing
    }

    /// The place at which a last chunk without data is read.
    package enum EmptyLast: String, CaseIterable, Sendable {
        case never, onlyChunk, allowed
    }
}

extension Format: Hashable {
    /// Says whether both have the same name, text and rules.
    public static func == (left: Format, right: Format) -> Bool {
        left === right || left.name == right.name && left.text == right.text && left.rules == right.rules
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

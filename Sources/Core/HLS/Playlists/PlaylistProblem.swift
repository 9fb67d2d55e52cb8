/// What is wrong with a playlist, and on which line.
///
/// Never holds more of a playlist than the name of a tag or attribute, a number, or a character: URIs of keys may be
/// secret.
public struct PlaylistProblem: Error, Hashable, Sendable {
    /// The class of a problem; the names are stable.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The first line is not `#EXTM3U`.
        case notAPlaylist
        /// More bytes than a playlist may have here.
        case tooLarge
        /// A line of more bytes than it may have here.
        case lineTooLong
        /// More segments than a playlist may have here.
        case tooManySegments
        /// So many problems that this is no playlist.
        case tooManyProblems
        /// A byte order mark, which section 4.1 forbids.
        case byteOrderMark
        /// Bytes that are not UTF-8.
        case notUTF8
        /// A control character, which section 4.1 forbids.
        case controlCharacter
        /// White space where there must be none.
        case whitespace
        /// A tag in other letters, or with white space in its name.
        case misspelledTag
        /// An attribute list that breaks off or has no attribute where there must be one.
        case brokenAttributeList
        /// Typographic quotation marks where straight ones must be.
        case curlyQuotes
        /// A quoted string without its end.
        case unterminatedQuote
        /// A quoted value where none must be.
        case quoted
        /// A value without quotation marks where they must be.
        case unquoted
        /// An attribute twice in a list.
        case duplicateAttribute
        /// An attribute that must be there.
        case missingAttribute
        /// An attribute that must not be there, or whose value is none of those that it may have.
        case invalidAttribute
        /// An IV that is not `0x` and 32 hexadecimal digits.
        case invalidIV
        /// A number that is none, or out of range.
        case invalidNumber
        /// A duration that is none, or out of range.
        case invalidDuration
        /// A byte range that is none, or out of range.
        case invalidByteRange
        /// A byte range without an offset whose segment does not follow a byte range of the same resource.
        case byteRangeWithoutPredecessor
        /// A METHOD that is not served.
        case unsupportedMethod
        /// Keys of formats that are not served.
        case unsupportedKeyFormat
        /// A tag that changes what the playlist means in a way that is not served.
        case unsupportedTag
        /// A protocol version that is not known.
        case unsupportedVersion
        /// A tag that may be there once, twice.
        case duplicateTag
        /// A tag where it must not be.
        case misplacedTag
        /// Tags of master and media playlists in one.
        case mixedTags
        /// A segment without EXTINF.
        case missingDuration
        /// A tag that no URI follows.
        case missingURI
        /// An encrypted initialization section whose key has no IV attribute.
        case missingIV
        /// A segment that the playlist says is missing.
        case gap
        /// A media playlist was expected, and this is a master playlist.
        case masterPlaylist
        /// A master playlist that leads back to itself.
        case cycle
        /// A choice among the variants of a master playlist that it does not have.
        case noSuchVariant
    }

    /// The line, counted from 1.
    public let line: Int
    /// The class of the problem.
    public let kind: Kind
    /// What was found.
    public let found: String
    /// What was expected.
    public let expected: String

    /// Creates a problem.
    public init(line: Int, kind: Kind, found: String, expected: String) {
        self.line = line
        self.kind = kind
        self.found = found
        self.expected = expected
    }
}

extension PlaylistProblem: CustomStringConvertible {
    /// The line, what was found, what was expected.
    public var description: String { "line \(line): \(found): expected \(expected)" }
}

extension PlaylistProblem.Kind {
    /// Whether the playlist may be right, and is only not served.
    public var isUnsupported: Bool {
        switch self {
        case .unsupportedMethod, .unsupportedKeyFormat, .unsupportedTag, .unsupportedVersion, .masterPlaylist: true
        default: false
        }
    }
}

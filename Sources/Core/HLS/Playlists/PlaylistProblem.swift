/// A fault of a playlist, and its line.
///
/// It never contains more of a playlist than the name of a tag or attribute, a number, or a character, since URIs of
/// keys may be secret.
public struct PlaylistProblem: Error, Hashable, Sendable {
    /// The class of a problem; the names are stable.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The first line is not `#EXTM3U`.
        case notAPlaylist
        /// More bytes than the limit for a playlist.
        case tooLarge
        /// More bytes than the limit for a line.
        case lineTooLong
        /// More segments than the limit for a playlist.
        case tooManySegments
        /// More problems than a real playlist would have.
        case tooManyProblems
        /// A byte order mark, which section 4.1 forbids.
        case byteOrderMark
        /// Bytes that are not UTF-8.
        case notUTF8
        /// A control character, which section 4.1 forbids.
        case controlCharacter
        /// White space where it is not allowed.
        case whitespace
        /// A tag in the wrong case, or with white space in its name.
        case misspelledTag
        /// An attribute list that ends early, or lacks an attribute where one is required.
        case brokenAttributeList
        /// Typographic quotation marks instead of straight ones.
        case curlyQuotes
        /// A quoted string without its end.
        case unterminatedQuote
        /// A quoted value where it must be unquoted.
        case quoted
        /// An unquoted value where it must be quoted.
        case unquoted
        /// An attribute that occurs twice in a list.
        case duplicateAttribute
        /// A missing attribute.
        case missingAttribute
        /// An attribute that is not allowed, or has an invalid value.
        case invalidAttribute
        /// An IV that is not `0x` and 32 hexadecimal digits.
        case invalidIV
        /// A number that is invalid or out of range.
        case invalidNumber
        /// A duration that is invalid or out of range.
        case invalidDuration
        /// A byte range that is invalid or out of range.
        case invalidByteRange
        /// A byte range without an offset whose segment does not follow a byte range of the same resource.
        case byteRangeWithoutPredecessor
        /// An unsupported METHOD.
        case unsupportedMethod
        /// Keys of unsupported formats.
        case unsupportedKeyFormat
        /// A tag that changes the meaning of the playlist in an unsupported way.
        case unsupportedTag
        /// An unknown protocol version.
        case unsupportedVersion
        /// A second tag of a kind that may occur once.
        case duplicateTag
        /// A tag in the wrong place.
        case misplacedTag
        /// Tags of master and media playlists in one playlist.
        case mixedTags
        /// A segment without EXTINF.
        case missingDuration
        /// A tag without a URI behind it.
        case missingURI
        /// An encrypted initialization section whose key has no IV attribute.
        case missingIV
        /// A segment that the playlist declares missing.
        case gap
        /// A master playlist instead of a media playlist.
        case masterPlaylist
        /// A master playlist that leads back to itself.
        case cycle
        /// A chosen variant that the master playlist does not have.
        case noSuchVariant
    }

    /// The line, counted from 1.
    public let line: Int
    /// The class of the problem.
    public let kind: Kind
    /// The finding.
    public let found: String
    /// The expectation.
    public let expected: String

    /// A problem on a line.
    public init(line: Int, kind: Kind, found: String, expected: String) {
        self.line = line
        self.kind = kind
        self.found = found
        self.expected = expected
    }
}

extension PlaylistProblem: CustomStringConvertible {
    /// The line, the finding, and the expectation.
    public var description: String { "line \(line): \(found): expected \(expected)" }
}

extension PlaylistProblem.Kind {
    /// True if the playlist may be valid but is not supported.
    public var isUnsupported: Bool {
        switch self {
        case .unsupportedMethod, .unsupportedKeyFormat, .unsupportedTag, .unsupportedVersion, .masterPlaylist: true
        default: false
        }
    }
}

import RandomAccess
import Support

extension StrategyParameters.Parameter {
    /// The name as people write it: a plan's key, and an option behind two hyphens.
    package var textName: String {
        switch self {
        case .iv: "iv"
        case .padding: "padding"
        case .chunkByteCount: "chunk-size"
        case .ivRule: "iv-rule"
        case .context: "context"
        case .associatedData: "associated-data"
        case .segmentByteCount: "segment-size"
        case .derivedKeyByteCount: "derived-key-size"
        }
    }
}

/// Parameters as people write them, on the command line and in plans.
extension StrategyParameters {
    /// The names of all strategies, playlists included.
    package static let textNames = Strategy.names + [PlaylistRequest.strategyName]

    /// The parameters that a text says of a strategy, in order; of playlists, the length of the segments that are made.
    ///
    /// - Returns: `nil` for a name that is none.
    package static func textParameters(of name: String) -> [Parameter]? {
        name == PlaylistRequest.strategyName ? [.segmentByteCount] : parameters(of: name)
    }

    /// What a parameter is unless it is written; `nil` for one that has to be.
    package static func usualText(of parameter: Parameter, in name: String) -> String? {
        switch parameter {
        case .iv, .chunkByteCount: nil
        case .padding: Padding.pkcs7.rawValue
        case .ivRule: IVRule.sequence.rawValue
        case .context, .associatedData: ""
        case .segmentByteCount: name == PlaylistRequest.strategyName ? "1MiB" : "4KiB"
        case .derivedKeyByteCount: "128"
        }
    }

    /// What a parameter's text may be, in words. What else a length must be, ``strategy()`` says.
    package static func textExpectation(of parameter: Parameter, in name: String) -> String {
        switch parameter {
        case .iv: "32 hexadecimal digits or a file NAME.iv"
        case .context, .associatedData: "hexadecimal digits, an even number of them"
        case .padding, .ivRule: expectation(of: parameter)
        case .chunkByteCount: "a size such as 16MB"
        case .segmentByteCount:
            name == PlaylistRequest.strategyName
                ? "\(ByteSize(playlistSegments.lowerBound)) to \(ByteSize(playlistSegments.upperBound))"
                : "a size such as 4KiB or 1MiB"
        case .derivedKeyByteCount: "128 or 256"
        }
    }

    /// The bytes of the AES keys that a strategy takes, the usual length first.
    package static func keyByteCounts(of name: String) -> [Int] {
        switch name {
        case "cobblestone-128", PlaylistRequest.strategyName: [16]
        case "cobblestone-256": [32]
        case "tink-aes-gcm-hkdf": [16, 32]
        default: [16, 24, 32]
        }
    }

    /// The lengths of the segments of a playlist that is made.
    private static let playlistSegments: ClosedRange<UInt64> = 1 << 10...1 << 32

    /// Reads a parameter's text: names, hexadecimal digits, sizes with or without a unit, keys' lengths in bits.
    ///
    /// - Returns: Whether it is one.
    package mutating func read(_ text: String, for parameter: Parameter) -> Bool {
        switch parameter {
        case .iv: iv = Hexadecimal.decode(text, allowsUpperCase: true)
        case .padding: padding = Padding(rawValue: text)
        case .chunkByteCount: chunkByteCount = ByteSize(text)?.byteCount
        case .ivRule: ivRule = IVRule(rawValue: text)
        case .context: context = Hexadecimal.decode(text, allowsUpperCase: true)
        case .associatedData: associatedData = Hexadecimal.decode(text, allowsUpperCase: true)
        case .segmentByteCount:
            let byteCount = ByteSize(text)?.byteCount
            let isPlaylist = name == PlaylistRequest.strategyName
            segmentByteCount = byteCount.flatMap { !isPlaylist || Self.playlistSegments.contains($0) ? $0 : nil }
        case .derivedKeyByteCount: derivedKeyByteCount = ["128": 16, "256": 32][text]
        }
        return has(parameter)
    }

    /// Whether a parameter is known.
    package func has(_ parameter: Parameter) -> Bool {
        switch parameter {
        case .iv: iv != nil
        case .padding: padding != nil
        case .chunkByteCount: chunkByteCount != nil
        case .ivRule: ivRule != nil
        case .context: context != nil
        case .associatedData: associatedData != nil
        case .segmentByteCount: segmentByteCount != nil
        case .derivedKeyByteCount: derivedKeyByteCount != nil
        }
    }

    /// The plaintext bytes of a chunk or a segment; `nil` where the format has one chunk, the file.
    package var plaintextChunkByteCount: UInt64? {
        if name == PlaylistRequest.strategyName { return segmentByteCount }
        return chunkByteCount ?? (try? strategy())?.chunkByteCount
    }
}

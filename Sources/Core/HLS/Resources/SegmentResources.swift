public import RandomAccess

/// Where the resources come from that a playlist names.
public protocol SegmentResources: Sendable {
    /// Opens a resource.
    ///
    /// - Parameter uri: Its URI as the playlist has it.
    /// - Returns: Its bytes as they are, encrypted or not.
    /// - Throws: `DecryptionError.io` if it cannot be opened, `.unsupported` for a scheme that cannot be fetched,
    ///   `.invalidParameter` for a URI that must not be fetched.
    func source(for uri: String) throws(DecryptionError) -> any ByteSource
}

/// An object on a server that a playlist names, or is.
public struct ServedRequest: Hashable, Sendable {
    /// Its URL.
    public let url: String
    /// Whether it is on the server that was named first: nobody else gets what was meant for that one, such as a token.
    public let isOnFirstServer: Bool
    /// Whether it is a playlist or a key: short, and often made on demand, by servers that know no ranges.
    public let isShort: Bool
}

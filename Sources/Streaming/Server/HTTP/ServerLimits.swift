#if Network
/// What a client may ask of a server.
package struct ServerLimits: Hashable, Sendable {
    /// The most connections at once; more of them wait until one is closed.
    package var connectionCount = 256
    /// The most bytes of a request's header, and of its request line.
    package var headerByteCount = 16 << 10
    /// The most fields of a header.
    package var fieldCount = 100
    /// The most bytes of a request's body, which nobody reads.
    package var requestBodyByteCount = 64 << 10
    /// After how many milliseconds a connection is closed on which nothing happens: no request comes, or is not finished,
    /// or what was sent is not taken.
    package var idleMilliseconds: Int64 = 60_000
    /// How many milliseconds running answers have to be finished once the server was told to stop.
    package var shutdownMilliseconds: Int64 = 10_000
    /// The most plaintext bytes of one step.
    package var windowByteCount = 256 << 10
    /// The most plaintext bytes in buffers of all answers together; beyond it, new windows have
    /// ``minWindowByteCount``.
    package var bufferByteCount = 8 << 20

    /// The shortest window: below it, what a step costs besides decryption shows.
    package static let minWindowByteCount = 32 << 10

    /// How many requests at once may wait for what they ask for: for a playlist to be parsed, or a key to be found.
    static let lookupThreadCount = 8

    /// Creates the usual limits.
    package init() {}
}
#endif

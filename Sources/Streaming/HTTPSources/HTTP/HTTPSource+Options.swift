#if Network
/// How a source asks for its bytes.
extension HTTPSource {
    /// What a source is opened with.
    public struct Options: Sendable {
        /// Which servers are taken, over `https`.
        public var policy = TLSPolicy()
        /// How long nothing may come: no connection, no handshake, no byte.
        public var idleTimeout = Duration.seconds(10)
        /// How long a read may take, with all that is tried again.
        public var deadline = Duration.seconds(60)
        /// How often a range is asked for, if what failed can pass.
        public var attempts = 3
        /// How many ranges are under way at once when the source is read in order; 0 for no reading ahead.
        public var readAheadDepth = 4
        /// The most bytes of such a range. At most two more than ``readAheadDepth`` of them are held.
        public var largestBlockByteCount = 4 << 20
        /// How much is fetched at once when an object is opened: formats begin with something that is looked at first.
        public var firstByteCount = 64 << 10
        /// The most bytes of an object that is taken whole, from a server that knows no ranges; 0 for none: a server that
        /// ignores them is an error.
        public var maxWholeByteCount = 0
        /// Whether connections are kept from one range to the next; without it each has its own.
        public var keepsConnections = true
        /// The value of the field `Authorization`. It is part of no error.
        public var authorization: String?

        /// Creates options.
        public init() {}
    }
}
#endif

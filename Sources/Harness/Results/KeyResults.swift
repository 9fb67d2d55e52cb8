/// What a folder of results holds on keys.
public struct KeyResults: Codable, Hashable, Sendable {
    /// How long players waited.
    public var waits: KeyWaitsRecord?
    /// What clients asked of a key server.
    public var load: KeyLoadRecord?
    /// The same of few clients, simulated and run.
    public var loopback: KeyLoadRecord?

    /// Creates results.
    public init(waits: KeyWaitsRecord? = nil, load: KeyLoadRecord? = nil, loopback: KeyLoadRecord? = nil) {
        self.waits = waits
        self.load = load
        self.loopback = loopback
    }

    /// Whether there are no figures.
    public var isEmpty: Bool {
        (waits?.cells ?? []).isEmpty && (load?.cells ?? []).isEmpty && (loopback?.cells ?? []).isEmpty
    }
}

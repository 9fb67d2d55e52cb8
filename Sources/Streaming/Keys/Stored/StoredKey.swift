/// What is stored beside a key.
public struct StoredKey: Hashable, Sendable {
    /// The key's identifier.
    public let identifier: String
    /// The device that the key is bound to.
    public let device: String
    /// How often the key was stored, from 1; the highest one counts.
    public internal(set) var generation: Int
    /// How long the key may be kept unused.
    public let storage: Duration
    /// How long it may be used from its first use on.
    public let playback: Duration
    /// When the key came, by the clock on the wall.
    public let receivedAt: Duration
    /// When it was used first, by the same clock.
    public internal(set) var firstUse: Duration?
    /// The latest that this clock was seen to show.
    public internal(set) var lastSeen: Duration

    /// Creates what is stored beside a key.
    public init(
        identifier: String, device: String, generation: Int = 1, storage: Duration, playback: Duration,
        receivedAt: Duration, firstUse: Duration? = nil, lastSeen: Duration
    ) {
        self.identifier = identifier
        self.device = device
        self.generation = generation
        self.storage = storage
        self.playback = playback
        self.receivedAt = receivedAt
        self.firstUse = firstUse
        self.lastSeen = lastSeen
    }

    /// When the key expires, by the clock on the wall.
    public var expiry: Duration { firstUse.map { $0 + playback } ?? receivedAt + storage }

    /// Why it has expired, when it has.
    var expiryFailure: KeyFailure { firstUse == nil ? .storageExpired : .playbackExpired }
}

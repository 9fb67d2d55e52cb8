/// A session with one planted fault, there to prove that the scenarios would notice.
package enum KeyMutant: String, CaseIterable, Hashable, Sendable {
    /// Gives up when something fails that can pass.
    case neverRetries
    /// Asks again for what was refused for good.
    case retriesFatal
    /// Asks again without a pause.
    case noBackOff
    /// Does not double the pause.
    case constantBackOff
    /// Comes back before the server wanted it to.
    case ignoresRetryAfter
    /// Waits for an answer without end.
    case noTimeLimit
    /// Lets a reader wait without end.
    case endlessIdleTimeout
    /// Says nothing about what fails and can pass.
    case silentAboutDelays
    /// Tells readers about a fatal error as if it could pass.
    case reportsFatalAsPassing
    /// Takes an answer that came too late.
    case takesLateAnswers
    /// Takes the key of another identifier.
    case takesForeignKeys
    /// Takes a key of any length.
    case takesAnyLength
    /// Asks for one identifier twice at a time.
    case noCoalescing
    /// Asks for each key of a batch by itself.
    case noBatching
    /// Sends without waiting for others to come along.
    case neverGathers
    /// Does not ask ahead of time.
    case ignoresPreloading
    /// Asks for the next key as soon as it is told of.
    case noDispersal
    /// Asks for the next key all over the time until it is needed, to the last moment.
    case dispersesPastWindow
    /// Does not ask for the next key before it is needed.
    case ignoresRotation
    /// Keeps its keys when the route changes.
    case ignoresRoute
    /// Uses stored keys wherever plaintext goes.
    case persistableEverywhere
    /// Asks while there is no network.
    case ignoresNetworkLoss
    /// Does not ask again when there is a network.
    case staysOffline
    /// Starts the clock of playback when a key comes.
    case playbackFromArrival
    /// Uses a stored key for longer than it may.
    case ignoresPlaybackExpiry
    /// Keeps a stored key unused for longer than it may.
    case ignoresStorageExpiry
    /// Leaves the old key where the updated one is.
    case keepsReplacedKey
    /// Erases the old key before the updated one is stored.
    case erasesBeforeStoring
    /// Lets a read go on with an expired key.
    case readsPastExpiry
    /// Uses another device's key.
    case ignoresDevice
    /// Believes a clock that was set back.
    case believesClock
    /// Leaves expired keys in memory.
    case keepsExpiredInMemory
    /// Asks again at once for what was refused for good.
    case forgetsRefusals
    /// Answers readers after it was closed.
    case ignoresClose
}

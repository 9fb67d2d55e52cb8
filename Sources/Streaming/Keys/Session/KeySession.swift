public import RandomAccess

/// Keys that arrive in their own time. A session asks for them on demand or ahead of time, in batches, and again for
/// another route. It spreads requests over the time before a key is needed, and can store keys for later.
///
/// A `KeyMachine` makes all decisions; the session carries them out, holds the keys, and waits. It never asks for one
/// identifier twice at the same time.
public actor KeySession {
    /// Reports to the user, while readers wait, why a key is late.
    public typealias Reporter = @Sendable (_ identifier: String, _ failure: KeyFailure) -> Void

    /// The max number of notices that are kept.
    public static let maxNotices = 1000

    /// The identifier and the kind of a key in memory.
    struct Slot: Hashable {
        let identifier: String
        let kind: KeyKind
    }

    /// A waiting reader, and its results so far.
    struct Pending {
        var rest: Set<String>
        var results: [String: Result<SecretKey, KeyFailure>] = [:]
        var continuation: CheckedContinuation<[String: Result<SecretKey, KeyFailure>], Never>?
    }

    let exchange: any KeyExchange
    let clock: any KeyClock
    let storage: SealedKeyStore?
    let reporter: Reporter
    var machine: KeyMachine
    var keys: [Slot: SecretKey] = [:]
    var pending: [Int: Pending] = [:]
    var leases: [Int: KeyLease] = [:]
    var tasks: [Int: Task<Void, Never>] = [:]
    var timer: (deadline: Duration, task: Task<Void, Never>)?
    var lookedFor: Set<String> = []
    /// Stored keys whose latest generation could not be written. The older generation on disk is therefore kept.
    var unsaved: [String: StoredKey] = [:]
    /// Identifiers of stored keys whose first use is on disk as well.
    var startedInStorage: Set<String> = []
    /// Identifiers whose stored keys belong to another device or do not open. Nothing of them is overwritten.
    var unusable: Set<String> = []
    var lastNumber = 0

    /// Notices that no reader waited for, oldest first, at most ``maxNotices``.
    public internal(set) var notices: [KeyNotice] = []

    /// The session knows no key at first.
    ///
    /// - Parameters:
    ///   - exchange: The origin of the keys.
    ///   - policy: The timing and limits of requests.
    ///   - device: The identity that stored keys are bound to.
    ///   - seed: The seed of all jitter; each client must have its own.
    ///   - clock: The clocks.
    ///   - storage: The storage for keys; `nil` to store none.
    ///   - route: The output that plaintext goes to first.
    ///   - reporter: Called at once when a key is late.
    public init(
        exchange: any KeyExchange, policy: KeyPolicy = KeyPolicy(), device: String, seed: UInt64, clock: any KeyClock,
        storage: SealedKeyStore? = nil, route: KeyRoute = .local, reporter: @escaping Reporter = { _, _ in }
    ) {
        self.exchange = exchange
        self.clock = clock
        self.storage = storage
        self.reporter = reporter
        self.machine = KeyMachine(policy: policy, device: device, seed: seed, route: route)
    }

    deinit {
        timer?.task.cancel()
        for task in tasks.values { task.cancel() }
    }

    /// Returns a key, and asks for it if the session does not have it.
    ///
    /// - Throws: `KeyFailure`, also if the task is cancelled.
    public func key(for identifier: String) async throws(KeyFailure) -> SecretKey {
        guard let result = await keys(for: [identifier])[identifier] else { throw .missing }
        return try result.get()
    }

    /// Returns several keys, and asks for the missing ones in one exchange where that is possible.
    ///
    /// - Returns: Each key, or the reason why there is none.
    public func keys(for identifiers: [String]) async -> [String: Result<SecretKey, KeyFailure>] {
        let reader = nextNumber()
        restore(identifiers)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending[reader] = Pending(rest: Set(identifiers), continuation: continuation)
                handle(.want(reader: reader, identifiers: identifiers))
                if Task.isCancelled { abandon(reader) }
                finish(reader)
            }
        } onCancel: {
            Task { await self.abandon(reader) }
        }
    }

    /// Asks for keys that will be needed.
    public func preload(_ identifiers: [String]) {
        restore(identifiers)
        handle(.preload(identifiers))
    }

    /// Asks for keys that can be stored.
    public func persist(_ identifiers: [String]) {
        restore(identifiers)
        handle(.persist(identifiers))
    }

    /// Asks for a key at a random time before it appears in a live playlist.
    public func prepareRotation(to identifier: String, appearsIn time: Duration) {
        handle(.rotation(identifier: identifier, appearsIn: time))
    }

    /// Erases keys from memory that are no longer needed.
    public func retire(_ identifiers: [String]) {
        handle(.retire(identifiers))
    }

    /// Sets the output that plaintext goes to from now on.
    public func changeRoute(to route: KeyRoute) {
        handle(.routeChanged(route))
    }

    /// Sets whether there is a network to ask for keys.
    public func setNetwork(isThere: Bool) {
        handle(isThere ? .networkFound : .networkLost)
    }

    /// Begins a read with a key that the session has. The caller must end the read by ``endRead(_:)``.
    ///
    /// - Throws: `KeyFailure` if the session does not have the key, or the key may not be used.
    public func beginRead(with identifier: String) throws(KeyFailure) -> KeyLease {
        restore([identifier])
        let read = nextNumber()
        var permission: (KeyKind, Duration?, KeyFailure)?
        var reason = KeyFailure.missing
        for action in handle(.readBegan(read: read, identifier: identifier)) {
            switch action {
            case .permit(read, let kind, let end, let failure): permission = (kind, end, failure)
            case .endRead(read, let failure): reason = failure
            default: break
            }
        }
        // Without a stored first use, a later session could use the key from the start again: it is not used.
        if permission?.0 == .persistable, !isStartStored(identifier) {
            permission = nil
            reason = .notStored
        }
        guard let (kind, end, failure) = permission, let key = keys[Slot(identifier: identifier, kind: kind)] else {
            handle(.readEnded(read: read))
            throw reason
        }
        let lease = KeyLease(
            key: key, read: read, identifier: identifier, clock: clock, until: end, then: failure)
        leases[read] = lease
        return lease
    }

    /// Ends a read.
    public func endRead(_ lease: KeyLease) {
        lease.end(.abandoned)
        leases[lease.read] = nil
        handle(.readEnded(read: lease.read))
    }

    /// Erases all keys from memory and refuses waiting readers. Stored keys stay.
    public func close() {
        handle(.close)
        timer?.task.cancel()
        timer = nil
        keys = [:]
    }
}

public import RandomAccess

/// Keys that arrive when they can: on demand or ahead of time, in batches, again for another route, dispersed before they
/// are needed, stored for later.
///
/// All decisions are made by a `KeyMachine`; the session carries them out, holds the keys, and waits. One identifier is
/// never asked for twice at a time.
public actor KeySession {
    /// What a session tells while readers wait: why a key is late.
    public typealias Reporter = @Sendable (_ identifier: String, _ failure: KeyFailure) -> Void

    /// The max number of notices that are kept.
    public static let maxNotices = 1000

    /// What a key that is kept is of.
    struct Slot: Hashable {
        let identifier: String
        let kind: KeyKind
    }

    /// A reader that waits, and what it has so far.
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
    /// What could not be stored, and what is therefore not erased.
    var unsaved: [String: StoredKey] = [:]
    /// Stored keys whose first use is stored as well.
    var startedInStorage: Set<String> = []
    /// Identifiers of which others' keys are stored, or what does not open: nothing of it is written over.
    var unusable: Set<String> = []
    var lastNumber = 0

    /// What no reader waited for, oldest first, at most ``maxNotices``.
    public internal(set) var notices: [KeyNotice] = []

    /// Creates a session that knows no key.
    ///
    /// - Parameters:
    ///   - exchange: Where keys come from.
    ///   - policy: How they are asked for.
    ///   - device: The identity that stored keys are bound to.
    ///   - seed: What all jitter follows from; each client must have its own.
    ///   - clock: The time.
    ///   - storage: Where keys are stored, if they are.
    ///   - route: Where plaintext goes first.
    ///   - reporter: Is told at once when a key is late.
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

    /// A key, asked for if it is not there.
    ///
    /// - Throws: `KeyFailure`, also if the task is cancelled.
    public func key(for identifier: String) async throws(KeyFailure) -> SecretKey {
        guard let result = await keys(for: [identifier])[identifier] else { throw .missing }
        return try result.get()
    }

    /// Several keys, in one exchange where that is possible.
    ///
    /// - Returns: Each key, or why there is none.
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

    /// Asks for a key at some time before it appears in a live playlist.
    public func prepareRotation(to identifier: String, appearsIn time: Duration) {
        handle(.rotation(identifier: identifier, appearsIn: time))
    }

    /// Erases keys from memory that are no longer needed.
    public func retire(_ identifiers: [String]) {
        handle(.retire(identifiers))
    }

    /// Says where plaintext goes from now on.
    public func changeRoute(to route: KeyRoute) {
        handle(.routeChanged(route))
    }

    /// Says whether anything can be asked for.
    public func setNetwork(isThere: Bool) {
        handle(isThere ? .networkFound : .networkLost)
    }

    /// Begins a read with a key that is there. The read must end by ``endRead(_:)``.
    ///
    /// - Throws: `KeyFailure` if the key is not there, or may not be used.
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
        // A key that could be used again from the start, after all that is here is gone, is not used at all.
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

    /// Erases all keys from memory and refuses waiting readers; what is stored stays.
    public func close() {
        handle(.close)
        timer?.task.cancel()
        timer = nil
        keys = [:]
    }
}

extension KeyMachine {
    /// Begins a read. The first use of a stored key starts its playback time. The session pays for use ahead, so a
    /// session that ends without being closed has used the time that it paid for.
    mutating func begin(_ read: Int, _ identifier: String, _ now: ClockSample) {
        guard let kind = usableKind(of: identifier, now) else {
            let failure =
                entries[identifier]?.stored.flatMap { self.failure(of: $0, now) } ?? entries[identifier]?.spent
            actions.append(.endRead(read: read, failure ?? .missing))
            return
        }
        uses[read] = KeyUse(identifier: identifier, kind: kind)
        if kind == .persistable { payAhead(identifier, now) }
        actions.append(permission(read, identifier, kind))
    }

    private func permission(_ read: Int, _ identifier: String, _ kind: KeyKind) -> KeyAction {
        let entry = entries[identifier]
        switch kind {
        case .online: return .permit(read: read, kind, until: entry?.online?.expiry, then: .validityExpired)
        case .persistable:
            let end = entry?.stored.flatMap { watch.monotonic(atWall: $0.expiry) }
            return .permit(read: read, kind, until: end, then: .playbackExpired)
        }
    }

    /// Ends a read.
    mutating func end(_ read: Int) { uses[read] = nil }

    /// Pays for a stored key's use up to a time a little ahead, and stores that time. Does nothing while the paid time
    /// is still in the future. As a result, no key lasts longer if the clock is set back, now or between two sessions.
    mutating func payAhead(_ identifier: String, _ now: ClockSample) {
        guard var stored = entries[identifier]?.stored else { return }
        let wall = watch.trusted(at: now)
        guard stored.firstUse == nil || stored.lastSeen <= wall else { return }
        stored.firstUse = stored.firstUse ?? wall
        stored.lastSeen = wall + max(policy.clockTolerance / Self.paymentsInTolerance, .seconds(1))
        stored.generation += 1
        replace(stored)
    }

    /// Replaces the time that was paid for by the time that was used, and stores it.
    mutating func settle(_ identifier: String, _ now: ClockSample) {
        guard var stored = entries[identifier]?.stored, stored.lastSeen > watch.trusted(at: now) else { return }
        stored.lastSeen = watch.trusted(at: now)
        stored.generation += 1
        replace(stored)
    }

    /// The number of payments in the clock tolerance. It is small, so that not every read stores something. It is large
    /// enough that a session may end without being closed several times before the clock seems to have been set back.
    private static let paymentsInTolerance = 10

    /// Returns whether a read uses a stored key.
    func usesStored(_ identifier: String) -> Bool {
        uses.values.contains { $0.identifier == identifier && $0.kind == .persistable }
    }

    /// Ends the reads that use a key, in the order of their numbers.
    mutating func endReads(of identifier: String, _ kind: KeyKind, _ failure: KeyFailure) {
        for read in uses.keys.sorted() {
            guard let use = uses[read], use.identifier == identifier, use.kind == kind else { continue }
            uses[read] = nil
            actions.append(.endRead(read: read, failure))
        }
    }
}

extension KeyMachine {
    /// Stores a key, then erases its earlier records. In this order nothing is lost if the process ends in between.
    mutating func replace(_ stored: StoredKey) {
        update(stored.identifier) { $0.stored = stored }
        actions.append(.store(stored))
        if stored.generation > 1 {
            actions.append(.erase(identifier: stored.identifier, generation: stored.generation - 1))
        }
    }

    /// Takes in a stored key. It counts if it belongs to this device, is the latest, and can be used.
    mutating func find(_ found: StoredKey, _ now: ClockSample) {
        var failure: KeyFailure?
        if found.device != device {
            failure = .otherDevice
        } else if let known = entries[found.identifier]?.stored, known.generation >= found.generation {
            // An update that was interrupted left this record behind.
            if known.generation > found.generation {
                actions.append(.erase(identifier: found.identifier, generation: found.generation))
            }
            return
        } else {
            let behind = found.lastSeen - watch.trusted(at: now)
            if behind > policy.clockTolerance {
                failure = .clockSetBack(by: behind)
            } else {
                watch.observe(stored: found.lastSeen, at: now)
                if watch.trusted(at: now) >= found.expiry {
                    failure = found.expiryFailure
                    actions.append(.erase(identifier: found.identifier, generation: found.generation))
                }
            }
        }
        if let failure {
            actions.append(.notice(.storedUnusable(identifier: found.identifier, failure)))
            return update(found.identifier) { $0.spent = failure }
        }
        let older = entries[found.identifier]?.stored?.generation
        let isAccepted = route.acceptsPersistable
        update(found.identifier) { entry in
            entry.stored = found
            entry.spent = nil
            if isAccepted, entry.dueTime != nil { entry.phase = .idle }
        }
        actions.append(.adopt(found))
        if let older { actions.append(.erase(identifier: found.identifier, generation: older)) }
        guard isAccepted else { return }
        release(found.identifier) { .deliver(reader: $0, identifier: found.identifier, .persistable) }
    }

    /// Takes in a stored key that cannot be used. Without a network, readers get this failure as the reason.
    mutating func findUnusable(_ identifier: String, _ failure: KeyFailure) {
        actions.append(.notice(.storedUnusable(identifier: identifier, failure)))
        update(identifier) { if $0.stored == nil { $0.spent = failure } }
    }

    /// Returns the kind of key that can be used now. A stored key comes first, since it costs nothing.
    func usableKind(of identifier: String, _ now: ClockSample) -> KeyKind? {
        guard let entry = entries[identifier] else { return nil }
        if let stored = entry.stored, failure(of: stored, now) == nil { return .persistable }
        guard let online = entry.online else { return nil }
        return online.expiry.map { $0 > now.monotonic } ?? true ? .online : nil
    }

    /// Returns the reason why a stored key cannot be used now; `nil` if it can.
    func failure(of stored: StoredKey, _ now: ClockSample) -> KeyFailure? {
        guard route.acceptsPersistable else { return .persistableNotAccepted(route: route.name) }
        let behind = watch.setBack(at: now)
        if behind > policy.clockTolerance { return .clockSetBack(by: behind) }
        return watch.trusted(at: now) >= stored.expiry ? stored.expiryFailure : nil
    }

    /// Returns the reason why asking for a key is pointless now; `nil` if it may help.
    func finalFailure(of identifier: String, _ now: ClockSample) -> KeyFailure? {
        if let refusal = standingRefusal(of: identifier, now) { return refusal }
        guard !isOnline, let entry = entries[identifier] else { return nil }
        return entry.stored.flatMap { failure(of: $0, now) } ?? entry.spent
    }

    /// Returns a refusal that is still final.
    func standingRefusal(of identifier: String, _ now: ClockSample) -> KeyFailure? {
        entries[identifier]?.refusal.flatMap { $0.until > now.monotonic ? $0.failure : nil }
    }
}

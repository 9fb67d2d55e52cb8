extension KeyMachine {
    /// Plaintext is about to be delivered. The first use of a stored key starts its second clock, and each is paid for
    /// ahead: what ends without being closed has used that time.
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

    /// Plaintext was delivered.
    mutating func end(_ read: Int) { uses[read] = nil }

    /// Stores the time until which a stored key's use is paid for, unless it is still to come. Setting the clock back,
    /// now or between two sessions, then makes no key last longer.
    mutating func payAhead(_ identifier: String, _ now: ClockSample) {
        guard var stored = entries[identifier]?.stored else { return }
        let wall = watch.trusted(at: now)
        guard stored.firstUse == nil || stored.lastSeen <= wall else { return }
        stored.firstUse = stored.firstUse ?? wall
        stored.lastSeen = wall + max(policy.clockTolerance / Self.paymentsInTolerance, .seconds(1))
        stored.generation += 1
        replace(stored)
    }

    /// Stores what was used in place of what was paid for.
    mutating func settle(_ identifier: String, _ now: ClockSample) {
        guard var stored = entries[identifier]?.stored, stored.lastSeen > watch.trusted(at: now) else { return }
        stored.lastSeen = watch.trusted(at: now)
        stored.generation += 1
        replace(stored)
    }

    /// Few enough that not each read stores something, and so many that a session may end some times without being
    /// closed before the clock seems to have been set back.
    private static let paymentsInTolerance = 10

    /// Whether a read uses a stored key.
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
    /// Stores a key, and erases what was stored of it before, in this order: nothing is lost in between.
    mutating func replace(_ stored: StoredKey) {
        update(stored.identifier) { $0.stored = stored }
        actions.append(.store(stored))
        if stored.generation > 1 {
            actions.append(.erase(identifier: stored.identifier, generation: stored.generation - 1))
        }
    }

    /// A stored key was found: it counts if it is this device's, the latest, and can be used.
    mutating func find(_ found: StoredKey, _ now: ClockSample) {
        var failure: KeyFailure?
        if found.device != device {
            failure = .otherDevice
        } else if let known = entries[found.identifier]?.stored, known.generation >= found.generation {
            // What an update left behind, because something ended in between.
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

    /// Something stored was found that cannot be used: without a network, that is why there is no key.
    mutating func findUnusable(_ identifier: String, _ failure: KeyFailure) {
        actions.append(.notice(.storedUnusable(identifier: identifier, failure)))
        update(identifier) { if $0.stored == nil { $0.spent = failure } }
    }

    /// Which key can be used now: a stored one first, since it costs nothing.
    func usableKind(of identifier: String, _ now: ClockSample) -> KeyKind? {
        guard let entry = entries[identifier] else { return nil }
        if let stored = entry.stored, failure(of: stored, now) == nil { return .persistable }
        guard let online = entry.online else { return nil }
        return online.expiry.map { $0 > now.monotonic } ?? true ? .online : nil
    }

    /// Why a stored key cannot be used now.
    func failure(of stored: StoredKey, _ now: ClockSample) -> KeyFailure? {
        guard route.acceptsPersistable else { return .persistableNotAccepted(route: route.name) }
        let behind = watch.setBack(at: now)
        if behind > policy.clockTolerance { return .clockSetBack(by: behind) }
        return watch.trusted(at: now) >= stored.expiry ? stored.expiryFailure : nil
    }

    /// Why asking for a key leads nowhere now.
    func finalFailure(of identifier: String, _ now: ClockSample) -> KeyFailure? {
        if let refusal = standingRefusal(of: identifier, now) { return refusal }
        guard !isOnline, let entry = entries[identifier] else { return nil }
        return entry.stored.flatMap { failure(of: $0, now) } ?? entry.spent
    }

    /// A refusal that is still final.
    func standingRefusal(of identifier: String, _ now: ClockSample) -> KeyFailure? {
        entries[identifier]?.refusal.flatMap { $0.until > now.monotonic ? $0.failure : nil }
    }
}

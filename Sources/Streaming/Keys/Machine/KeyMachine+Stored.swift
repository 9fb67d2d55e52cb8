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
            let wall = watch.trusted(at: now)
            let isBehind = found.lastSeen - wall > policy.clockTolerance
            if isBehind {
                failure = .clockSetBack(by: found.lastSeen - wall)
            } else if wall >= found.expiry {
                failure = found.expiryFailure
                actions.append(.erase(identifier: found.identifier, generation: found.generation))
            }
        }
        if let failure {
            actions.append(.notice(.storedUnusable(identifier: found.identifier, failure)))
            return update(found.identifier) { $0.spent = failure }
        }
        let older = entries[found.identifier]?.stored?.generation
        let isAccepted = route.acceptsPersistable
        let waiting = update(found.identifier) { entry in
            entry.stored = found
            entry.spent = nil
            guard isAccepted else { return [KeyEntry.Waiting]() }
            if entry.dueTime != nil { entry.phase = .idle }
            defer { entry.waiting = [] }
            return entry.waiting
        }
        actions.append(.adopt(found))
        if let older { actions.append(.erase(identifier: found.identifier, generation: older)) }
        for reader in waiting {
            actions.append(.deliver(reader: reader.reader, identifier: found.identifier, .persistable))
        }
    }

    /// Something stored was found that is of no use to anybody: without a network, that is why there is no key.
    mutating func findUnusable(_ identifier: String, _ failure: KeyFailure) {
        actions.append(.notice(.storedUnusable(identifier: identifier, failure)))
        update(identifier) { if $0.stored == nil { $0.spent = failure } }
    }

    /// Which key can be used now: a stored one first, since it costs nobody anything.
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

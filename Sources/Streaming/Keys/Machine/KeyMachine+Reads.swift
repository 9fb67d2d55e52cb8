extension KeyMachine {
    /// Plaintext is about to be delivered. The first use of a stored key starts its second clock.
    mutating func begin(_ read: Int, _ identifier: String, _ now: ClockSample) {
        guard let kind = usableKind(of: identifier, now) else {
            let failure =
                entries[identifier]?.stored.flatMap { self.failure(of: $0, now) } ?? entries[identifier]?.spent
            actions.append(.endRead(read: read, failure ?? .missing))
            return
        }
        uses[read] = KeyUse(identifier: identifier, kind: kind)
        if kind == .persistable, var stored = entries[identifier]?.stored, stored.firstUse == nil {
            let wall = watch.trusted(at: now)
            stored.firstUse = wall
            stored.lastSeen = wall
            stored.generation += 1
            replace(stored)
        }
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

    /// Plaintext was delivered. What the clock shows is stored from time to time, so that setting it back is noticed
    /// later as well.
    mutating func end(_ read: Int, _ now: ClockSample) {
        guard let use = uses.removeValue(forKey: read), use.kind == .persistable,
            var stored = entries[use.identifier]?.stored
        else { return }
        let wall = watch.trusted(at: now)
        guard wall - stored.lastSeen > policy.clockTolerance else { return }
        stored.lastSeen = wall
        stored.generation += 1
        replace(stored)
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

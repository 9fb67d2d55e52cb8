extension KeyMachine {
    /// When ``handle(_:at:)`` must be called again at the latest, by the clock that nobody can set.
    package var nextDeadline: Duration? {
        guard !isClosed else { return nil }
        var times = flights.values.map(\.deadline)
        for entry in entries.values {
            if isOnline, let due = entry.dueTime { times.append(due) }
            times += entry.waiting.map { $0.since + policy.idleTimeout }
            if let expiry = entry.online?.expiry { times.append(expiry) }
            if let stored = entry.stored, let expiry = watch.monotonic(atWall: stored.expiry) { times.append(expiry) }
        }
        return times.min()
    }

    /// Does what fell due: answers that did not come, readers that waited for too long, keys that expired.
    mutating func passTime(_ now: ClockSample) {
        for exchange in flights.keys.sorted() {
            guard let flight = flights[exchange], flight.deadline <= now.monotonic else { continue }
            flights[exchange] = nil
            actions.append(.cancel(exchange: exchange))
            for identifier in flight.identifiers { fail(identifier, .timedOut(after: policy.deadline), now) }
        }
        for identifier in identifiers {
            tellImpatient(identifier, now)
            expireOnline(identifier, now)
            expireStored(identifier, now)
        }
    }

    /// Says once that the clock on the wall was set back, and again after it had been right.
    mutating func noticeClock(_ now: ClockSample) {
        let behind = watch.setBack(at: now)
        let isBehind = behind > policy.clockTolerance
        if isBehind, !hasNoticedClock { actions.append(.notice(.clockSetBack(by: behind))) }
        hasNoticedClock = isBehind
    }

    private mutating func tellImpatient(_ identifier: String, _ now: ClockSample) {
        guard let waiting = entries[identifier]?.waiting, !waiting.isEmpty else { return }
        let idleTimeout = policy.idleTimeout
        for reader in waiting where reader.since + idleTimeout <= now.monotonic {
            actions.append(.refuse(reader: reader.reader, identifier: identifier, .waitedTooLong(idleTimeout)))
        }
        update(identifier) { $0.waiting.removeAll { $0.since + idleTimeout <= now.monotonic } }
    }

    private mutating func expireOnline(_ identifier: String, _ now: ClockSample) {
        guard let expiry = entries[identifier]?.online?.expiry, expiry <= now.monotonic else { return }
        update(identifier) { $0.online = nil }
        endReads(of: identifier, .online, .validityExpired)
        actions.append(.forget(identifier: identifier, .online))
    }

    private mutating func expireStored(_ identifier: String, _ now: ClockSample) {
        guard let stored = entries[identifier]?.stored else { return }
        if watch.trusted(at: now) >= stored.expiry {
            update(identifier) {
                $0.stored = nil
                $0.spent = stored.expiryFailure
            }
            endReads(of: identifier, .persistable, stored.expiryFailure)
            actions.append(.forget(identifier: identifier, .persistable))
            actions.append(.erase(identifier: identifier, generation: stored.generation))
        } else if let failure = self.failure(of: stored, now) {
            endReads(of: identifier, .persistable, failure)
        }
    }
}

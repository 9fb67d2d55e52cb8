extension KeyMachine {
    /// Changes the route. The session erases online keys, and asks again for all keys that are in use or already asked
    /// for.
    mutating func change(to route: KeyRoute, _ now: ClockSample) {
        guard route != self.route else { return }
        let asked = cancelFlights()
        self.route = route
        for identifier in identifiers {
            guard let entry = entries[identifier] else { continue }
            var isNeeded = asked.contains(identifier) || !entry.waiting.isEmpty
            if entry.online != nil {
                isNeeded = true
                actions.append(.forget(identifier: identifier, .online))
                endReads(of: identifier, .online, .routeChanged)
            }
            if entry.stored != nil, !route.acceptsPersistable, usesStored(identifier) {
                isNeeded = true
                endReads(of: identifier, .persistable, .routeChanged)
            }
            update(identifier) {
                $0.online = nil
                $0.startOver()
            }
            if let kind = usableKind(of: identifier, now) {
                update(identifier) { $0.phase = .idle }
                release(identifier) { .deliver(reader: $0, identifier: identifier, kind) }
            } else if isNeeded {
                update(identifier) { $0.phase = .due(now.monotonic) }
            }
        }
    }

    /// Handles the loss of the network. Waiting readers hear of it at once.
    mutating func loseNetwork(_ now: ClockSample) {
        guard isOnline else { return }
        isOnline = false
        for identifier in cancelFlights() {
            update(identifier) {
                $0.phase = .due(now.monotonic)
                $0.attempts = max(0, $0.attempts - 1)
            }
        }
        for identifier in identifiers {
            guard let waiting = entries[identifier]?.waiting, !waiting.isEmpty else { continue }
            // A stored key that cannot be used has a reason of its own, and waiting does not change it.
            guard let ending = finalFailure(of: identifier, now) else {
                actions += waiting.map { .report(reader: $0.reader, identifier: identifier, .networkLost) }
                continue
            }
            release(identifier) { .refuse(reader: $0, identifier: identifier, ending) }
            update(identifier) {
                $0.phase = .idle
                $0.attempts = 0
            }
        }
    }

    /// Handles the return of the network. The session asks at once for keys that readers wait for, and for the others
    /// when they are due.
    mutating func findNetwork(_ now: ClockSample) {
        guard !isOnline else { return }
        isOnline = true
        for identifier in identifiers {
            update(identifier) {
                $0.startOver()
                if !$0.waiting.isEmpty { $0.phase = .due(now.monotonic) }
            }
        }
    }

    /// Closes the session, and erases all keys from memory.
    mutating func close(_ now: ClockSample) {
        _ = cancelFlights()
        for identifier in identifiers {
            guard let entry = entries[identifier] else { continue }
            release(identifier) { .refuse(reader: $0, identifier: identifier, .closed) }
            endReads(of: identifier, .online, .closed)
            endReads(of: identifier, .persistable, .closed)
            if entry.online != nil { actions.append(.forget(identifier: identifier, .online)) }
            settle(identifier, now)
            if entry.stored != nil { actions.append(.forget(identifier: identifier, .persistable)) }
        }
        entries = [:]
        isClosed = true
    }

    /// Refuses an event after the session was closed.
    mutating func refuseAfterClose(_ event: KeyEvent) {
        switch event {
        case .want(let reader, let identifiers):
            for identifier in identifiers {
                actions.append(.refuse(reader: reader, identifier: identifier, .closed))
            }
        case .readBegan(let read, _): actions.append(.endRead(read: read, .closed))
        case .answered(let exchange, _), .exchangeFailed(let exchange, _):
            actions.append(.notice(.unexpectedAnswer(exchange: exchange)))
        default: break
        }
    }

    /// Cancels all exchanges.
    ///
    /// - Returns: The identifiers that they asked for, in order.
    private mutating func cancelFlights() -> [String] {
        var asked: [String] = []
        for exchange in flights.keys.sorted() {
            asked += flights[exchange]?.identifiers ?? []
            actions.append(.cancel(exchange: exchange))
        }
        flights = [:]
        return asked.sorted()
    }
}

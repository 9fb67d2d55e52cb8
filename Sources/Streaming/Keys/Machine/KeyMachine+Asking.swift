extension KeyMachine {
    /// A reader needs keys now: each is delivered, refused, or asked for.
    mutating func want(_ reader: Int, _ identifiers: [String], _ now: ClockSample) {
        let soon = now.monotonic + policy.gatherTime
        let isOnline = isOnline
        for identifier in Self.once(identifiers) {
            if let kind = usableKind(of: identifier, now) {
                actions.append(.deliver(reader: reader, identifier: identifier, kind))
                continue
            }
            if let failure = finalFailure(of: identifier, now) {
                actions.append(.refuse(reader: reader, identifier: identifier, failure))
                continue
            }
            let delay = update(identifier) { entry -> KeyFailure? in
                guard !entry.waiting.contains(where: { $0.reader == reader }) else { return nil }
                entry.waiting.append(.init(reader: reader, since: now.monotonic))
                if entry.exchange == nil, entry.attempts == 0 {
                    entry.phase = .due(min(entry.dueTime ?? soon, soon))
                }
                return isOnline ? entry.dueTime.flatMap { _ in entry.lastFailure } : .networkLost
            }
            if let delay { actions.append(.report(reader: reader, identifier: identifier, delay)) }
        }
    }

    /// A reader waits no longer. What is asked for on its behalf comes for the next one.
    mutating func abandon(_ reader: Int) {
        for identifier in identifiers {
            update(identifier) { $0.waiting.removeAll { $0.reader == reader } }
        }
    }

    /// Keys are asked for before a reader needs them.
    mutating func ask(ahead identifiers: [String], persistable: Bool, _ now: ClockSample) {
        let soon = now.monotonic + policy.gatherTime
        for identifier in Self.once(identifiers) {
            if persistable {
                guard route.acceptsPersistable else {
                    actions.append(
                        .notice(.notPreloaded(identifier: identifier, .persistableNotAccepted(route: route.name))))
                    continue
                }
                guard entries[identifier]?.stored == nil else { continue }
                update(identifier) { $0.wantsPersistable = true }
            } else {
                guard usableKind(of: identifier, now) == nil else { continue }
            }
            if let refusal = standingRefusal(of: identifier, now) {
                actions.append(.notice(.notPreloaded(identifier: identifier, refusal)))
                continue
            }
            update(identifier) { entry in
                guard entry.exchange == nil, entry.attempts == 0 else { return }
                entry.phase = .due(min(entry.dueTime ?? soon, soon))
            }
        }
    }

    /// A key will appear in a live playlist: it is asked for at some time before.
    mutating func rotate(_ identifier: String, _ appearsIn: Duration, _ now: ClockSample) {
        guard usableKind(of: identifier, now) == nil, entries[identifier]?.phase ?? .idle == .idle else { return }
        let left = min(max(appearsIn, .zero), Self.longestTerm)
        let delay = KeyDispersal(appearsIn: left, policy: policy).nanoseconds(bits: random.next())
        update(identifier) { $0.phase = .due(now.monotonic + .nanoseconds(Int64(clamping: delay))) }
    }

    /// Keys are erased from memory, unless somebody uses them or waits for them.
    mutating func retire(_ identifiers: [String]) {
        for identifier in Self.once(identifiers) {
            guard let entry = entries[identifier], entry.waiting.isEmpty, entry.exchange == nil,
                !uses.values.contains(where: { $0.identifier == identifier })
            else { continue }
            if entry.online != nil { actions.append(.forget(identifier: identifier, .online)) }
            if entry.stored == nil {
                entries[identifier] = nil
            } else {
                update(identifier) {
                    $0.online = nil
                    $0.phase = .idle
                    $0.startOver()
                }
            }
        }
    }

    /// Sends what is due, as few exchanges as may be.
    mutating func flush(_ now: Duration) {
        guard isOnline else { return }
        guard entries.values.contains(where: { $0.dueTime.map { $0 <= now } ?? false }) else { return }
        // What is held for others goes with the first of them.
        let due = identifiers.filter { identifier in
            guard let entry = entries[identifier], let time = entry.dueTime else { return false }
            return time <= (entry.attempts == 0 ? now + policy.gatherTime : now)
        }
        for wantsPersistable in [false, true] {
            var rest = due.filter {
                (route.acceptsPersistable && entries[$0]?.wantsPersistable == true) == wantsPersistable
            }[...]
            while !rest.isEmpty {
                send(Array(rest.prefix(policy.maxBatchCount)), wantsPersistable, now)
                rest = rest.dropFirst(policy.maxBatchCount)
            }
        }
    }

    private mutating func send(_ identifiers: [String], _ wantsPersistable: Bool, _ now: Duration) {
        lastExchange += 1
        let exchange = lastExchange
        flights[exchange] = InFlightRequest(identifiers: identifiers, deadline: now + policy.deadline)
        for identifier in identifiers {
            update(identifier) {
                $0.phase = .inFlight(exchange)
                $0.attempts += 1
            }
        }
        actions.append(
            .ask(
                KeyQuery(
                    exchange: exchange, identifiers: identifiers, route: route, wantsPersistable: wantsPersistable)))
    }

    private static func once(_ identifiers: [String]) -> [String] {
        var seen: Set<String> = []
        return identifiers.filter { seen.insert($0).inserted }
    }
}

extension KeyMachine {
    /// Delivers, refuses, or asks for each key that a reader needs now.
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

    /// Ends a reader's wait. The request that was sent for it still serves the next reader.
    mutating func abandon(_ reader: Int) {
        for identifier in identifiers {
            update(identifier) { $0.waiting.removeAll { $0.reader == reader } }
        }
    }

    /// Asks for keys before a reader needs them.
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

    /// Asks for a key at a random time before it appears in a live playlist.
    mutating func rotate(_ identifier: String, _ appearsIn: Duration, _ now: ClockSample) {
        guard usableKind(of: identifier, now) == nil, entries[identifier]?.phase ?? .idle == .idle else { return }
        let left = min(max(appearsIn, .zero), Self.longestTerm)
        let delay = KeyDispersal(appearsIn: left, policy: policy).nanoseconds(bits: random.next())
        update(identifier) { $0.phase = .due(now.monotonic + .nanoseconds(Int64(clamping: delay))) }
    }

    /// Erases keys from memory, unless they are in use, waited for, or asked for.
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

    /// Sends all requests that are due, in as few exchanges as possible.
    mutating func flush(_ now: Duration) {
        guard isOnline else { return }
        guard entries.values.contains(where: { $0.dueTime.map { $0 <= now } ?? false }) else { return }
        // Requests that are held for others go with the first of them.
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

extension KeyMachine {
    /// Takes in the provider's answers of an exchange.
    mutating func take(_ answers: [KeyAnswer], of exchange: Int, _ now: ClockSample) {
        guard let flight = flights.removeValue(forKey: exchange) else {
            actions.append(.notice(.unexpectedAnswer(exchange: exchange)))
            return
        }
        var open = flight.identifiers
        var hasForeign = false
        for answer in answers {
            guard let index = open.firstIndex(of: answer.identifier) else {
                hasForeign = hasForeign || !flight.identifiers.contains(answer.identifier)
                actions.append(.notice(.unaskedKey(exchange: exchange, identifier: answer.identifier)))
                continue
            }
            open.remove(at: index)
            switch answer.outcome {
            case .key(let terms, let byteCount): take(terms, byteCount, answer.identifier, exchange, now)
            case .failure(let failure): fail(answer.identifier, failure, now)
            }
        }
        for identifier in open { fail(identifier, hasForeign ? .otherIdentifier : .missing, now) }
    }

    private mutating func take(
        _ terms: KeyTerms, _ byteCount: Int, _ identifier: String, _ exchange: Int, _ now: ClockSample
    ) {
        // Source: RFC 8216, section 5: the key of AES-128 is 16 octets.
        guard byteCount == 16 else { return fail(identifier, .wrongLength(byteCount: byteCount), now) }
        switch terms {
        case .online(let validity):
            let expiry = validity.map { now.monotonic + Self.term($0) }
            update(identifier) { $0.online = KeyEntry.OnlineKey(expiry: expiry) }
            actions.append(.keep(exchange: exchange, identifier: identifier, .online))
        case .persistable(let storage, let playback):
            guard route.acceptsPersistable else {
                return fail(identifier, .persistableNotAccepted(route: route.name), now)
            }
            let wall = watch.trusted(at: now)
            let stored = StoredKey(
                identifier: identifier, device: device, generation: (entries[identifier]?.stored?.generation ?? 0) + 1,
                storage: Self.term(storage), playback: Self.term(playback), receivedAt: wall, lastSeen: wall)
            actions.append(.keep(exchange: exchange, identifier: identifier, .persistable))
            replace(stored)
        }
        update(identifier) { entry in
            entry.phase = .idle
            entry.wantsPersistable = false
            entry.spent = nil
            entry.startOver()
        }
        release(identifier) { .deliver(reader: $0, identifier: identifier, terms.kind) }
    }

    /// Handles the failure of a whole exchange.
    mutating func fail(exchange: Int, _ failure: KeyFailure, _ now: ClockSample) {
        guard let flight = flights.removeValue(forKey: exchange) else {
            actions.append(.notice(.unexpectedAnswer(exchange: exchange)))
            return
        }
        for identifier in flight.identifiers { fail(identifier, failure, now) }
    }

    /// Handles a missing key. Readers hear of it at once, and the session asks again if that may help.
    mutating func fail(_ identifier: String, _ failure: KeyFailure, _ now: ClockSample) {
        let attempts = entries[identifier]?.attempts ?? 0
        if failure.isPassing, attempts < policy.attempts {
            let pause = KeyTiming.pause(
                attempt: attempts, retryAfter: failure.retryAfter.map(Self.term), policy: policy, bits: random.next())
            let waiting = update(identifier) {
                $0.phase = .due(now.monotonic + pause)
                $0.lastFailure = failure
                return $0.waiting
            }
            for reader in waiting {
                actions.append(.report(reader: reader.reader, identifier: identifier, failure))
            }
            return
        }
        let ending = failure.isPassing ? KeyFailure.gaveUp(attempts: attempts, last: failure) : failure
        let until = now.monotonic + policy.refusalMemory
        update(identifier) { entry in
            entry.phase = .idle
            entry.wantsPersistable = false
            entry.startOver()
            entry.refusal = (ending, until)
        }
        let hadReaders = release(identifier) { .refuse(reader: $0, identifier: identifier, ending) }
        if !hadReaders { actions.append(.notice(.notPreloaded(identifier: identifier, ending))) }
    }

    /// Clamps a term, so that times computed with it do not overflow.
    static func term(_ term: Duration) -> Duration { min(max(term, .zero), longestTerm) }
}

extension KeyMachine {
    /// The provider answered an exchange.
    mutating func take(_ answers: [KeyAnswer], of exchange: Int, _ now: ClockSample) {
        guard let flight = flights.removeValue(forKey: exchange) else {
            actions.append(.notice(.unexpectedAnswer(exchange: exchange)))
            return
        }
        var open = flight.identifiers
        var hasForeign = false
        for answer in answers {
            guard let place = open.firstIndex(of: answer.identifier) else {
                hasForeign = hasForeign || !flight.identifiers.contains(answer.identifier)
                actions.append(.notice(.unaskedKey(exchange: exchange, identifier: answer.identifier)))
                continue
            }
            open.remove(at: place)
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
        let waiting = update(identifier) { entry in
            entry.phase = .idle
            entry.wantsPersistable = false
            entry.spent = nil
            entry.startOver()
            defer { entry.waiting = [] }
            return entry.waiting
        }
        for reader in waiting {
            actions.append(.deliver(reader: reader.reader, identifier: identifier, terms.kind))
        }
    }

    /// A whole exchange failed.
    mutating func fail(exchange: Int, _ failure: KeyFailure, _ now: ClockSample) {
        guard let flight = flights.removeValue(forKey: exchange) else {
            actions.append(.notice(.unexpectedAnswer(exchange: exchange)))
            return
        }
        for identifier in flight.identifiers { fail(identifier, failure, now) }
    }

    /// A key did not come: readers hear of it at once, and it is asked for again if that may help.
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
        let waiting = update(identifier) { entry in
            entry.phase = .idle
            entry.wantsPersistable = false
            entry.startOver()
            entry.refusal = (ending, until)
            defer { entry.waiting = [] }
            return entry.waiting
        }
        for reader in waiting {
            actions.append(.refuse(reader: reader.reader, identifier: identifier, ending))
        }
        if waiting.isEmpty { actions.append(.notice(.notPreloaded(identifier: identifier, ending))) }
    }

    /// A term that times can be computed with.
    static func term(_ term: Duration) -> Duration { min(max(term, .zero), longestTerm) }
}

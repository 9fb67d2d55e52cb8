import RandomAccess

extension KeySession {
    /// Passes an event to the machine, and carries out the actions that follow.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - brought: The keys that came with the event, by their identifiers.
    /// - Returns: The actions that were carried out.
    @discardableResult
    func handle(_ event: KeyEvent, bringing brought: [String: SecretKey] = [:]) -> [KeyAction] {
        let actions = machine.handle(event, at: clock.now())
        for action in actions { carryOut(action, brought) }
        setTimer()
        return actions
    }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Ends a reader's wait; its missing keys fail with `.abandoned`.
    func abandon(_ reader: Int) {
        guard pending[reader] != nil else { return }
        handle(.abandon(reader: reader))
        for identifier in pending[reader]?.rest ?? [] {
            pending[reader]?.results[identifier] = .failure(.abandoned)
        }
        pending[reader]?.rest = []
        finish(reader)
    }

    /// Resumes a reader that has a result for each of its keys.
    func finish(_ reader: Int) {
        guard let waiting = pending[reader], waiting.rest.isEmpty else { return }
        pending[reader] = nil
        waiting.continuation?.resume(returning: waiting.results)
    }

    /// Looks for stored keys, once for each identifier.
    func restore(_ identifiers: [String]) {
        guard let storage else { return }
        for identifier in identifiers where lookedFor.insert(identifier).inserted {
            do throws(DecryptionError) {
                for found in try storage.find(identifier) {
                    switch found {
                    case .success(let (stored, key)):
                        if stored.device != machine.device {
                            unusable.insert(identifier)
                        } else if stored.firstUse != nil {
                            startedInStorage.insert(identifier)
                        }
                        handle(.found(stored), bringing: [identifier: key])
                    case .failure(let failure):
                        unusable.insert(identifier)
                        handle(.foundUnusable(identifier: identifier, failure))
                    }
                }
            } catch {
                note(.storageFailed(identifier: identifier, reason: error.description))
            }
        }
    }

    private func carryOut(_ action: KeyAction, _ brought: [String: SecretKey]) {
        switch action {
        case .ask(let query): ask(query)
        case .cancel(let exchange): tasks.removeValue(forKey: exchange)?.cancel()
        case .keep(_, let identifier, let kind): keys[Slot(identifier: identifier, kind: kind)] = brought[identifier]
        case .adopt(let stored):
            keys[Slot(identifier: stored.identifier, kind: .persistable)] = brought[stored.identifier]
        case .forget(let identifier, let kind): keys[Slot(identifier: identifier, kind: kind)] = nil
        case .deliver(let reader, let identifier, let kind):
            let key = keys[Slot(identifier: identifier, kind: kind)]
            settle(reader, identifier, key.map { .success($0) } ?? .failure(.missing))
        case .report(_, let identifier, let failure): reporter(identifier, failure)
        case .refuse(let reader, let identifier, let failure): settle(reader, identifier, .failure(failure))
        case .store(let stored): store(stored)
        case .erase(let identifier, let generation): erase(identifier, generation)
        case .permit: break
        case .endRead(let read, let failure): leases.removeValue(forKey: read)?.end(failure)
        case .notice(let notice): note(notice)
        }
    }

    private func ask(_ query: KeyQuery) {
        let exchange = exchange
        tasks[query.exchange] = Task { [weak self] in
            let event: KeyEvent
            var brought: [String: SecretKey] = [:]
            do throws(KeyFailure) {
                let answers = try await exchange.answer(query)
                event = .answered(exchange: query.exchange, answers.map(\.summary))
                // The first answer for an identifier counts.
                for answer in answers where brought[answer.identifier] == nil {
                    if case .success(let key) = answer.key { brought[answer.identifier] = key }
                }
            } catch {
                event = .exchangeFailed(exchange: query.exchange, error)
            }
            await self?.arrived(query.exchange, event, brought)
        }
    }

    private func arrived(_ exchange: Int, _ event: KeyEvent, _ brought: [String: SecretKey]) {
        tasks[exchange] = nil
        handle(event, bringing: brought)
    }

    private func settle(_ reader: Int, _ identifier: String, _ result: Result<SecretKey, KeyFailure>) {
        pending[reader]?.results[identifier] = result
        pending[reader]?.rest.remove(identifier)
        finish(reader)
    }

    /// Returns whether the first use of a stored key is on disk, so that its playback time goes on after a restart. If
    /// the key could not be stored before, this tries once more.
    func isStartStored(_ identifier: String) -> Bool {
        guard storage != nil else { return true }
        if !startedInStorage.contains(identifier), let stored = unsaved[identifier] { store(stored) }
        return startedInStorage.contains(identifier)
    }

    private func store(_ stored: StoredKey) {
        guard let storage, let key = keys[Slot(identifier: stored.identifier, kind: .persistable)] else { return }
        do throws(DecryptionError) {
            guard !unusable.contains(stored.identifier) else {
                throw .io(
                    operation: "store a key", code: 0,
                    reason: "what is stored of it is another device's, another sealing key's or damaged, and is left "
                        + "as it is: expected a storage of this device's own")
            }
            try storage.put(stored, key)
            unsaved[stored.identifier] = nil
            if stored.firstUse == nil {
                startedInStorage.remove(stored.identifier)
            } else {
                startedInStorage.insert(stored.identifier)
            }
        } catch {
            unsaved[stored.identifier] = stored
            note(.storageFailed(identifier: stored.identifier, reason: error.description))
        }
    }

    private func erase(_ identifier: String, _ generation: Int) {
        // Keeps the old record if its successor was not stored, or if it belongs to another device.
        guard let storage, !unusable.contains(identifier),
            unsaved[identifier].map({ $0.generation <= generation }) ?? true
        else { return }
        do throws(DecryptionError) {
            try storage.erase(identifier, generation)
        } catch {
            note(.storageFailed(identifier: identifier, reason: error.description))
        }
    }

    func note(_ notice: KeyNotice) {
        if notices.count == Self.maxNotices { notices.removeFirst() }
        notices.append(notice)
    }

    private func setTimer() {
        let deadline = machine.nextDeadline
        guard deadline != timer?.deadline else { return }
        timer?.task.cancel()
        timer = nil
        guard let deadline else { return }
        let clock = clock
        let task = Task { [weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil, !Task.isCancelled else { return }
            await self?.wake(deadline)
        }
        timer = (deadline, task)
    }

    private func wake(_ deadline: Duration) {
        if timer?.deadline == deadline { timer = nil }
        handle(.tick)
    }
}

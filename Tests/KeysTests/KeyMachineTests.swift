import Keys
import Statistics
import Testing

@Suite("a session's decisions")
struct KeyMachineTests {
    /// Happenings at random, with what a session does about them.
    private struct Walk {
        var machine: KeyMachine
        var random: SplitMix64
        var time = Duration.zero
        var open: [Int: [String]] = [:]
        var waiting: Set<String> = []
        var log: [KeyAction] = []
        var mismatch: String?

        init(seed: UInt64) {
            machine = KeyMachine(policy: KeyPolicy(deadline: .seconds(3), attempts: 3), device: "d", seed: seed)
            random = SplitMix64(seed: seed &+ 1000)
        }

        var reading: ClockSample { ClockSample(monotonic: time, wall: .seconds(1_700_000_000) + time) }

        mutating func choose(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

        mutating func tell(_ event: KeyEvent) {
            if case .want(let reader, let identifiers) = event {
                for identifier in identifiers { waiting.insert("\(reader) \(identifier)") }
            }
            if case .abandon(let reader) = event {
                waiting = waiting.filter { !$0.hasPrefix("\(reader) ") }
            }
            for action in machine.handle(event, at: reading) { look(at: action) }
        }

        mutating func look(at action: KeyAction) {
            log.append(action)
            switch action {
            case .ask(let query):
                let asked = Set(open.values.flatMap(\.self))
                if !asked.isDisjoint(with: query.identifiers) { mismatch = "asked twice: \(query.identifiers)" }
                if Set(query.identifiers).count != query.identifiers.count { mismatch = "one question, twice" }
                open[query.exchange] = query.identifiers
            case .cancel(let exchange): open[exchange] = nil
            case .deliver(let reader, let identifier, _), .refuse(let reader, let identifier, _):
                if waiting.remove("\(reader) \(identifier)") == nil { mismatch = "no reader waits: \(action)" }
            case .report(let reader, let identifier, let failure):
                if !waiting.contains("\(reader) \(identifier)") { mismatch = "no reader waits: \(action)" }
                if !failure.isPassing { mismatch = "no delay: \(action)" }
            default: break
            }
        }

        mutating func step(_ number: Int) {
            let name = ["a", "b", "c", "d"][choose(4)]
            let other = ["a", "b", "c", "d"][choose(4)]
            switch choose(12) {
            case 0, 1, 2: tell(.want(reader: number, identifiers: name == other ? [name] : [name, other]))
            case 3: tell(.preload([name]))
            case 4, 5, 6:
                guard let exchange = open.keys.min() else { return tell(.tick) }
                let asked = open.removeValue(forKey: exchange) ?? []
                let failures: [KeyFailure] = [.refused(reason: ""), .busy(retryAfter: .seconds(2)), .missing]
                var answers: [KeyAnswer] = []
                for identifier in asked {
                    let choice = choose(6)
                    answers.append(
                        choice < 3
                            ? KeyAnswer(identifier, .key(.online(validity: .seconds(5)), byteCount: 16))
                            : KeyAnswer(identifier, .failure(failures[choice - 3])))
                }
                tell(.answered(exchange: exchange, answers))
            case 7: tell(choose(2) == 0 ? .networkLost : .networkFound)
            case 8:
                tell(.routeChanged(KeyRoute(["local", "tv"][choose(2)], acceptsPersistable: choose(2) == 0)))
            case 9: tell(.rotation(identifier: name, appearsIn: .seconds(10)))
            case 10: tell(.abandon(reader: choose(number + 1)))
            default: time += .milliseconds(choose(4000))
            }
            pass(until: time)
        }

        mutating func pass(until end: Duration) {
            while let deadline = machine.nextDeadline, deadline <= end {
                time = max(time, deadline)
                tell(.tick)
            }
            time = end
        }
    }

    @Test(
        "whatever happens, no key is asked for twice at a time, and every reader is told how it ended",
        arguments: 1...60 as ClosedRange<UInt64>)
    func walks(_ seed: UInt64) {
        var walk = Walk(seed: seed)
        for number in 0..<200 { walk.step(number) }
        walk.pass(until: walk.time + .seconds(200))
        #expect(walk.mismatch == nil)
        #expect(walk.waiting.isEmpty)
        let deliveries = walk.log.filter { if case .deliver = $0 { true } else { false } }
        #expect(!deliveries.isEmpty)
    }

    @Test("the same happenings lead to the same actions")
    func repeats() {
        var first = Walk(seed: 5)
        var second = Walk(seed: 5)
        for number in 0..<200 {
            first.step(number)
            second.step(number)
        }
        #expect(first.log == second.log)
        #expect(!first.log.isEmpty)
    }
}

@Suite("when keys are asked for")
struct KeyTimingTests {
    @Test("the window ends before the key appears, and shrinks with the time that is left")
    func window() {
        let policy = KeyPolicy(dispersalWindow: .seconds(60), leadTime: .seconds(2))
        for (appearsIn, start, length) in [(90, 28, 60), (62, 0, 60), (32, 0, 30), (2, 0, 0), (1, 0, 0), (0, 0, 0)] {
            let dispersal = KeyDispersal(appearsIn: .seconds(appearsIn), policy: policy)
            #expect(dispersal.startNanoseconds == UInt64(start) * 1_000_000_000)
            #expect(dispersal.windowNanoseconds == UInt64(length) * 1_000_000_000)
            #expect(dispersal.nanoseconds(bits: 0) == dispersal.startNanoseconds)
            #expect(
                dispersal.nanoseconds(bits: .max)
                    == dispersal.startNanoseconds + max(dispersal.windowNanoseconds, 1) - 1)
        }
    }

    @Test(
        "setting the clock back between sessions makes no rental last longer, whether they are closed or killed",
        arguments: [true, false])
    func rentalClock(isClosed: Bool) {
        let start = Duration.seconds(1_700_000_000)
        let playback = Duration.seconds(10_000)
        var stored = StoredKey(
            identifier: "a", device: "d", storage: .seconds(1_000_000), playback: playback, receivedAt: start,
            lastSeen: start)
        var used = Duration.zero
        for session in 0..<500 {
            var machine = KeyMachine(policy: KeyPolicy(), device: "d", seed: UInt64(session))
            // As far as is not noticed.
            let wall = stored.lastSeen - .seconds(299)
            var (time, isPermitted) = (Duration.zero, false)
            func tell(_ event: KeyEvent) {
                for action in machine.handle(event, at: ClockSample(monotonic: time, wall: wall + time)) {
                    switch action {
                    case .store(let key): stored = key
                    case .permit: isPermitted = true
                    case .endRead: isPermitted = false
                    default: break
                    }
                }
            }
            tell(.found(stored))
            tell(.readBegan(read: 1, identifier: "a"))
            let end = Duration.seconds([1, 29, 31, 299, 1000][session % 5])
            while isPermitted, time < end {
                let next = min(machine.nextDeadline ?? end, end)
                used += next - time
                time = next
                tell(.tick)
            }
            if isClosed {
                tell(.readEnded(read: 1))
                tell(.close)
            }
        }
        #expect(used <= playback)
        // What is paid ahead is given back.
        #expect(isClosed ? used == playback : used > playback / 2)
    }

    @Test("pauses double up to the longest, and lose at most half")
    func pauses() {
        let policy = KeyPolicy(firstPause: .milliseconds(500), longestPause: .seconds(3))
        for (attempt, full) in [(1, 500), (2, 1000), (3, 2000), (4, 3000), (400, 3000)] {
            let minimum = KeyTiming.pause(attempt: attempt, retryAfter: nil, policy: policy, bits: 0)
            let maximum = KeyTiming.pause(attempt: attempt, retryAfter: nil, policy: policy, bits: .max)
            #expect(minimum == Duration.milliseconds(full) / 2)
            #expect(maximum < .milliseconds(full))
            #expect(maximum > .milliseconds(full - 1))
            #expect(
                KeyTiming.pause(attempt: attempt, retryAfter: .seconds(9), policy: policy, bits: 0) == .seconds(9))
        }
    }

    @Test(
        "identifiers are shown without what may be secret",
        arguments: [
            ("https://user:pass@host/a?token=1", "https://host/a?…"), ("mykey://film1", "mykey://film1"),
            ("a/b@c.key", "a/b@c.key"), ("skd://x@y@z/p@q#f", "skd://z/p@q?…"), ("", ""),
            ("data:;base64,AAECAwQFBgcICQoLDA0ODw==", "data:…"), ("DATA:,0123456789abcdef", "data:…"), ("data", "data"),
        ])
    func shown(_ identifier: String, _ text: String) {
        #expect(ShownIdentifier.text(identifier) == text)
    }
}

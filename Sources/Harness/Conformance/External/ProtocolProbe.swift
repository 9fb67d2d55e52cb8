import RandomAccess
import SubjectProtocol
import Support
import Vectors

/// The requests of a check of the protocol, with the expectations on the answers.
struct ProtocolProbe {
    /// The reason that a check failed.
    struct Mismatch: Error, CustomStringConvertible {
        var description: String
    }

    /// The reason that a check is not run: the harness has no object for it.
    struct NoObject: Error {}

    let session: ExternalSession
    let hello: ExternalHello
    /// A small object that the subject can open.
    let fixture: VectorGroup
    /// The fixture as a file, for subjects that the harness does not serve.
    let file: TemporaryCiphertext?

    /// - Throws: `DecryptionError.io` if a file is needed and cannot be written.
    init(session: ExternalSession, hello: ExternalHello, fixture: VectorGroup) throws(DecryptionError) {
        self.session = session
        self.hello = hello
        self.fixture = fixture
        self.file = hello.isServed ? nil : try TemporaryCiphertext(fixture)
    }

    /// Returns a probe with another object of the same strategy. Each `number` has its own key, IV and content.
    ///
    /// - Throws: ``NoObject``, such as for films; `DecryptionError.io` if a file is needed and cannot be written.
    func other(number: Int, plaintextByteCount: UInt64) throws -> ProtocolProbe {
        guard fixture.film == nil else { throw NoObject() }
        let group =
            fixture.playlist != nil
            ? ExternalFixture.playlist(id: fixture.id, number: number, plaintextByteCount: plaintextByteCount)
            : ExternalFixture.group(
                id: fixture.id,
                strategy: fixture.strategy.changingIV { $0 ^ UInt128(truncatingIfNeeded: number) << 64 },
                keyByteCount: fixture.key.byteCount, number: number, plaintextByteCount: plaintextByteCount)
        guard let group else { throw NoObject() }
        return try ProtocolProbe(session: session, hello: hello, fixture: group)
    }

    /// Returns the members of a request that opens the fixture. `changes` replaces some members, or leaves them out
    /// with `nil`.
    func openRequest(_ id: UInt64, _ changes: [String: JSONValue?] = [:]) -> [String: JSONValue] {
        var members = fixture.openMembers(id: id, path: file?.path, listed: hello.strategies)
        // Under another name, the format is not the one that the description has.
        if changes["strategy"] != nil { members["description"] = nil }
        for (name, value) in changes {
            // The parameters of a description are members of an object of their own.
            if case .object(var parameters)? = members["parameters"], parameters[name] != nil {
                parameters[name] = value
                members["parameters"] = .object(parameters)
            } else {
                members[name] = value
            }
        }
        return members
    }

    /// Returns the same as the text of a line, with one member replaced by text that need not be valid JSON.
    func openLine(_ id: UInt64, replacing name: String, with text: String) -> String {
        let marker = "\"\(name)\":\"MARK\""
        let line = String(decoding: JSONValue.object(openRequest(id, [name: "MARK"])).line.dropLast(), as: UTF8.self)
        return line.split(separator: marker, omittingEmptySubsequences: false).joined(separator: "\"\(name)\":\(text)")
    }

    /// Opens the fixture under a new `id`.
    func open(_ what: String = "open") throws(Mismatch) -> UInt64 {
        let id = session.makeID()
        try open(id, what)
        return id
    }

    /// Opens the fixture.
    func open(_ id: UInt64, _ what: String = "open") throws(Mismatch) {
        let answer = try expectGood(.object(openRequest(id)), what)
        // The vectors check the length.
        guard answer.members["plaintextByteCount"]?.integer != nil else {
            throw Mismatch(description: "\(what): expected a \"plaintextByteCount\"")
        }
    }

    /// Reads a few bytes of an object with the fixture's content.
    func read(_ id: UInt64, _ what: String = "read") throws(Mismatch) {
        let answer = try expectGood(["op": "read", "id": .integer(id), "offset": 3, "count": 40], what)
        let found = try? WrongBytes(group: fixture, offset: 3, expectedByteCount: 40, listed: nil)
            .mismatch(in: answer.payload)
        if let found = found ?? nil { throw Mismatch(description: "\(what): \(found)") }
    }

    /// Closes an object.
    func close(_ id: UInt64) throws(Mismatch) {
        _ = try expectGood(["op": "close", "id": .integer(id)], "close")
    }

    /// Sends a request that must succeed.
    @discardableResult
    func expectGood(
        _ request: JSONValue, _ what: String, serving source: ServedCiphertext? = nil
    ) throws(Mismatch) -> SubjectAnswer {
        try expectGood(request.line, what, serving: source)
    }

    /// Sends bytes that are a request, which must succeed.
    @discardableResult
    func expectGood(
        _ bytes: [UInt8], _ what: String, serving source: ServedCiphertext? = nil
    ) throws(Mismatch) -> SubjectAnswer {
        let answer = try ask(bytes, what, serving: source)
        guard answer.isGood else {
            throw Mismatch(
                description:
                    "\(what) is answered with the error \(answer.members["error"]?.text ?? "none"): expected success")
        }
        return answer
    }

    /// Sends a request that must be refused.
    func expect(_ name: ErrorName, _ request: JSONValue, _ what: String) throws(Mismatch) {
        try expect(name, request.line, what)
    }

    /// Sends a line that must be refused.
    func expect(_ name: ErrorName, line: String, _ what: String) throws(Mismatch) {
        try expect(name, Array(line.utf8) + [0x0A], what)
    }

    /// Sends bytes that must be refused.
    func expect(_ name: ErrorName, _ bytes: [UInt8], _ what: String) throws(Mismatch) {
        let answer = try ask(bytes, what)
        guard !answer.isGood else {
            throw Mismatch(description: "\(what) is answered: expected the error \(name.rawValue)")
        }
        guard let found = answer.members["error"]?.string else {
            throw Mismatch(description: "\(what): an error answer has no member \"error\"")
        }
        guard found == name.rawValue else {
            throw Mismatch(description: "\(what): the error \(found): expected the error \(name.rawValue)")
        }
    }

    /// Sends a request, and returns whether it succeeds.
    func isAnswered(_ request: JSONValue, _ what: String) throws(Mismatch) -> Bool {
        try ask(request.line, what).isGood
    }

    private func ask(
        _ bytes: [UInt8], _ what: String, serving source: ServedCiphertext? = nil
    ) throws(Mismatch) -> SubjectAnswer {
        do {
            return try session.ask(bytes, serving: source ?? ServedCiphertext(fixture))
        } catch {
            throw Mismatch(description: "\(what): \(error)")
        }
    }
}

/// One check of the protocol.
struct ProtocolCheck {
    /// The subject of the check; the last part of its identifier.
    let name: String
    /// The class of bugs that the check stands for.
    let flag: ExternalFlag
    /// Runs the check. An error that it throws, usually a ``ProtocolProbe/Mismatch``, is the finding.
    let run: (ProtocolProbe) throws -> Void

    init(_ name: String, _ flag: ExternalFlag = .subjectProtocol, run: @escaping (ProtocolProbe) throws -> Void) {
        self.name = name
        self.flag = flag
        self.run = run
    }
}

/// Runs the checks of the protocol itself against a subject.
struct ProtocolRun {
    let subject: ExternalSubject
    let fixtures: [Strategy]
    /// True if faults of the adapter alone are failures.
    let isStrict: Bool

    private var session: ExternalSession { subject.session }
    private var hello: ExternalHello { subject.hello }

    /// Runs everything and adds the verdicts.
    func run(into tally: inout Tally) {
        // The checks that concern no particular strategy are run with the first object that can be made.
        var rest = general
        for strategy in fixtures {
            guard let keyByteCount = ExternalFixture.keyByteCount(strategy, hello),
                let fixture = ExternalFixture.group(
                    id: "protocol", strategy: strategy, keyByteCount: keyByteCount, number: 100,
                    plaintextByteCount: 100),
                let probe = try? ProtocolProbe(session: session, hello: hello, fixture: fixture)
            else { continue }
            var checks = ProtocolCheck.openings(for: strategy)
            checks += ProtocolCheck.errorOrder(for: strategy, hello: hello)
            checks += ProtocolCheck.wrongLengths(for: strategy)
            run(checks + rest, with: probe, into: &tally)
            rest = []
        }
        let playlist = ExternalFixture.playlist(id: "protocol", number: 100, plaintextByteCount: 100)
        if hello.readsPlaylists,
            let probe = try? ProtocolProbe(session: session, hello: hello, fixture: playlist)
        {
            run(ProtocolCheck.playlists(hello) + rest, with: probe, into: &tally)
            rest = []
        }
        // A film that the subject opens stands for all, if it reads nothing else.
        if !rest.isEmpty, hello.strategies.contains(FilmObject.strategyName),
            let film = FilmSet.all.first(where: { $0.opens && subject.opens($0) }),
            let probe = try? ProtocolProbe(session: session, hello: hello, fixture: film)
        {
            run(rest, with: probe, into: &tally)
            rest = []
        }
        for check in rest { tally.note(.notRun, flags: [check.flag.rawValue]) }
    }

    private func run(_ checks: [ProtocolCheck], with probe: ProtocolProbe, into tally: inout Tally) {
        let reads = readsWell(probe)
        for check in checks { run(check, with: probe, readsWell: reads, into: &tally) }
    }

    /// Returns whether the subject opens and reads the fixture when all requests are valid.
    private func readsWell(_ probe: ProtocolProbe) -> Bool {
        do throws(ProtocolProbe.Mismatch) {
            for _ in 0..<2 {
                let id = try probe.open()
                try probe.expectGood(["op": "read", "id": .integer(id), "offset": 0, "count": 1], "read")
                try probe.read(id)
                try probe.close(id)
            }
            return true
        } catch {
            session.resynchronize()
            return false
        }
    }

    /// The checks that concern no particular strategy.
    private var general: [ProtocolCheck] {
        var checks = ProtocolCheck.requests() + ProtocolCheck.framing() + ProtocolCheck.objects()
        checks += ProtocolCheck.endings()
        if hello.isServed { checks += ProtocolCheck.faultyOpenings() }
        if hello.measures { checks += ProtocolCheck.measurements() }
        return checks
    }

    /// Runs a check. If valid requests fail as well, a check of the adapter may fail because of the program that it
    /// adapts, which is for the vectors to find.
    private func run(
        _ check: ProtocolCheck, with probe: ProtocolProbe, readsWell: Bool, into tally: inout Tally
    ) {
        let flags = [check.flag.rawValue]
        guard session.reasonToGiveUp == nil else { return tally.note(.notRun, flags: flags) }
        var verdict = Verdict.adapter("protocol/\(check.name)", check.flag, nil)
        do {
            try check.run(probe)
        } catch is ProtocolProbe.NoObject {
            return tally.note(.notRun, flags: flags)
        } catch {
            verdict.mismatch = "\(error)"
            session.resynchronize()
        }
        if verdict.mismatch != nil, !isStrict, check.flag.mending != nil {
            guard readsWell else { return tally.note(.notRun, flags: flags) }
            tally.keep(verdict)
        } else {
            tally.add(verdict)
        }
    }
}

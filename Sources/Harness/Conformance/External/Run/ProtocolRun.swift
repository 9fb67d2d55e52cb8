internal import RandomAccess
internal import Vectors

/// Puts a subject to the checks of the protocol itself.
struct ProtocolRun {
    let session: ExternalSession
    let hello: ExternalHello

    /// Runs everything and adds what came of it.
    func run(into tally: inout ExternalTally) {
        let keyByteCount = hello.knownKeyByteCounts.first ?? 16
        let first = ExternalFixture.strategy(of: hello)
        for strategy in ExternalFixture.strategies(of: hello) {
            guard
                let fixture = ExternalFixture.group(
                    id: "protocol", strategy: strategy, keyByteCount: keyByteCount, number: 100,
                    plaintextByteCount: 100),
                let probe = try? ProtocolProbe(session: session, hello: hello, fixture: fixture)
            else { continue }
            var checks = ProtocolCheck.openings(for: strategy)
            checks += ProtocolCheck.errorOrder(for: strategy, hello: hello)
            if strategy == first { checks += general }
            for check in checks { run(check, with: probe, into: &tally) }
        }
        let playlist = ExternalFixture.playlist(id: "protocol", number: 100, plaintextByteCount: 100)
        guard hello.readsPlaylists, let probe = try? ProtocolProbe(session: session, hello: hello, fixture: playlist)
        else { return }
        let checks = ProtocolCheck.playlists(hello) + (first == nil ? general : [])
        for check in checks { run(check, with: probe, into: &tally) }
    }

    /// What is about no strategy, and put to the subject with the first that it has.
    private var general: [ProtocolCheck] {
        var checks = ProtocolCheck.requests() + ProtocolCheck.framing() + ProtocolCheck.objects()
        checks += ProtocolCheck.endings()
        if hello.isServed { checks += ProtocolCheck.faultyOpenings() }
        if hello.measures { checks += ProtocolCheck.measurements() }
        return checks
    }

    private func run(_ check: ProtocolCheck, with probe: ProtocolProbe, into tally: inout ExternalTally) {
        let flags = [check.flag.rawValue]
        guard session.reasonToGiveUp == nil else { return tally.addNotRun(flags) }
        var verdict = ExternalVerdict(id: "protocol/\(check.name)", flags: flags, mismatch: nil, size: [0, 0, 0])
        do throws(ProtocolProbe.Complaint) {
            try check.run(probe)
        } catch {
            verdict.mismatch = error.text
            session.resynchronize()
        }
        tally.add(verdict)
    }
}

import RandomAccess
import Vectors

/// Checks that the time of a read does not grow with its offset. A reader that decrypts everything before an offset to
/// get there takes as long as that.
struct ExternalGrowth {
    let subject: ExternalSubject
    /// The time that counts as long, if a read near the start takes at most a tenth of it.
    var longTime: Duration = .milliseconds(500)

    private static let byteCount: UInt64 = 1 << 42
    private static let count = 16
    private static let strategy = Strategy.whole(
        .aesCTR, iv: Block(bigEndianValue: 0x1032_5476_98ba_dcfe))

    /// Reads a block of a CTR object of 4 TiB at ever doubled offsets, until a read takes long.
    func run(into tally: inout Tally) {
        let flags = [ExternalFlag.growth.rawValue]
        guard subject.hello.isServed, subject.hello.strategies.contains(Self.strategy.name),
            subject.isWorthAsking(flags),
            let keyByteCount = subject.hello.knownKeyByteCounts.first,
            let group = ExternalFixture.group(
                id: "growth/\(Self.strategy.label)", strategy: Self.strategy, keyByteCount: keyByteCount,
                number: 280, plaintextByteCount: Self.byteCount),
            let object = try? ExternalObject(group, session: subject.session, hello: subject.hello)
        else { return tally.note(.notRun, flags: flags) }
        defer { object.close() }
        guard case .opened = object.open(), var near = (0..<3).compactMap({ time(of: object, at: 16 * $0) }).min()
        else {
            return tally.note(.notRun, flags: flags)
        }
        var last = near
        for bits in 20..<42 {
            let offset = UInt64(1) << UInt64(bits) + 32
            guard let far = time(of: object, at: offset) else {
                // This is another fault, unless the read at half the offset was already slow.
                guard last > longTime / 10, last > near * 10 else { return tally.note(.notRun, flags: flags) }
                return tally.add(verdict(group, "no answer to a read of \(Self.count) bytes at \(offset)", near))
            }
            last = far
            // A machine may stall once, but not for both reads there and for none here.
            guard far > longTime, let again = time(of: object, at: offset), again > longTime,
                let nearAgain = time(of: object, at: 48)
            else { continue }
            near = max(near, nearAgain)
            guard near < min(far, again) / 10 else { continue }
            let found = "a read of \(Self.count) bytes took \(min(far, again)) at \(offset)"
            return tally.add(verdict(group, found, nearAgain))
        }
        tally.add(verdict(group, nil, near))
    }

    private func verdict(_ group: VectorGroup, _ found: String?, _ near: Duration) -> Verdict {
        .adapter(
            "\(group.id) reads at 2^20 to 2^41", .growth,
            found.map {
                "\($0), and \(near) near the start: expected the same, since the counter of any block is known at once "
                    + "(offset / 16, added to the IV)"
            })
    }

    /// Returns the time of a read; `nil` if no bytes came.
    private func time(of object: ExternalObject, at offset: UInt64) -> Duration? {
        let start = ContinuousClock.now
        guard case .delivered = object.read(at: offset, count: Self.count) else { return nil }
        return start.duration(to: .now)
    }
}

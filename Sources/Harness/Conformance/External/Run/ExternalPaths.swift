internal import RandomAccess
internal import Vectors

/// Reads of objects that the subject opens by their path, for subjects that are served everything else.
struct ExternalPaths {
    let session: ExternalSession
    let hello: ExternalHello

    /// Longer than buffers that programs read files with.
    private static let byteCount: UInt64 = 300_005

    /// Runs the reads, on every strategy that the subject has.
    func run(into tally: inout ExternalTally) {
        guard hello.isServed, hello.readsPaths else { return }
        var byPath = hello
        byPath.isServed = false
        let flags = [ExternalFlag.path.rawValue]
        for group in groups {
            guard session.isWorthAsking(flags), let group,
                let object = try? ExternalObject(group, session: session, hello: byPath)
            else {
                tally.addNotRun(flags)
                continue
            }
            let mismatch = ExternalGroupRun.mismatch(in: object.open(), expecting: group.opening)
            tally.add(
                ExternalVerdict(
                    id: "\(group.id) open", flags: flags, mismatch: mismatch,
                    size: [group.ciphertext.byteCount, 0, 0]))
            for offset in [0, 1, 4095, 4096, 65535, 65537, 131_072, Self.byteCount - 20, Self.byteCount + 1] {
                for count in [1, 17, 5000, 70_000] {
                    let read = RangeRead(offset: offset, count: count, of: Self.byteCount, flags: [])
                    ExternalReadRun(object: object, read: read, flags: flags).runPlain(session: session, into: &tally)
                }
            }
            object.close()
        }
    }

    /// An object of each strategy that the subject has; `nil` for one that cannot be made.
    private var groups: [VectorGroup?] {
        let lengths = hello.knownKeyByteCounts
        var groups = ExternalFixture.strategies(of: hello).enumerated().map { number, strategy in
            lengths.isEmpty
                ? nil
                : ExternalFixture.group(
                    id: "path/\(strategy.label)", strategy: strategy, keyByteCount: lengths[number % lengths.count],
                    number: 200 + number, plaintextByteCount: Self.byteCount)
        }
        if hello.readsPlaylists {
            groups.append(
                ExternalFixture.playlist(
                    id: "path/\(PlaylistObject.strategyName)", number: 250, plaintextByteCount: Self.byteCount))
        }
        return groups
    }
}

import RandomAccess
import Vectors

/// Reads objects that the subject opens by their paths, for subjects that the harness serves everything else.
struct ExternalPaths {
    let subject: ExternalSubject
    let fixtures: [Strategy]

    private var hello: ExternalHello { subject.hello }

    /// Longer than the buffers that programs read files with.
    private static let byteCount: UInt64 = 300_005

    /// Runs the reads on every strategy that the subject supports.
    func run(into tally: inout Tally) {
        guard hello.isServed, hello.readsPaths else { return }
        let subject = self.subject.byPath
        let flags = [ExternalFlag.path.rawValue]
        for group in groups {
            guard subject.isWorthAsking(flags), let group,
                let object = try? subject.object(group, setup: ReaderSetup(.cursor(windowByteCount: .max)))
            else {
                tally.note(.notRun, flags: flags)
                continue
            }
            tally.add(
                .adapter(
                    "\(group.id) open", .path, size: [group.ciphertext.byteCount, 0, 0],
                    object.open().mismatch(expecting: group.opening)))
            let run = GroupRun(group: group, subject: subject)
            for offset in [0, 1, 4095, 4096, 65535, 65537, 131_072, Self.byteCount - 20, Self.byteCount + 1] {
                for count in [1, 17, 5000, 70_000] {
                    let read = RangeRead(offset: offset, count: count, of: Self.byteCount, flags: [])
                    run.judge(read, of: object, flags: [.path], into: &tally)
                }
            }
            object.close()
        }
    }

    /// An object of each strategy that the subject supports; `nil` for an object that cannot be made.
    private var groups: [VectorGroup?] {
        var groups = fixtures.enumerated().map { number, strategy in
            ExternalFixture.keyByteCount(strategy, hello, number: number).flatMap {
                ExternalFixture.group(
                    id: "path/\(strategy.label)", strategy: strategy, keyByteCount: $0, number: 200 + number,
                    plaintextByteCount: Self.byteCount)
            }
        }
        if hello.readsPlaylists {
            groups.append(
                ExternalFixture.playlist(
                    id: "path/\(PlaylistObject.strategyName)", number: 250, plaintextByteCount: Self.byteCount))
        }
        return groups
    }
}

/// Replaces files by others under the same path and with another key. The subject must not use anything kept of the
/// first file.
struct ExternalReplacements {
    let subject: ExternalSubject
    let fixtures: [Strategy]

    private var hello: ExternalHello { subject.hello }

    private static let byteCount: UInt64 = 5000

    /// Runs the reads on every strategy that the subject supports.
    func run(into tally: inout Tally) {
        guard hello.readsPaths else { return }
        for strategy in fixtures {
            guard let keyByteCount = ExternalFixture.keyByteCount(strategy, hello) else { continue }
            let groups = [(260, strategy), (261, strategy.changingIV { ~$0 })].compactMap { number, strategy in
                ExternalFixture.group(
                    id: "path/\(strategy.label)", strategy: strategy, keyByteCount: keyByteCount, number: number,
                    plaintextByteCount: Self.byteCount)
            }
            guard groups.count == 2 else { continue }
            var steps = [("", groups[0]), ("another file under the same path", groups[1])]
            if strategy.cipher == .aesCTR, VectorSet.isPlain(strategy.format) {
                steps.append(("the same file with another key", underAnotherKey(groups[1])))
            }
            run(steps, into: &tally)
        }
        guard hello.readsPlaylists else { return }
        let playlists = [262, 263].map {
            ExternalFixture.playlist(
                id: "path/\(PlaylistObject.strategyName)", number: $0, plaintextByteCount: Self.byteCount)
        }
        run([("", playlists[0]), ("another folder under the same path", playlists[1])], into: &tally)
    }

    /// Returns the ciphertext of a CTR group with another key: any key decrypts it to something.
    private func underAnotherKey(_ group: VectorGroup) -> VectorGroup {
        let bytes = group.key.withUnsafeBytes { $0.map { $0 ^ 0xff } }
        guard let key = try? SecretKey(bytes) else { return group }
        return VectorGroup(
            id: group.id, flags: [], strategy: group.strategy, key: key, ciphertext: group.ciphertext,
            plaintext: GroupPlaintext(
                oracle: Oracle(strategy: group.strategy, key: key), ciphertext: group.ciphertext,
                byteCount: group.plaintext.byteCount))
    }

    /// Opens each group's object in turn under one path, and reads it.
    private func run(_ steps: [(occasion: String, group: VectorGroup)], into tally: inout Tally) {
        let flags = [ExternalFlag.staleFile.rawValue]
        let subject = self.subject.byPath
        guard subject.isWorthAsking(flags), let first = steps.first,
            let file = try? TemporaryCiphertext(first.group)
        else { return tally.note(.notRun, flags: flags) }
        for (occasion, group) in steps {
            guard (try? file.replace(by: group)) != nil,
                let object = try? ExternalObject(group, session: subject.session, hello: hello, file: file)
            else { return tally.note(.notRun, flags: flags) }
            let opening = object.open().mismatch(expecting: group.opening)
            // Other checks cover the reads of the first one.
            if !occasion.isEmpty {
                tally.add(.adapter("\(group.id) open of \(occasion)", .staleFile, opening))
            }
            guard opening == nil else { return }
            let run = GroupRun(group: group, subject: subject)
            for (offset, count) in [(0, 16), (33, 100), (4000, 900)] as [(UInt64, Int)] {
                let read = RangeRead(offset: offset, count: count, of: Self.byteCount, flags: [])
                if occasion.isEmpty {
                    _ = object.read(at: offset, count: count)
                } else {
                    run.judge(
                        read, of: object, id: "\(group.id(of: read)) of \(occasion)", flags: [.staleFile], into: &tally)
                }
            }
            object.close()
        }
    }
}

internal import RandomAccess
internal import Support
import Synchronization
internal import Vectors

/// Lets several threads do all the reads of a group at once, on one object.
struct ConcurrentReads {
    let group: VectorGroup
    let subject: ConformanceSubject

    /// A reader that is handed to the one thread that uses it.
    private struct Reader: @unchecked Sendable {
        let decryptor: any RandomAccessDecryptor
    }

    /// What went wrong, by the reads' numbers; nothing for a group that wants one thread.
    func mismatches() -> [Int: String] {
        guard group.threadCount > 1 else { return [:] }
        let readers: [Reader]
        do throws(DecryptionError) {
            readers = try open().map(Reader.init)
        } catch {
            return [0: "\(ErrorName(error).rawValue) (\(error)): expected it to open for \(group.threadCount) threads"]
        }
        let group = self.group
        let reads = Array(group.reads)
        let found = Mutex<[Int: String]>([:])
        ThreadTeam(threadCount: readers.count).run { thread in
            let check = ReadCheck(group: group)
            // Threads start at different places, so that they rarely read the same at the same time.
            for step in reads.indices {
                let index = (step + thread * reads.count / readers.count) % reads.count
                if let mismatch = Self.mismatch(of: reads[index], by: readers[thread].decryptor, check) {
                    found.withLock { $0[index] = "one of \(readers.count) threads: \(mismatch)" }
                }
            }
        }
        return found.withLock { $0 }
    }

    private func open() throws(DecryptionError) -> [any RandomAccessDecryptor] {
        if let openShared = subject.openShared, group.playlist == nil {
            return try openShared(group.threadCount, try subject.located(group.ciphertext), group.strategy, group.key)
        }
        var readers: [any RandomAccessDecryptor] = []
        for _ in 0..<group.threadCount {
            let setup = ReaderSetup(.cursor(windowByteCount: .max))
            readers.append(try subject.open(group, setup: setup))
        }
        return readers
    }

    private static func mismatch(
        of read: RangeRead, by decryptor: any RandomAccessDecryptor, _ check: ReadCheck
    ) -> String? {
        let room = check.buffer.prepare(count: read.count)
        let delivered: Int
        do throws(DecryptionError) {
            delivered = try decryptor.read(at: read.offset, into: room)
        } catch {
            if case .error(let name) = read.expected, ErrorName(error) == name { return nil }
            return "\(ErrorName(error).rawValue) (\(error))"
        }
        do throws(DecryptionError) {
            let expected: ExpectedBytes
            switch read.expected {
            case .bytes(let bytes): expected = ExpectedBytes(bytes)
            case .plaintext(let byteCount):
                expected = try ExpectedBytes(of: check.group.plaintext, offset: read.offset, count: byteCount)
            case .error(let name): return "\(delivered) bytes delivered: expected the error \(name.rawValue)"
            }
            guard delivered == expected.byteCount else {
                return "\(delivered) bytes delivered: expected \(expected.byteCount)"
            }
            return expected.mismatch(in: UnsafeRawBufferPointer(rebasing: room[..<delivered]))
                ?? check.buffer.mismatch(delivered: delivered)
        } catch {
            return "the expected bytes cannot be had: \(error)"
        }
    }
}

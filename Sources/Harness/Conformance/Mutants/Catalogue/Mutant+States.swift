internal import RandomAccess

extension Mutant {
    /// Faults in the state that a reader keeps from read to read, and from object to object.
    static let states: [Mutant] = [
        .reader(
            "empty-read-is-end", "A read of no bytes is taken for the end: later reads deliver nothing.",
            flag: .afterEmptyRead, source: "bcgit/bc-java#771"
        ) {
            var isAtEnd = false
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                isAtEnd = isAtEnd || buffer.isEmpty
                return isAtEnd ? 0 : count
            }
        },
        .reader(
            "empty-read-moves", "The read after one of no bytes starts with a wrong byte.", flag: .afterEmptyRead,
            source: "bcgit/bc-java#771"
        ) {
            var wasEmpty = false
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if wasEmpty, count > 0 { buffer[0] ^= 1 }
                wasEmpty = buffer.isEmpty
                return count
            }
        },
        .reader("right-once", "Only the first read is right.", flag: .seekStorm, source: "thought up for this suite") {
            var isFirst = true
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if !isFirst { for index in 0..<count { buffer[index] = 0 } }
                isFirst = isFirst && count == 0
                return count
            }
        },
        .reader("tires", "After a thousand reads a bit is wrong.", flag: .seekStorm, source: "rclone/rclone#828") {
            var reads = 0
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                reads += 1
                if reads > 1000, count > 0 { buffer[0] ^= 1 }
                return count
            }
        },
        .reader(
            "cache-low-bits", "Blocks are kept by the low six bits of their number.", flag: .seekStorm,
            source: "hash-indexed block caches"
        ) {
            var kept: [UInt64: UInt8] = [:]
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                guard count > 0, offset % 16 == 0 else { return count }
                let slot = offset / 16 % 64
                buffer[0] = kept[slot, default: buffer[0]]
                kept[slot] = buffer[0]
                return count
            }
        },
        .reader(
            "repeat-empty", "The same read again delivers nothing.", flag: .repeatedRead, source: "mpv-player/mpv#18207"
        ) {
            var last: (UInt64, Int)?
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                defer { last = (offset, count) }
                return last.map { $0 == (offset, count) } == true ? 0 : count
            }
        },
        .reader(
            "repeat-aliased", "The same read again counts on the caller's old bytes.", flag: .repeatedRead,
            source: "kokke/tiny-AES-c#20"
        ) {
            var last: (UInt64, Int, UnsafeMutableRawPointer?)?
            return { (base, offset, buffer) throws(DecryptionError) in
                let isRepeated = last.map { $0 == (offset, buffer.count, buffer.baseAddress) } == true
                if isRepeated { return min(buffer.count, Int(base.plaintextByteCount - offset)) }
                let count = try base.read(at: offset, into: buffer)
                last = (offset, buffer.count, buffer.baseAddress)
                return count
            }
        },
        .reader(
            "repeat-within", "A smaller read at the same offset delivers what comes after the last.",
            flag: .repeatedRead, source: "palantir/hadoop-crypto#101"
        ) {
            var last: (start: UInt64, end: UInt64)?
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if let last, last.start == offset, offset + UInt64(count) < last.end, count > 0 { buffer[0] ^= 1 }
                last = (offset, offset + UInt64(count))
                return count
            }
        },
        .reader(
            "backward-wrong", "A read before the end of the last one is wrong.", flag: .backwardRead,
            source: "rclone/rclone#677"
        ) {
            var end: UInt64 = 0
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if offset < end, count > 0 { buffer[count - 1] ^= 1 }
                end = offset + UInt64(count)
                return count
            }
        },
        .reader(
            "backward-fails", "A read before the last one is an error.", flag: .backwardRead,
            source: "streams that cannot seek back"
        ) {
            var start: UInt64 = 0
            return { (base, offset, buffer) throws(DecryptionError) in
                if offset < start { throw .io(operation: "seek", code: 29, reason: "injected") }
                start = offset
                return try base.read(at: offset, into: buffer)
            }
        },
        .reader(
            "forward-chain", "A read that goes on where the last one ended, inside a block, starts with a wrong byte.",
            flag: .forwardReads, source: "RidgeRun/gst-crypto#3"
        ) {
            var end: UInt64 = 0
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if offset == end, offset % 16 != 0, count > 0 { buffer[0] ^= 1 }
                end = offset + UInt64(count)
                return count
            }
        },
        .reader(
            "forward-block", "A read that goes on at the next block repeats the last one's final byte.",
            flag: .forwardReads, source: "guanzhi/GmSSL#1899"
        ) {
            var (end, last): (UInt64, UInt8) = (0, 0)
            return { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                guard count > 0 else { return count }
                if offset > 0, offset == end, offset % 16 == 0 { buffer[0] = last }
                (end, last) = (offset + UInt64(count), buffer[count - 1])
                return count
            }
        },
        Mutant(
            "threads-share-chain", "Readers of one object share what the last read of any of them left.",
            flag: .concurrentReads, source: "rclone/rclone#677"
        ) { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(
                name: "threads-share-chain",
                openShared: { (readerCount, source, strategy, key) throws(DecryptionError) in
                    let lastReader = MutantState<Int?>(nil)
                    var readers: [any RandomAccessDecryptor] = []
                    for number in 0..<readerCount {
                        let base = try right.open(
                            ReaderSetup(.cursor(windowByteCount: .max)), source, strategy, key)
                        readers.append(
                            FaultyReader(base) { (base, offset, buffer) throws(DecryptionError) in
                                let count = try base.read(at: offset, into: buffer)
                                if let other = lastReader.value, other != number, count > 0 { buffer[0] ^= 1 }
                                lastReader.value = number
                                return count
                            })
                    }
                    return readers
                }, open: right.open)
        },
        Mutant(
            "key-of-last-opened", "All objects share the key of the one that was opened last.", flag: .interleaved,
            source: "FFmpeg, hls.c: keys by URL only"
        ) { backend in
            let key = MutantState<SecretKey?>(nil)
            let right = InProcessSubject(backend: backend).open
            return InProcessSubject(name: "key-of-last-opened") {
                (setup, source, strategy, itsKey) throws(DecryptionError) in
                let reader = try right(setup, source, strategy, itsKey)
                key.value = itsKey
                var opened: (SecretKey, any RandomAccessDecryptor) = (itsKey, reader)
                return FaultyReader(reader) { (_, offset, buffer) throws(DecryptionError) in
                    if let current = key.value, current !== opened.0 {
                        // An object does not open with every key. If it does not open with the current one, it keeps
                        // its own.
                        let other = try? right(setup, source, strategy, current)
                        opened = (current, other ?? opened.1)
                        if other == nil, !buffer.isEmpty {
                            throw .backend(name: "injected", operation: "read", reason: "key")
                        }
                    }
                    return try opened.1.read(at: offset, into: buffer)
                }
            }
        },
        Mutant(
            "iv-of-last-opened", "All objects share the IV of the one that was opened last.", flag: .interleaved,
            source: "kokke/tiny-AES-c#20"
        ) { backend in
            let iv = MutantState<Block?>(nil)
            return InProcessSubject(name: "iv-of-last-opened") {
                (setup, source, strategy, key) throws(DecryptionError) in
                var rules = TextbookRules()
                rules.iv = { question in
                    guard question.location.block == 0, question.strategy.cipher == .aesCBC, let shared = iv.value
                    else { return question.right }
                    let step = question.right.bigEndianValue &- question.given.bigEndianValue
                    return Block(bigEndianValue: shared.bigEndianValue &+ step)
                }
                if strategy.cipher == .aesCBC { iv.value = strategy.iv }
                return try TextbookReader(
                    source: source, strategy: strategy, key: key, backend: backend, rules: rules,
                    windowByteCount: setup.access.windowByteCount)
            }
        },
        Mutant(
            "cache-without-object", "Blocks are kept by their number, whichever object they are from.",
            flag: .interleaved, source: "caches that are not keyed by object"
        ) { backend in
            let kept = MutantState<(owner: Int, offset: UInt64, byte: UInt8)?>(nil)
            let count = MutantState(0)
            let right = InProcessSubject(backend: backend).open
            return InProcessSubject(name: "cache-without-object") {
                (setup, source, strategy, key) throws(DecryptionError) in
                count.value += 1
                let owner = count.value
                return FaultyReader(try right(setup, source, strategy, key)) {
                    (base, offset, buffer) throws(DecryptionError) in
                    let count = try base.read(at: offset, into: buffer)
                    guard count > 0 else { return count }
                    if let kept = kept.value, kept.offset == offset { buffer[0] = kept.byte }
                    kept.value = (owner, offset, buffer[0])
                    return count
                }
            }
        },
    ]
}

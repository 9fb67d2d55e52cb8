internal import RandomAccess
internal import Vectors

extension Mutant {
    /// Faults in the handling of short reads, errors and ends of the source.
    static let supplies: [Mutant] = [
        .source(
            "short-read-taken", "A short read is taken for a whole one.", flag: .shortReads,
            source: "the article on windows of 100 MiB; POSIX, read()"
        ) { (base, offset, buffers) throws(DecryptionError) in
            try base.read(at: offset, into: buffers) == 0 ? 0 : buffers.byteCount
        },
        .fetching(
            "short-read-twice", "After two short reads no more is fetched.", flag: .shortReads, source: "POSIX, read()"
        ) { (source, offset, buffer) throws(DecryptionError) in
            var done = 0
            for _ in 0..<2 where done < buffer.count { done += try read(source, offset, buffer, done) }
        },
        .fetching(
            "short-read-stacked", "The rest of a short read overwrites its start.", flag: .shortReads,
            source: "POSIX, read()"
        ) { (source, offset, buffer) throws(DecryptionError) in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(buffer.count - done)])
                done += try read(source, offset + UInt64(done), rest, 0)
            }
        },
        .fetching(
            "short-read-again", "The rest of a short read is fetched from its start.", flag: .shortReads,
            source: "POSIX, read()"
        ) { (source, offset, buffer) throws(DecryptionError) in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                done += try read(source, offset, rest, 0)
            }
        },
        .fetching("short-read-fails", "A short read is an error.", flag: .shortReads, source: "POSIX, read()") {
            (source, offset, buffer) throws(DecryptionError) in
            guard try read(source, offset, buffer, 0) == buffer.count else { throw early }
        },
        .source(
            "early-end-ignored", "A read of nothing at the source's end is taken for data.", flag: .sourceEndsEarly,
            source: "FFmpeg, crypto.c"
        ) { (base, offset, buffers) throws(DecryptionError) in
            let count = try base.read(at: offset, into: buffers)
            return count == 0 ? buffers.byteCount : count
        },
        .catching(
            "early-end-short", "Where the source ends early, so does the read.", flag: .sourceEndsEarly,
            source: "PROTOCOL.md, \"read\""
        ) { (error, _) throws(DecryptionError) in
            guard case .truncatedCiphertext = error else { throw error }
            return 0
        },
        .catching(
            "early-end-misnamed", "An early end is called a failure.", flag: .sourceEndsEarly,
            source: "PROTOCOL.md, \"Transport\""
        ) { (error, _) throws(DecryptionError) in
            guard case .truncatedCiphertext = error else { throw error }
            throw .io(operation: "read", code: 0, reason: "injected")
        },
        .catching(
            "fault-ignored", "A failed fetch delivers what is there.", flag: .sourceFailure,
            source: "the article on chunks of 16 MB: errors ignored"
        ) { (error, buffer) throws(DecryptionError) in
            guard case .io = error else { throw error }
            return buffer.count
        },
        .catching(
            "fault-empty", "A failed fetch delivers nothing.", flag: .sourceFailure,
            source: "aes-decrypter: empty success"
        ) { (error, _) throws(DecryptionError) in
            guard case .io = error else { throw error }
            return 0
        },
        .catching(
            "fault-misnamed", "A failed fetch has another name.", flag: .sourceFailure,
            source: "the article on windows of 100 MiB: decryptFailedWhenConvertUnsafePointer"
        ) { (error, _) throws(DecryptionError) in
            guard case .io = error else { throw error }
            throw .backend(name: "injected", operation: "read", reason: "injected")
        },
        .fetching(
            "fault-later-ignored", "A failure is ignored where a part has been fetched.", flag: .sourceFailure,
            source: "PROTOCOL.md, \"read\""
        ) { (source, offset, buffer) throws(DecryptionError) in
            var done = 0
            while done < buffer.count {
                do throws(DecryptionError) {
                    let count = try read(source, offset, buffer, done)
                    if count == 0 { throw early }
                    done += count
                } catch {
                    if case .io = error, done > 0 { return }
                    throw error
                }
            }
        },
        .reader(
            "failure-for-good", "Nothing works after a failure.", flag: .afterFailure,
            source: "PROTOCOL.md, \"Transport\""
        ) {
            var hasFailed = false
            return { (base, offset, buffer) throws(DecryptionError) in
                if hasFailed { throw early }
                do throws(DecryptionError) {
                    return try base.read(at: offset, into: buffer)
                } catch {
                    hasFailed = true
                    throw error
                }
            }
        },
        .reader(
            "failure-kept", "What a failed read left is delivered by the next.", flag: .afterFailure,
            source: "PROTOCOL.md, \"Transport\""
        ) {
            var failed: UInt64?
            return { (base, offset, buffer) throws(DecryptionError) in
                do throws(DecryptionError) {
                    let count = try base.read(at: offset, into: buffer)
                    if failed != nil, count > 0 { buffer[count - 1] ^= 0xff }
                    failed = nil
                    return count
                } catch {
                    failed = offset
                    throw error
                }
            }
        },
        .source(
            "change-unnoticed", "A source of another length goes unnoticed.", flag: .changedLength,
            source: "rfjakob/gocryptfs#1024", changes: false
        ) { (base, offset, buffers) throws(DecryptionError) in try base.read(at: offset, into: buffers) },
    ]

    /// Fetches of more than is needed, while all bytes are right.
    static let fetches: [Mutant] = [
        .source(
            "fetch-from-start", "Each fetch touches the file's start.", flag: .minimalFetch,
            source: "google/ExoPlayer#2467"
        ) { (base, offset, buffers) throws(DecryptionError) in
            if offset > 0 { try base.touch(at: 0) }
            return try base.read(at: offset, into: buffers)
        },
        .source(
            "fetch-twice", "Everything is fetched twice.", flag: .minimalFetch,
            source: "PROTOCOL.md, \"Served sources\""
        ) { (base, offset, buffers) throws(DecryptionError) in
            _ = try base.read(at: offset, into: buffers)
            return try base.read(at: offset, into: buffers)
        },
        .textbook(
            "fetch-one-more", "One block more than needed is fetched.", flag: .minimalFetch,
            source: "the article on windows of 100 MiB: / 16 + 1"
        ) {
            $0.blocksTooMany = 1
        },
        .textbook(
            "fetch-two-before", "The two blocks before are fetched.", flag: .minimalFetch,
            source: "TritonDataCenter/java-manta#207"
        ) {
            let fetch = $0.fetch
            $0.fetch = { (source, offset, buffer) throws(DecryptionError) in
                if offset >= 16 {
                    var block = Block(bigEndianValue: 0).bytes
                    try block.withMutableBytes { (bytes) throws(DecryptionError) in
                        try fetch(source, offset - 16, bytes)
                    }
                }
                try fetch(source, offset, buffer)
            }
        },
        .opening(
            "fetch-whole-chunk", "Whole chunks are fetched though blocks are declared.", flag: .minimalFetch,
            source: "the article on chunks of 16 MB"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            try right(ReaderSetup(.wholeChunk(byteCount: 4096), setup.supply), source, strategy, key)
        },
        .source(
            "fetch-in-halves", "Each request is made as two.", flag: .minimalFetch,
            source: "docs/method/conformance.md, \"Reading rules\""
        ) { (base, offset, buffers) throws(DecryptionError) in
            let half = try base.read(at: offset, into: buffers.prefix((buffers.byteCount + 1) / 2))
            var rest = buffers
            rest.removeFirst(half)
            return rest.byteCount == 0 ? half : half + (try base.read(at: offset + UInt64(half), into: rest))
        }.inProcessOnly(),
        .opening(
            "fetch-by-window", "Each window, and each chunk, is a request of its own.", flag: .minimalFetch,
            source: "docs/method/conformance.md, \"Reading rules\""
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            try right(
                ReaderSetup(.freshBuffers(windowByteCount: setup.windowByteCount), setup.supply), source, strategy, key)
        }.inProcessOnly(),
        .opening(
            "fetch-all-to-open", "Opening touches the file's start.", flag: .minimalFetch,
            source: "PROTOCOL.md, \"Served sources\""
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            try source.touch(at: 0)
            return try right(setup, source, strategy, key)
        },
    ]

    private static let early = DecryptionError.truncatedCiphertext(byteCount: 0, expected: "injected")

    private static func read(
        _ source: any ByteSource, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer, _ done: Int
    ) throws(DecryptionError) -> Int {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = try source.read(at: offset + UInt64(done), into: FetchBuffers(rest))
        // An empty read is an early end; another mutant covers that fault.
        if count == 0, rest.count > 0 { throw early }
        return count
    }

    private static func fetching(
        _ name: String, _ summary: String, flag: VectorFlag, source: String, _ fetch: @escaping TextbookRules.Fetch
    ) -> Mutant {
        .textbook(name, summary, flag: flag, source: source) { $0.fetch = fetch }
    }

    private static func catching(
        _ name: String, _ summary: String, flag: VectorFlag, source: String,
        _ body:
            @escaping @Sendable (DecryptionError, UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int
    ) -> Mutant {
        .reading(name, summary, flag: flag, source: source) { (base, offset, buffer) throws(DecryptionError) in
            do throws(DecryptionError) {
                return try base.read(at: offset, into: buffer)
            } catch {
                return try body(error, buffer)
            }
        }
    }
}

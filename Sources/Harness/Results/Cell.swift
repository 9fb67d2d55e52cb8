internal import Support

/// One measured configuration: subject × strategy × chunk × window × workload × threads.
///
/// All members are plain values, so that a cell can be written to a result file, compared and sorted; `id` tells two
/// cells of a run apart and is what a resumed sweep recognises finished work by.
public struct Cell: Codable, Hashable, Sendable {
    /// The backend's name, such as `openssl`.
    public var backend: String

    /// The strategy's text, such as `cbc-chunked:chunk=64KiB`: what is usual is left out, and so is the IV.
    public var strategy: String

    /// The plaintext bytes of a full chunk, which follow from the strategy; `nil` where the format has one chunk, the
    /// file.
    public var chunkByteCount: UInt64?

    /// The plaintext bytes that the reader decrypts in one step.
    public var windowByteCount: UInt64

    /// The workload as it is written on the command line: `sequential`, `random:` and a size such as `random:4KiB`, or
    /// `trace:` and a player trace's name.
    public var workload: String

    /// The reads of one iteration of a random workload or a trace; `nil` for a sequential one.
    public var readCount: Int?

    /// How the reader gets from a range to ciphertext: `block` (only the blocks that cover the range),
    /// `chunk-cache` (whole chunks, the latest one kept), `whole-chunk` (none kept) or `fresh-buffers` (new buffers for
    /// each window).
    public var access: String

    /// The number of threads that read at once.
    public var threads: Int

    /// The length of the chunks' key in bytes.
    public var keyByteCount: Int

    /// The cipher, such as `chacha20-poly1305`; `nil` of AES in a mode with a key of 16, 24 or 32 bytes.
    public var cipher: String?

    /// The plaintext length of the object that is read, in bytes.
    public var objectByteCount: UInt64

    /// Where the ciphertext comes from: `file`, `mmap`, `generated`, `http` or `https`; of a server with what is
    /// unusual about it in parentheses, such as `https (--allow-any-root)`.
    public var source: String

    /// Whether the file is dropped from the page cache before each iteration; `nil` for one that stays.
    public var isCold: Bool?

    /// The nanoseconds that a simulated remote store takes to answer; `nil` without one.
    public var remoteLatencyNanoseconds: UInt64?

    /// The bytes per second of a simulated remote store; `nil` where bytes take no time.
    public var remoteBytesPerSecond: UInt64?

    /// The client that asks a simulated remote store, by its name (`chunkwise` or `serial`); `nil` without a store, and
    /// in files from before there was a choice, whose client was `serial`.
    public var remoteClient: String?

    /// A name for what this cell reproduces, such as `100 MiB as published`; `nil` for an ordinary cell.
    public var label: String?

    /// Creates a cell.
    public init(
        backend: String, strategy: String, chunkByteCount: UInt64? = nil, windowByteCount: UInt64,
        workload: String = "sequential",
        readCount: Int? = nil, access: String = "block", threads: Int = 1, keyByteCount: Int = 16,
        objectByteCount: UInt64,
        source: String = "file", label: String? = nil
    ) {
        (self.backend, self.access, self.threads, self.label) = (backend, access, threads, label)
        (self.strategy, self.chunkByteCount, self.keyByteCount) = (strategy, chunkByteCount, keyByteCount)
        (self.objectByteCount, self.source) = (objectByteCount, source)
        (self.windowByteCount, self.workload, self.readCount) = (windowByteCount, workload, readCount)
    }

    /// The checks of TLS that were given up for it, by their options; none for a source that is as safe as can be.
    public var tlsAllowances: [String] {
        source.split { " ()".contains($0) }.filter { $0.hasPrefix("--allow-") }.map(String.init)
    }

    /// The name of the strategy's format, without parameters.
    package var format: String { String(strategy.prefix { $0 != ":" }) }

    /// A text that is the same for equal cells and different for different ones, whatever the label.
    public var id: String { parts(isExact: true).joined(separator: " ") }

    /// The cell with its sizes and times as people write them: `window=64KiB`, `latency=20ms`.
    package var name: String { nameParts.joined(separator: " ") }

    /// The key as a word of names: `aes128`, or the cipher and the key's bits.
    package var keyWord: String { cipher == nil ? "aes\(keyByteCount * 8)" : keyName }

    /// The key in texts: `AES-128`, or the cipher and the key's bits.
    package var keyName: String { KeyName.text(cipher, byteCount: keyByteCount) }

    /// The length of the AES key in bytes; 0 of another cipher, whose speed the AES unit does not limit.
    package var aesKeyByteCount: Int { cipher == nil ? keyByteCount : 0 }

    /// The words of ``name``.
    package var nameParts: [String] { parts(isExact: false) }

    /// The words of ``id``, or those of ``name``, whose sizes and times have units.
    private func parts(isExact: Bool) -> [String] {
        func size(_ count: UInt64) -> String { isExact ? "\(count)" : "\(ByteSize(count))" }
        func time(_ nanoseconds: UInt64) -> String {
            isExact ? "\(nanoseconds)ns" : TimeText.text(nanoseconds: nanoseconds)
        }
        var parts = [backend, keyWord, strategy]
        parts += ["window=\(size(windowByteCount))", workload]
        if let readCount { parts.append("reads=\(readCount)") }
        parts += [access, "threads=\(threads)", "object=\(size(objectByteCount))", source]
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds { parts.append("latency=\(time(remoteLatencyNanoseconds))") }
        if let remoteBytesPerSecond { parts.append("bandwidth=\(size(remoteBytesPerSecond))\(isExact ? "B/s" : "/s")") }
        if let remoteClient { parts.append("client=\(remoteClient)") }
        return parts
    }

    private enum Key: String, CodingKey {
        case backend, strategy, chunkByteCount, windowByteCount, workload, readCount, access, threads
        case keyByteCount, objectByteCount, source, isCold, remoteLatencyNanoseconds, remoteBytesPerSecond, label
        case remoteClient, cipher
    }

    /// Reads a cell, in whatever file it stands.
    ///
    /// - Throws: `DecodingError`, also for numbers that no cell has: files come from anywhere.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func required<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        func optional<Value: Decodable>(_ key: Key) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        (backend, strategy, workload) = (try required(.backend), try required(.strategy), try required(.workload))
        (access, source, threads) = (try required(.access), try required(.source), try required(.threads))
        (keyByteCount, cipher) = (try required(.keyByteCount), try optional(.cipher))
        objectByteCount = try required(.objectByteCount)
        (windowByteCount, chunkByteCount) = (try required(.windowByteCount), try optional(.chunkByteCount))
        (readCount, label, isCold) = (try optional(.readCount), try optional(.label), try optional(.isCold))
        (remoteLatencyNanoseconds, remoteClient) = (
            try optional(.remoteLatencyNanoseconds), try optional(.remoteClient)
        )
        remoteBytesPerSecond = try optional(.remoteBytesPerSecond)
        guard isPlausible else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected numbers that a cell can have"))
        }
    }

    /// Whether arithmetic on the cell's numbers stays in bounds.
    var isPlausible: Bool {
        (1...1 << 20).contains(keyByteCount) && (1...1 << 16).contains(threads)
            && (0...1 << 32).contains(readCount ?? 0)
            && objectByteCount < 1 << 62 && windowByteCount < 1 << 62 && (chunkByteCount ?? 0) < 1 << 62
            && (remoteLatencyNanoseconds ?? 0) < 1 << 62 && (remoteBytesPerSecond ?? 1) > 0
    }

    /// The cell in words, without what is usual, and without what a gate leaves to the commands that it compares:
    /// backend, access and threads.
    package var gateName: String {
        let usual: Set = ["aes128", "sequential", access, "threads=\(threads)", "file"]
        return nameParts.dropFirst().filter { word in
            !usual.contains(word) && !(word.hasPrefix("window=") && workload.hasPrefix("random:"))
        }.joined(separator: " ")
    }
}

/// The name of a key with its cipher.
package enum KeyName {
    /// `AES-128`, or, of a cipher that is not AES in a mode, `chacha20-poly1305-256`.
    package static func text(_ cipher: String?, byteCount: Int) -> String {
        "\(cipher ?? "AES")-\(byteCount.multipliedReportingOverflow(by: 8).partialValue)"
    }
}

extension Cell {
    /// Whether ciphertext is in memory, or computed there, and nothing is waited for.
    package var isLocal: Bool {
        isCold != true && remoteLatencyNanoseconds == nil && !source.hasPrefix("http")
            && !["direct", "uring"].contains(source)
    }
}

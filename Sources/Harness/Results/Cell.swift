public import Support

/// One measured configuration: subject × strategy × chunk × window × workload × threads.
///
/// All members are plain values, so that a cell can be written to a result file, compared and sorted. `id` tells the
/// cells of a run apart. A resumed sweep recognises finished work by it.
public struct Cell: Codable, Hashable, Sendable {
    /// The backend's name, such as `openssl`.
    public var backend: String

    /// The strategy's text, such as `cbc-chunked:chunk=64KiB`. It leaves out default values and the IV.
    public var strategy: String

    /// The plaintext bytes of a full chunk, which follow from the strategy; `nil` if the file is one chunk.
    public var chunkByteCount: UInt64?

    /// The plaintext bytes that the reader decrypts in one step.
    public var windowByteCount: UInt64

    /// The workload as it is written on the command line: `sequential`, `random:` and a size such as `random:4KiB`, or
    /// `trace:` and a player trace's name.
    public var workload: String

    /// The reads of one iteration of a random workload or a trace; `nil` for a sequential one.
    public var readCount: Int?

    /// The way in which the reader gets from a range to ciphertext.
    public var access: AccessPolicy

    /// The number of threads that read at the same time.
    public var threads: Int

    /// The length of the chunks' key in bytes.
    public var keyByteCount: Int

    /// The cipher, such as `chacha20-poly1305`; `nil` for AES in a mode with a key of 16, 24 or 32 bytes.
    public var cipher: String?

    /// The plaintext length of the object that is read, in bytes.
    public var objectByteCount: UInt64

    /// The source of the ciphertext: `file`, `mmap`, `direct`, `uring`, `generated`, `http` or `https`.
    public var source: String

    /// The unusual options of the connections to a server; `nil` for the usual ones, and for another source.
    public var connection: Connection?

    /// True if the file is dropped from the page cache before each iteration; `nil` for a file that stays in it.
    public var isCold: Bool?

    /// The latency of a simulated remote store in nanoseconds; `nil` without one.
    public var remoteLatencyNanoseconds: UInt64?

    /// The bytes per second of a simulated remote store; `nil` if its bytes take no time.
    public var remoteBytesPerSecond: UInt64?

    /// The name of the client of a simulated remote store (`chunkwise` or `serial`); `nil` without a store.
    public var remoteClient: String?

    /// The name of the experiment that this cell reproduces, such as `100 MiB as published`; `nil` for an ordinary
    /// cell.
    public var label: String?

    /// A cell without cipher, connection, cold reads and remote store, which are set later.
    public init(
        backend: String, strategy: String, chunkByteCount: UInt64? = nil, windowByteCount: UInt64,
        workload: String = "sequential",
        readCount: Int? = nil, access: AccessPolicy = .block, threads: Int = 1, keyByteCount: Int = 16,
        objectByteCount: UInt64,
        source: String = "file", label: String? = nil
    ) {
        (self.backend, self.access, self.threads, self.label) = (backend, access, threads, label)
        (self.strategy, self.chunkByteCount, self.keyByteCount) = (strategy, chunkByteCount, keyByteCount)
        (self.objectByteCount, self.source) = (objectByteCount, source)
        (self.windowByteCount, self.workload, self.readCount) = (windowByteCount, workload, readCount)
    }

    /// The TLS checks that the user disabled for the source, by their options; empty for a source with all checks.
    public var tlsAllowances: [String] { connection?.tlsAllowances ?? [] }

    /// The source with its unusual options in parentheses, as in `https (--allow-any-root)`.
    package var sourceName: String { Connection.name(of: source, with: connection) }

    /// The length of the reads of a random workload; `nil` for another one.
    package var rangeByteCount: UInt64? { CellWorkload(workload)?.rangeByteCount }

    /// The name of the strategy's format, without parameters.
    package var format: String { String(strategy.prefix { $0 != ":" }) }

    /// A text that is equal for equal cells and different for different ones; the label does not count.
    public var id: String { parts(isExact: true).joined(separator: " ") }

    /// The cell as a text with units for sizes and times: `window=64KiB`, `latency=20ms`.
    package var name: String { nameParts.joined(separator: " ") }

    /// The key as a word of names: `aes128`, or the cipher and the key's bits.
    package var keyWord: String { cipher == nil ? "aes\(keyByteCount * 8)" : keyName }

    /// The key in texts: `AES-128`, or the cipher and the key's bits.
    package var keyName: String { KeyName.text(cipher, byteCount: keyByteCount) }

    /// The length of the AES key in bytes; 0 for another cipher, whose speed the AES unit does not limit.
    package var aesKeyByteCount: Int { cipher == nil ? keyByteCount : 0 }

    /// The words of ``name``.
    package var nameParts: [String] { parts(isExact: false) }

    /// Returns the words of ``id`` if exact, and otherwise those of ``name``, whose sizes and times have units.
    private func parts(isExact: Bool) -> [String] {
        func size(_ count: UInt64) -> String { isExact ? "\(count)" : "\(ByteSize(count))" }
        func time(_ nanoseconds: UInt64) -> String {
            isExact ? "\(nanoseconds)ns" : TimeText.text(nanoseconds: nanoseconds)
        }
        var parts = [backend, keyWord, strategy]
        parts += ["window=\(size(windowByteCount))", workload]
        if let readCount { parts.append("reads=\(readCount)") }
        parts += [access.rawValue, "threads=\(threads)", "object=\(size(objectByteCount))", sourceName]
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds { parts.append("latency=\(time(remoteLatencyNanoseconds))") }
        if let remoteBytesPerSecond { parts.append("bandwidth=\(size(remoteBytesPerSecond))\(isExact ? "B/s" : "/s")") }
        if let remoteClient { parts.append("client=\(remoteClient)") }
        return parts
    }

    private enum Key: String, CodingKey {
        case backend, strategy, chunkByteCount, windowByteCount, workload, readCount, access, threads
        case keyByteCount, objectByteCount, source, isCold, remoteLatencyNanoseconds, remoteBytesPerSecond, label
        case remoteClient, cipher, connection
    }

    /// Reads a cell of any file.
    ///
    /// - Throws: `DecodingError`, also for numbers that no cell has, because files are not trusted.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func required<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        func optional<Value: Decodable>(_ key: Key) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        (backend, strategy, workload) = (try required(.backend), try required(.strategy), try required(.workload))
        (access, source, threads) = (try required(.access), try required(.source), try required(.threads))
        connection = try optional(.connection)
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

    /// True if arithmetic on the cell's numbers cannot overflow.
    var isPlausible: Bool {
        (1...1 << 20).contains(keyByteCount) && (1...1 << 16).contains(threads)
            && (0...1 << 32).contains(readCount ?? 0)
            && objectByteCount < 1 << 62 && windowByteCount < 1 << 62 && (chunkByteCount ?? 0) < 1 << 62
            && (remoteLatencyNanoseconds ?? 0) < 1 << 62 && (remoteBytesPerSecond ?? 1) > 0
    }

    /// The cell in words, without default values. It also lacks backend, access and threads: the commands that a gate
    /// compares decide these.
    package var gateName: String {
        let usual: Set = ["aes128", "sequential", access.rawValue, "threads=\(threads)", "file"]
        return nameParts.dropFirst().filter { word in
            !usual.contains(word) && !(word.hasPrefix("window=") && rangeByteCount != nil)
        }.joined(separator: " ")
    }
}

/// The unusual options of the connections to a server.
public struct Connection: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The checks of the server's certificate that the user disabled, by their options.
    public var tlsAllowances: [String]
    /// True if connections are kept from one range to the next.
    public var isKept: Bool
    /// The number of ranges in flight while reads are in order; `nil` for the default.
    public var readAheadDepth: Int?

    /// The options; `nil` if all are usual.
    package init?(tlsAllowances: [String], isKept: Bool, readAheadDepth: Int?) {
        (self.tlsAllowances, self.isKept, self.readAheadDepth) = (tlsAllowances, isKept, readAheadDepth)
        guard !tlsAllowances.isEmpty || !isKept || readAheadDepth != nil else { return nil }
    }

    /// Returns a source with its unusual options in parentheses.
    package static func name(of source: String, with connection: Connection?) -> String {
        connection.map { "\(source) (\($0))" } ?? source
    }

    /// The options as on a command line. Disabled checks come first.
    public var description: String {
        (tlsAllowances + (isKept ? [] : ["--no-reuse"]) + (readAheadDepth.map { ["--read-ahead", "\($0)"] } ?? []))
            .joined(separator: " ")
    }
}

/// The names of keys with their ciphers.
package enum KeyName {
    /// Returns `AES-128`, or, for a cipher that is not AES in a mode, `chacha20-poly1305-256`.
    package static func text(_ cipher: String?, byteCount: Int) -> String {
        "\(cipher ?? "AES")-\(byteCount.multipliedReportingOverflow(by: 8).partialValue)"
    }
}

extension Cell {
    /// True if ciphertext is in memory or computed there, so that reads do not wait.
    package var isLocal: Bool {
        isCold != true && remoteLatencyNanoseconds == nil && !source.hasPrefix("http")
            && !["direct", "uring"].contains(source)
    }
}

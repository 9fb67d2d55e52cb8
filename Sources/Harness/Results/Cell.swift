internal import Support

/// One measured configuration: subject × strategy × chunk × window × workload × threads.
///
/// All members are plain values, so that a cell can be written to a result file, compared and sorted; `id` tells two
/// cells of a run apart and is what a resumed sweep recognises finished work by.
public struct Cell: Codable, Hashable, Sendable {
    /// The backend's name, such as `openssl`.
    public var backend: String

    /// The strategy's name, such as `cbc-continuous`.
    public var strategy: String

    /// The IV rule of `cbc-chunked` (`fixed` or `sequence`); `nil` for strategies without one.
    public var ivRule: String?

    /// The padding of CBC strategies (`pkcs7` or `none`); `nil` for strategies without one.
    public var padding: String?

    /// The plaintext bytes of a full chunk, or `nil` where the format has one chunk, the file.
    public var chunkByteCount: UInt64?

    /// What a Cobblestone object is bound to, in hexadecimal; `nil` for nothing.
    public var context: String?

    /// What a Tink object is bound to, in hexadecimal; `nil` for nothing.
    public var associatedData: String?

    /// The plaintext bytes that the reader decrypts in one step.
    public var windowByteCount: UInt64

    /// The workload as it is written on the command line: `sequential`, `random:` and a size such as `random:4KiB`, or
    /// `trace:` and a player trace's name.
    public var workload: String

    /// The reads of one iteration of a random workload or a trace; `nil` for a sequential one.
    public var readCount: Int?

    /// How the reader gets from a range to ciphertext: `block` (only the blocks that cover the range),
    /// `chunk-cache` (whole chunks, the latest one kept), `whole-chunk` (none kept) or `fresh-buffers` (new buffers for each window).
    public var access: String

    /// The number of threads that read at once.
    public var threads: Int

    /// The AES key's length in bytes: 16, 24 or 32.
    public var keyByteCount: Int

    /// The plaintext length of the object that is read, in bytes.
    public var objectByteCount: UInt64

    /// Where the ciphertext comes from: `file`, `mmap`, `generated`, `http` or `https`; of a server with what is unusual
    /// about it in parentheses, such as `https (--allow-any-root)`.
    public var source: String

    /// Whether the file is dropped from the page cache before each iteration; `nil` for one that stays.
    public var isCold: Bool?

    /// The nanoseconds that a simulated remote store takes to answer; `nil` without one.
    public var remoteLatencyNanoseconds: UInt64?

    /// The bytes per second of a simulated remote store; `nil` where bytes take no time.
    public var remoteBytesPerSecond: UInt64?

    /// The client that asks a simulated remote store, by its name (`chunkwise` or `serial`); `nil` without a store, and in
    /// files from before there was a choice, whose client was `serial`.
    public var remoteClient: String?

    /// A name for what this cell reproduces, such as `100 MiB as published`; `nil` for an ordinary cell.
    public var label: String?

    /// Creates a cell.
    public init(
        backend: String, strategy: String, ivRule: String? = nil, padding: String? = nil, chunkByteCount: UInt64? = nil,
        windowByteCount: UInt64, workload: String = "sequential", readCount: Int? = nil, access: String = "block",
        threads: Int = 1,
        keyByteCount: Int = 16, objectByteCount: UInt64, source: String = "file", label: String? = nil
    ) {
        self.backend = backend
        self.strategy = strategy
        self.ivRule = ivRule
        self.padding = padding
        self.chunkByteCount = chunkByteCount
        self.windowByteCount = windowByteCount
        self.workload = workload
        self.readCount = readCount
        self.access = access
        self.threads = threads
        self.keyByteCount = keyByteCount
        self.objectByteCount = objectByteCount
        self.source = source
        self.label = label
    }

    /// The checks of TLS that were given up for it, by their options; none for a source that is as safe as can be.
    public var tlsAllowances: [String] {
        source.split { " ()".contains($0) }.filter { $0.hasPrefix("--allow-") }.map(String.init)
    }

    /// A text that is the same for equal cells and different for different ones, whatever the label.
    public var id: String { parts(isExact: true).joined(separator: " ") }

    /// The cell with its sizes and times as people write them: `window=64KiB`, `latency=20ms`.
    package var name: String { nameParts.joined(separator: " ") }

    /// The words of ``name``.
    package var nameParts: [String] { parts(isExact: false) }

    /// The words of ``id``, or those of ``name``, whose sizes and times have units.
    private func parts(isExact: Bool) -> [String] {
        func size(_ count: UInt64) -> String { isExact ? "\(count)" : "\(ByteSize(count))" }
        func time(_ nanoseconds: UInt64) -> String {
            isExact ? "\(nanoseconds)ns" : TimeText.text(nanoseconds: nanoseconds)
        }
        var parts = [backend, "aes\(keyByteCount * 8)", strategy]
        if let ivRule { parts.append(ivRule) }
        if let padding { parts.append(padding) }
        if let chunkByteCount { parts.append("chunk=\(size(chunkByteCount))") }
        parts += bindings + ["window=\(size(windowByteCount))", workload]
        if let readCount { parts.append("reads=\(readCount)") }
        parts += [access, "threads=\(threads)", "object=\(size(objectByteCount))", source]
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds { parts.append("latency=\(time(remoteLatencyNanoseconds))") }
        if let remoteBytesPerSecond { parts.append("bandwidth=\(size(remoteBytesPerSecond))\(isExact ? "B/s" : "/s")") }
        if let remoteClient { parts.append("client=\(remoteClient)") }
        return parts
    }

    private enum Key: String, CodingKey {
        case backend, strategy, ivRule, padding, chunkByteCount, windowByteCount, workload, readCount, access, threads
        case keyByteCount, objectByteCount, source, isCold, remoteLatencyNanoseconds, remoteBytesPerSecond, label
        case context, associatedData, remoteClient
    }

    /// Reads a cell, in whatever file it stands.
    ///
    /// - Throws: `DecodingError`, also for numbers that no cell has: files come from anywhere.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func optional<Value: Decodable>(_ key: Key) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            backend: try members.decode(String.self, forKey: .backend),
            strategy: try members.decode(String.self, forKey: .strategy), ivRule: try optional(.ivRule),
            padding: try optional(.padding), chunkByteCount: try optional(.chunkByteCount),
            windowByteCount: try members.decode(UInt64.self, forKey: .windowByteCount),
            workload: try members.decode(String.self, forKey: .workload), readCount: try optional(.readCount),
            access: try members.decode(String.self, forKey: .access),
            threads: try members.decode(Int.self, forKey: .threads),
            keyByteCount: try members.decode(Int.self, forKey: .keyByteCount),
            objectByteCount: try members.decode(UInt64.self, forKey: .objectByteCount),
            source: try members.decode(String.self, forKey: .source), label: try optional(.label))
        isCold = try optional(.isCold)
        remoteLatencyNanoseconds = try optional(.remoteLatencyNanoseconds)
        remoteBytesPerSecond = try optional(.remoteBytesPerSecond)
        remoteClient = try optional(.remoteClient)
        context = try optional(.context)
        associatedData = try optional(.associatedData)
        guard isPlausible else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected numbers that a cell can have"))
        }
    }

    /// Whether arithmetic on the cell's numbers stays in bounds.
    var isPlausible: Bool {
        [context, associatedData].allSatisfy { $0.map { Hexadecimal.decode($0) != nil } ?? true }
            && [16, 24, 32].contains(keyByteCount) && (1...1 << 16).contains(threads)
            && (0...1 << 32).contains(readCount ?? 0)
            && objectByteCount < 1 << 62 && windowByteCount < 1 << 62 && (chunkByteCount ?? 0) < 1 << 62
            && (remoteLatencyNanoseconds ?? 0) < 1 << 62 && (remoteBytesPerSecond ?? 1) > 0
    }

    private var bindings: [String] {
        [("context", context), ("associated-data", associatedData)].compactMap { name, value in
            value.map { "\(name)=\($0)" }
        }
    }

    /// The cell in words, without what a gate leaves to the commands that it compares: backend, access and threads.
    package var gateName: String {
        var parts = [strategy]
        if let chunkByteCount { parts.append("chunk=\(ByteSize(chunkByteCount))") }
        if let ivRule, ivRule != "sequence" { parts.append("iv=\(ivRule)") }
        if let padding, padding != "pkcs7" { parts.append("padding=\(padding)") }
        parts += bindings
        if keyByteCount != 16 { parts.append("aes\(keyByteCount * 8)") }
        if workload == "sequential" {
            parts.append("window=\(ByteSize(windowByteCount))")
        } else {
            parts.append(workload)
            if let readCount { parts.append("reads=\(readCount)") }
            if workload.hasPrefix("trace:") { parts.append("window=\(ByteSize(windowByteCount))") }
        }
        parts.append("object=\(ByteSize(objectByteCount))")
        if source != "file" { parts.append(source) }
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds {
            parts.append("latency=\(TimeText.text(nanoseconds: remoteLatencyNanoseconds))")
        }
        if let remoteClient { parts.append("client=\(remoteClient)") }
        return parts.joined(separator: " ")
    }
}

extension Cell {
    /// Whether ciphertext is in memory, or computed there, and nothing is waited for.
    package var isLocal: Bool {
        isCold != true && remoteLatencyNanoseconds == nil && !source.hasPrefix("http")
            && !["direct", "uring"].contains(source)
    }
}

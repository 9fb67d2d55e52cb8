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

    /// A name for what this cell reproduces, such as `article 004 as published`; `nil` for an ordinary cell.
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
    public var id: String {
        var parts = [backend, "aes\(keyByteCount * 8)", strategy]
        if let ivRule { parts.append(ivRule) }
        if let padding { parts.append(padding) }
        if let chunkByteCount { parts.append("chunk=\(chunkByteCount)") }
        parts += ["window=\(windowByteCount)", workload]
        if let readCount { parts.append("reads=\(readCount)") }
        parts += [access, "threads=\(threads)", "object=\(objectByteCount)", source]
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds { parts.append("latency=\(remoteLatencyNanoseconds)ns") }
        if let remoteBytesPerSecond { parts.append("bandwidth=\(remoteBytesPerSecond)B/s") }
        return parts.joined(separator: " ")
    }
}

extension Cell {
    /// The cell in words, without what a gate leaves to the commands that it compares: backend, access and threads.
    package var gateName: String {
        var parts = [strategy]
        if let chunkByteCount { parts.append("chunk=\(ByteSize(chunkByteCount))") }
        if let ivRule, ivRule != "sequence" { parts.append("iv=\(ivRule)") }
        if let padding, padding != "pkcs7" { parts.append("padding=\(padding)") }
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
        if let remoteLatencyNanoseconds { parts.append("latency=\(remoteLatencyNanoseconds)ns") }
        return parts.joined(separator: " ")
    }
}

package import RandomAccess
internal import Support

/// Whose memory is examined.
package enum MemorySubject: Sendable {
    /// One of our readers over a backend.
    ///
    /// - Parameters:
    ///   - program: The command that starts a subject, to which the reader's options are added.
    ///   - backend: The backend.
    case own(program: [String], backend: any CipherBackend)
    /// A program that speaks the subject protocol, as a command for `/bin/sh -c`.
    case foreign(command: String)

    /// What starts it.
    func command(_ reader: MemoryReader) -> [String] {
        switch self {
        case .own(let program, let backend):
            program + [
                "--backend", backend.name, "--access", reader.access.rawValue, "--window", "\(reader.windowByteCount)",
                "--threads", "\(reader.threadCount)",
            ]
        case .foreign(let command): ["/bin/sh", "-c", command]
        }
    }

    /// What it is called before it said so itself.
    package var name: String {
        switch self {
        case .own(_, let backend): backend.name
        case .foreign(let command): command
        }
    }

    var isOwn: Bool {
        if case .own = self { true } else { false }
    }
}

/// How one of our readers is set up for a check; foreign subjects are set up as they are.
struct MemoryReader: Hashable, Sendable, CustomStringConvertible {
    var access = AccessPolicy.block
    var windowByteCount: UInt64 = 256 << 10
    var threadCount = 1

    var description: String {
        "\(access.rawValue), \(ByteSize(windowByteCount)) × \(threadCount)"
    }

    /// Small and large windows, several threads, and each way to read.
    static let examined: [MemoryReader] = [
        MemoryReader(windowByteCount: 4 << 10), MemoryReader(windowByteCount: 256 << 10, threadCount: 2),
        MemoryReader(windowByteCount: 4 << 20, threadCount: 4), MemoryReader(windowByteCount: 16 << 20),
        MemoryReader(access: .chunkCache, windowByteCount: 4 << 20),
        MemoryReader(access: .freshBuffers, windowByteCount: 4 << 20, threadCount: 2),
    ]
}

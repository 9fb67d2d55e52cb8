import Glibc
import RandomAccess
import Synchronization

/// A program that prints a key: 16 raw bytes on its standard output, and nothing else.
///
/// Its last argument is the key's URI; a URI that looks like an option is refused. Its standard input is empty, and its
/// standard error is this process's.
public struct CommandKeys: KeyProvider {
    private let command: [String]
    private let name: String
    private let deadline: Duration

    /// A provider that starts a program when a key is requested.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its first arguments.
    ///   - name: The program's name in errors; `nil` for its path.
    ///   - deadline: The time after which it is killed.
    public init(command: [String], name: String? = nil, deadline: Duration = .seconds(10)) {
        self.command = command
        self.name = name ?? command.first ?? ""
        self.deadline = deadline
    }

    /// Runs the program; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        ProvidedKey(try keys(for: [uri])[0])
    }

    /// Runs the program for several keys; it prints their bytes one behind the other.
    ///
    /// - Parameter uris: The keys' URIs, at least one.
    /// - Returns: The keys in the same order.
    /// - Throws: `KeyError`.
    func keys(for uris: [String]) throws(KeyError) -> [SecretKey] {
        guard !(command.first ?? "").isEmpty else {
            throw .commandFailed(command: "\"\"", reason: "is empty: expected a program")
        }
        // A NUL would end the argument early.
        guard !(command + uris).contains(where: { $0.utf8.contains(0) }) else {
            throw .commandFailed(command: name, reason: "would get an argument with a NUL character")
        }
        guard uris.allSatisfy(takes) else {
            throw .commandFailed(
                command: name, reason: "would take the URI for an option: expected one that does not begin with -")
        }
        let bytes = KeyBytes()
        let run = try KeyCommandRun(command + uris, name: name)
        try run.finish(into: bytes, deadline: deadline)
        return try bytes.keys(uris.count, location: "what key command \(name) printed")
    }

    /// Returns whether a URI can be an argument of the program. After `--`, it may begin with a hyphen.
    ///
    /// - Source: POSIX.1-2017, section 12.2, guidelines 4 and 10.
    fileprivate func takes(_ uri: String) -> Bool {
        !uri.utf8.contains(0) && (uri.utf8.first != UInt8(ascii: "-") || command.last == "--")
    }
}

/// A program that prints several keys at once: 16 raw bytes each on its standard output, and nothing else.
///
/// Its last arguments are the keys' URIs. It gets the keys that a playlist will need together, so that the program
/// starts, and asks its server, once for many keys. If one of them is missing, the requested key is asked for alone. If
/// the server cannot be reached, all of them fail with that error.
/// server cannot be reached, none is.
public final class BatchCommandKeys: KeyProvider {
    private struct State {
        /// The URIs of the keys that will be requested, in order.
        var expected: [String] = []
        /// The answers that came with other keys and were not requested yet.
        var answers: [String: Result<SecretKey, KeyError>] = [:]
    }

    /// The max number of keys per start of the program.
    private static let maxKeys = 32

    private let single: CommandKeys
    private let state = Mutex(State())

    /// A provider that starts a program when a key is requested.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its first arguments.
    ///   - name: The program's name in errors; `nil` for its path.
    ///   - deadline: The time after which it is killed.
    public init(command: [String], name: String? = nil, deadline: Duration = .seconds(10)) {
        single = CommandKeys(command: command, name: name, deadline: deadline)
    }

    /// Remembers keys to request together with others; see `KeyProvider.expect(_:)`.
    public func expect(_ uris: [String]) {
        state.withLock { state in
            let known = Set(state.expected)
            state.expected += uris.filter { !known.contains($0) && state.answers[$0] == nil && single.takes($0) }
        }
    }

    /// Returns an earlier answer, or runs the program; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let (known, others) = state.withLock { state -> (Result<SecretKey, KeyError>?, [String]) in
            if let answer = state.answers.removeValue(forKey: uri) { return (answer, []) }
            guard state.expected.contains(uri) else { return (nil, []) }
            state.expected.removeAll { $0 == uri }
            let others = Array(state.expected.prefix(Self.maxKeys - 1))
            state.expected.removeFirst(others.count)
            return (nil, others)
        }
        if let known { return ProvidedKey(try known.get()) }
        guard !others.isEmpty else { return try single.key(for: uri) }
        do throws(KeyError) {
            let keys = try single.keys(for: [uri] + others)
            keep(zip(others, keys.dropFirst().map { .success($0) }))
            return ProvidedKey(keys[0])
        } catch {
            guard case .notFetched = error else { return try single.key(for: uri) }
            keep(others.map { ($0, .failure(error)) })
            throw error
        }
    }

    private func keep(_ answers: some Sequence<(String, Result<SecretKey, KeyError>)>) {
        state.withLock { $0.answers.merge(answers) { $1 } }
    }
}

/// A running key command.
struct KeyCommandRun {
    private let name: String
    private let processID: pid_t
    private let output: Int32

    /// Without this lock, a command that starts at the same time could inherit the write end of the pipe.
    private static let oneAtATime = Mutex(())

    /// Starts a command in a process group of its own. The corresponding C function is `posix_spawnp`.
    ///
    /// - Throws: `KeyError.commandFailed`.
    init(_ command: [String], name: String) throws(KeyError) {
        self = try Self.oneAtATime.withLock { (_) throws(KeyError) in try KeyCommandRun(alone: command, name: name) }
    }

    private init(alone command: [String], name: String) throws(KeyError) {
        func failed(_ code: Int32) -> KeyError {
            .commandFailed(command: name, reason: "cannot be started: \(String(cString: strerror(code)))")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failed(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A program expects default signal handling, whatever this process has set.
        var (none, ignored) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&ignored)
        for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&ignored, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var processID: pid_t = 0
        let code = posix_spawnp(&processID, command[0], &actions, &attributes, &arguments, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw failed(code)
        }
        self.name = name
        self.processID = processID
        self.output = ends[0]
    }

    /// Reads the command's output to its end, and makes sure that the command ends.
    ///
    /// - Throws: `KeyError.commandFailed` if the command misses the deadline or fails.
    func finish(into bytes: KeyBytes, deadline: Duration) throws(KeyError) {
        defer { close(output) }
        let end = ContinuousClock.now + deadline
        var isOpen = true
        while isOpen {
            let rest = ContinuousClock.now.duration(to: end)
            // A program that prints far more than a key is not a key command.
            guard rest > .zero, !bytes.free.isEmpty else { break }
            let milliseconds = min(
                Int64(1 << 30), rest.components.seconds * 1000 + 1 + rest.components.attoseconds / 1_000_000_000_000_000
            )
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&descriptor, 1, Int32(milliseconds))
            if ready < 0, errno != EINTR { break }
            guard ready > 0 else { continue }
            let count = read(output, bytes.free.baseAddress, bytes.free.count)
            if count > 0 { bytes.add(count) }
            if count == 0 { isOpen = false }
            if count < 0, errno != EINTR { break }
        }
        let status = wait(until: end, isReading: isOpen)
        guard let status else {
            guard bytes.free.isEmpty else {
                throw .commandFailed(command: name, reason: "did not end within \(deadline)")
            }
            // The wrong length will be the error.
            return
        }
        let signal = status & 0x7F
        guard signal == 0 else { throw .commandFailed(command: name, reason: "was ended by signal \(signal)") }
        let code = status >> 8 & 0xFF
        // Source: sysexits(3), EX_IOERR.
        guard code != 74 else {
            throw .notFetched(.io(operation: "run key command \(name)", code: 0, reason: "it ended with status 74"))
        }
        guard code == 0 else { throw .commandFailed(command: name, reason: "ended with status \(code): expected 0") }
    }

    /// Waits for the end of a command that has closed its output, or kills it and its children.
    ///
    /// - Returns: The status from `waitpid`; `nil` if the command was killed.
    private func wait(until end: ContinuousClock.Instant, isReading: Bool) -> Int32? {
        var status: Int32 = 0
        var pause: UInt32 = 100
        while !isReading {
            let ended = waitpid(processID, &status, WNOHANG)
            if ended == processID { return status }
            if ended < 0, errno != EINTR { return nil }
            guard ContinuousClock.now < end else { break }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
        kill(-processID, SIGKILL)
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        return nil
    }
}

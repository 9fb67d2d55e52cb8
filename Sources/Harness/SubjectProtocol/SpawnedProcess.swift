import Glibc
import Synchronization

/// A child process with pipes at its standard streams.
struct SpawnedProcess {
    /// The process ID.
    let processID: pid_t
    /// The descriptor of the pipe to the child's standard input.
    let input: Int32
    /// The descriptor of the pipe from the child's standard output.
    let output: Int32
    /// The descriptor of the pipe from the child's standard error.
    let errors: Int32

    /// Starts a program. The corresponding C function is `posix_spawnp`.
    ///
    /// - Throws: `SubjectError.notStarted`.
    init(command: [String]) throws(SubjectError) {
        self = try Self.oneAtATime.withLock { (_) throws(SubjectError) in try SpawnedProcess(alone: command) }
    }

    /// A child that another thread starts between `pipe` and `FD_CLOEXEC` would inherit this child's pipes and keep
    /// them open, so that the end of input would go unnoticed. Swift's C library module has no `pipe2`.
    private static let oneAtATime = Mutex(())

    private init(alone command: [String]) throws(SubjectError) {
        let name = command.first ?? ""
        func fail(_ code: Int32) -> SubjectError {
            .notStarted(command: name.isEmpty ? "an empty command" : name, reason: String(cString: strerror(code)))
        }
        guard !name.isEmpty else { throw fail(ENOENT) }
        var pipes: [[Int32]] = []
        func closeAll() {
            for pipe in pipes { for end in pipe { close(end) } }
        }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else {
                let code = errno
                closeAll()
                throw fail(code)
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append(ends)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2)
        // This process ignores SIGPIPE and SIGXFSZ, and its worker threads block all signals. A child should inherit
        // neither.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        // A process group of its own: Ctrl-C at the terminal reaches only this process, which ends its children in good
        // order.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var processID: pid_t = 0
        var code: Int32 = 0
        LiveProcesses.start {
            code = posix_spawnp(&processID, name, &actions, &attributes, &arguments, environ)
            return code == 0 ? processID : nil
        }
        guard code == 0 else {
            closeAll()
            throw fail(code)
        }
        close(pipes[0][0])
        close(pipes[1][1])
        close(pipes[2][1])
        self.processID = processID
        self.input = pipes[0][1]
        self.output = pipes[1][0]
        self.errors = pipes[2][0]
    }
}

/// The children of this process that have not been waited for.
///
/// Only this list knows them, since each child leads a process group: a signal that ends this process at once would
/// leave them running.
package enum LiveProcesses {
    private static let state = Mutex((numbers: Set<pid_t>(), isEnding: false))

    /// Starts a process with `spawn`. It holds the lock until the process is in the list.
    static func start(_ spawn: () -> pid_t?) {
        let isEnding = state.withLock { state in
            if !state.isEnding, let number = spawn() { state.numbers.insert(number) }
            return state.isEnding
        }
        if isEnding { waitForEnd() }
    }

    /// Removes a process that has been waited for: the kernel may soon reuse its ID.
    static func remove(_ processID: pid_t) {
        let isEnding = state.withLock { state in
            state.numbers.remove(processID)
            return state.isEnding
        }
        if isEnding { waitForEnd() }
    }

    /// Kills all of them, with the processes that they started. A thread that then starts a process, or removes one,
    /// waits for the end of this process. The corresponding C function is `kill`.
    package static func killAll() {
        state.withLock { state in
            state.isEnding = true
            for number in state.numbers { _ = kill(-number, SIGKILL) }
        }
    }

    private static func waitForEnd() {
        while true { sleep(1) }
    }
}

/// A command that has run to its end, and its output.
package struct CapturedCommand: Sendable {
    /// The bytes of its standard output.
    package let output: [UInt8]
    /// The end of its standard error.
    package let log: String
    /// The status that `waitpid` reported.
    package let status: Int32

    /// Runs a command with some environment variables added. The corresponding C functions are `posix_spawnp` and
    /// `waitpid`.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its arguments.
    ///   - environment: The variables to set in addition to those of this process.
    ///   - isInterrupted: Returns `true` to kill the command with the processes that it started; called at least twice
    ///     a second.
    /// - Throws: `SubjectError.notStarted`.
    package init(
        _ command: [String], environment: [String: String] = [:], isInterrupted: () -> Bool = { false }
    ) throws(SubjectError) {
        let settings = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let spawned = try SpawnedProcess(command: settings.isEmpty ? command : ["/usr/bin/env"] + settings + command)
        close(spawned.input)
        var output: [UInt8] = []
        var log: [UInt8] = []
        var descriptors = [spawned.output, spawned.errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // A descriptor below 0 has reached its end.
        while descriptors.contains(where: { $0.fd >= 0 }) {
            if poll(&descriptors, 2, 500) < 0, errno != EINTR { break }
            if isInterrupted() {
                // It leads its own group.
                kill(-spawned.processID, SIGKILL)
                break
            }
            for index in 0..<2 where descriptors[index].fd >= 0 && descriptors[index].revents != 0 {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(descriptors[index].fd, &buffer, buffer.count)
                if count > 0, index == 0 { output += buffer[..<count] }
                if count > 0, index == 1 { log = (log + buffer[..<count]).suffix(400) }
                if count == 0 { descriptors[index].fd = -1 }
            }
        }
        close(spawned.output)
        close(spawned.errors)
        var status: Int32 = 0
        while waitpid(spawned.processID, &status, 0) < 0, errno == EINTR {}
        LiveProcesses.remove(spawned.processID)
        self.output = output
        self.log = String(decoding: log, as: UTF8.self)
        self.status = status
    }
}

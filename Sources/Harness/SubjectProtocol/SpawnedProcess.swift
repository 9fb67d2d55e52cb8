import Glibc
import Synchronization

/// A child process with pipes at its standard streams.
struct SpawnedProcess {
    /// The process's number.
    let processID: pid_t
    /// Where the child reads from.
    let input: Int32
    /// Where the child writes to.
    let output: Int32
    /// Where the child logs to.
    let errors: Int32

    /// Starts a program. The corresponding C function is `posix_spawnp`.
    ///
    /// - Throws: `SubjectError.notStarted`.
    init(command: [String]) throws(SubjectError) {
        self = try Self.oneAtATime.withLock { (_) throws(SubjectError) in try SpawnedProcess(alone: command) }
    }

    /// A child that another thread starts between `pipe` and `FD_CLOEXEC` would hold this one's ends open, and hide its
    /// end. Swift's C library module has no `pipe2`.
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
        // This process ignores SIGPIPE; a child should not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A group of its own: Ctrl-C at the terminal is for this process, which ends its children in good order.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

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

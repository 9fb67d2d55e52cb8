import Glibc
import SystemPackage

/// Core dumps of processes that handle keys or plaintext.
package enum CoreDumps {
    /// Disables core dumps, and the crash reports of Swift's runtime, which show registers and the memory that they
    /// point to. This holds for this process and its children.
    ///
    /// Call it before other threads start and before signals are handled. The corresponding C functions are
    /// `setrlimit`, `signal` and `setenv`. Source: core(5), "Controlling which mappings are written to the core dump";
    /// Linux, `fs/coredump.c`; Swift, `docs/Backtracing.rst`.
    package static func disable() {
        limitCores()
        for crash in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            let before = signal(crash, SIG_DFL)
            // The parent process may have set it to be ignored.
            if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(crash, SIG_IGN) }
        }
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
    }

    /// Limits core files to one byte. That is too short for a core file, and tells a crash handler in `core_pattern` to
    /// write none, which a limit of 0 does not. As a second line of defence, core files leave out all memory.
    private static func limitCores() {
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) != 0 {
            // The limit may have been 0, which an unprivileged process cannot raise.
            limit.rlim_cur = 0
            limit.rlim_max = 0
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        }
        guard let filter = try? FileDescriptor.open("/proc/self/coredump_filter", .writeOnly) else { return }
        defer { try? filter.close() }
        _ = try? filter.writeAll("0".utf8)
    }
}

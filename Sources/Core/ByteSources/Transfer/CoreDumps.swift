import Glibc
import SystemPackage

/// What is kept of a process that crashes.
package enum CoreDumps {
    /// Keeps memory out of what a crash leaves, for processes that hold keys or plaintext, and for those that they start:
    /// out of cores, and out of the reports of Swift's runtime, which show registers and what they point to.
    ///
    /// To be called before other threads are there and before signals are handled. The corresponding C functions are
    /// `setrlimit`, `signal` and `setenv`. Source: core(5), "Controlling which mappings are written to the core dump";
    /// Linux, `fs/coredump.c`; Swift, `docs/Backtracing.rst`.
    package static func disable() {
        limitCores()
        for crash in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            let before = signal(crash, SIG_DFL)
            // Whoever started this may want it to go on.
            if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(crash, SIG_IGN) }
        }
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
    }

    /// A limit of one byte is too short for a file, and for a program that is told of crashes it means that there is
    /// nothing to tell, which no limit at all would not. Where that is not known, a core has no memory in it.
    private static func limitCores() {
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) != 0 {
            // It may have been 0, which no process of a user's own can raise.
            limit.rlim_cur = 0
            limit.rlim_max = 0
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        }
        guard let filter = try? FileDescriptor.open("/proc/self/coredump_filter", .writeOnly) else { return }
        defer { try? filter.close() }
        _ = try? filter.writeAll("0".utf8)
    }
}

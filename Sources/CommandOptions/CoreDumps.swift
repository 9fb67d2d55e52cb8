import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the system keeps of a process that crashes.
package enum CoreDumps {
    /// Keeps memory out of core dumps, for processes that hold others' keys.
    ///
    /// The corresponding C function is `setrlimit`. A program that is told of crashes gets a dump all the same, and so no
    /// memory is to be in it. Source: core(5), "Controlling which mappings are written to the core dump".
    package static func leaveMemoryOut() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        guard let filter = try? FileDescriptor.open("/proc/self/coredump_filter", .writeOnly) else { return }
        defer { try? filter.close() }
        _ = try? filter.writeAll("0".utf8)
    }
}

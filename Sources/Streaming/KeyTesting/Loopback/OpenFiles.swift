#if Network
import Glibc

/// How many files and connections this process may have open.
enum OpenFiles {
    /// Asks for more where there are too few. The corresponding C functions are `getrlimit` and `setrlimit`.
    ///
    /// - Throws: `LoopbackError` if there cannot be so many.
    static func allow(_ count: Int) throws(LoopbackError) {
        var limits = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < rlim_t(count) else { return }
        let maximum = limits.rlim_max
        limits.rlim_cur = min(rlim_t(count), maximum)
        guard maximum >= rlim_t(count), setrlimit(resource, &limits) == 0 else {
            throw LoopbackError("at most \(maximum) open files (ulimit -n): expected \(count) for so many clients")
        }
    }
}
#endif

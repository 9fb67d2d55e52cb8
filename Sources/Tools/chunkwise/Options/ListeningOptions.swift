#if Network
import ArgumentParser
import Glibc
import Server

/// The options of a server.
struct ListeningOptions: ParsableArguments {
    @Option(help: .taking("address", "The address to listen on."))
    var bind = "127.0.0.1"

    @Option(help: .taking("count", "The maximum number of connections at once."))
    var maxConnections = 256

    @Option(
        help: .taking(
            "count",
            "The maximum number of connections per address. (default: a quarter of all; from this machine: all)"))
    var maxConnectionsPerAddress: Int?

    /// The host to listen on.
    ///
    /// - Throws: `CommandFailure` for a name without an address.
    func host() throws -> ListeningHost {
        do throws(HTTPService.BindError) {
            return try ListeningHost(bind)
        } catch {
            throw CommandFailure(.io, "\(error)")
        }
    }

    /// Checks the options, and sets the limits that they name.
    ///
    /// - Throws: `CommandFailure`.
    func limit(_ limits: inout ServerLimits, port: Int, _ report: (String) -> Void) throws {
        try require((0...65535).contains(port), "--port \(port): expected 0 to 65535")
        try require((1...10_000).contains(maxConnections), "--max-connections \(maxConnections): expected 1 to 10000")
        let perAddress = maxConnectionsPerAddress ?? 1
        try require(
            (1...maxConnections).contains(perAddress),
            "--max-connections-per-address \(perAddress): expected 1 to \(maxConnections)")
        limits.connectionCount = Self.connectionCount(atMost: maxConnections, report)
        limits.addressConnectionCount = maxConnectionsPerAddress
    }

    /// Raises the limit of descriptors, and returns the number of connections that it allows. A connection takes one
    /// descriptor, and its answer takes a second. A server without a free descriptor would try to accept the next
    /// connection in a loop, and would answer no client. The corresponding C function is `setrlimit`.
    private static func connectionCount(atMost count: Int, _ report: (String) -> Void) -> Int {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // For the event loops, one per core, and for everything else that is not a connection.
        let others = 64 + 4 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return count }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(2 * count + others)))
        _ = setrlimit(files, &limit)
        guard getrlimit(files, &limit) == 0 else { return count }
        let allowed = max(1, (Int(clamping: limit.rlim_cur) - others) / 2)
        guard allowed < count else { return count }
        report(
            "warning: \(limit.rlim_cur) open files are allowed: serving \(allowed) connections at once, not \(count): "
                + "expected ulimit -n \(2 * count + others)")
        return allowed
    }
}
#endif

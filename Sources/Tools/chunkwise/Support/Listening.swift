#if Network
import CLinux
import ByteSources
import Server

/// What `serve` and `key-server` have in common.
enum Listening {
    /// Prepares the process.
    static func prepare() {
        CoreDumps.disable()
        Interruption.ignoreBrokenPipes()
        // Chunks of a megabyte are given back once their reader has ended.
        chunkwise_allocator_return(512 << 10)
    }

    /// Checks options that both commands have.
    ///
    /// - Throws: `CommandFailure`.
    static func check(port: Int, maxConnections: Int) throws {
        guard (0...65535).contains(port) else {
            throw CommandFailure(.usage, "--port \(port): expected 0 to 65535")
        }
        guard (1...10_000).contains(maxConnections) else {
            throw CommandFailure(.usage, "--max-connections \(maxConnections): expected 1 to 10000")
        }
    }

    /// An address and a port as URLs have them.
    static func authority(_ host: String, _ port: Int) -> String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// Runs a server until it is told to stop.
    ///
    /// - Throws: `CommandFailure` for an address that cannot be listened on.
    static func run(_ serve: () async throws -> Void) async throws {
        do {
            try await serve()
        } catch let error as HTTPService.BindError {
            throw CommandFailure(.io, "\(error)")
        }
    }
}
#endif

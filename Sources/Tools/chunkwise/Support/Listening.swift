#if Network
import ByteSources
import CLinux
import Dispatch
import FoundationEssentials
import Glibc
import Server

/// The functions that `serve` and `key-server` share.
enum Listening {
    /// Disables core dumps, ignores broken pipes, and sets up the allocator.
    static func prepare() {
        CoreDumps.disable()
        Interruption.ignoreBrokenPipes()
        // The allocator returns chunks of a megabyte to the system when their reader ends.
        chunkwise_allocator_return(512 << 10)
    }

    /// An address and a port in the form of a URL.
    ///
    /// Clients cannot connect to an address that stands for all addresses of a machine, so that the machine's name
    /// replaces it.
    static func authority(_ host: String, _ port: Int) -> String {
        let host = ["0.0.0.0", "::"].contains(host) ? ProcessInfo.processInfo.hostName : host
        return "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// Flushes standard output when the server listens. Ends the program if that fails, because clients could not learn
    /// the address.
    static func announce() {
        do {
            try EntryPoint.flushOutput()
        } catch {
            EntryPoint.end(error as? CommandFailure ?? CommandFailure(.io, "\(error)"))
        }
    }

    /// Runs a server until SIGTERM or SIGINT comes.
    ///
    /// - Throws: `CommandFailure` for an address that cannot be listened on.
    static func run(_ serve: @escaping @Sendable () async throws -> Void) async throws {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let signals = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        defer { for source in signals { source.cancel() } }
        let serving = Task { try await serve() }
        Task { for await _ in arrivals { serving.cancel() } }
        do {
            try await serving.value
        } catch let error as HTTPService.BindError {
            throw CommandFailure(.io, "\(error)")
        }
    }
}
#endif

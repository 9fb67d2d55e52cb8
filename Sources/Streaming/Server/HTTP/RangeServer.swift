#if Network
package import ByteSources
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RandomAccess
import ServiceLifecycle

/// A server of HTTP/1.1 that decrypts what it is asked for.
///
/// Plaintext is in the buffers of running answers only, never on a disk.
package struct RangeServer: Sendable {
    /// What is served.
    package var catalogue: any ContentCatalogue
    /// What clients may ask.
    package var limits = ServerLimits()
    /// What clients have to show, or `nil` if everyone is served.
    package var token: AccessToken?
    /// The sites whose pages may read answers.
    package var allowedOrigins = AllowedOrigins()
    /// Where requests are noted.
    package var recorder: TraceRecorder?
    /// Where to say what failed; never a key, a token or plaintext.
    package var report: @Sendable (String) -> Void

    /// Creates a server.
    package init(
        catalogue: any ContentCatalogue, token: AccessToken?, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.catalogue = catalogue
        self.token = token
        self.report = report
    }

    /// Serves until SIGTERM or SIGINT comes or the task is cancelled; running answers are finished as far as
    /// ``ServerLimits/shutdownMilliseconds`` allow.
    ///
    /// - Parameters:
    ///   - host: Where to listen.
    ///   - port: The port, 0 for any that is free.
    ///   - onStart: Called with the port once clients can connect.
    /// - Throws: ``HTTPService/BindError``.
    package func run(host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void) async throws {
        try await HTTPService(limits: limits, tls: nil).run(host: host, port: port, onStart: onStart) { lookups in
            let responder = RangeResponder(
                catalogue: catalogue, limits: limits, token: token,
                browserRules: BrowserRules(boundTo: host.name, allowing: allowedOrigins),
                allowedOrigins: allowedOrigins, recorder: recorder,
                pool: BufferPool(limits: limits), lookups: lookups, report: report)
            return { request, writer, _ in try await responder.respond(to: request, with: writer) }
        }
    }
}

/// Listens on a port and has every request answered, until it is told to stop.
package struct HTTPService {
    let limits: ServerLimits
    /// What makes connections secure; `nil` for plain HTTP.
    let tls: NIOSSLContext?

    /// Why a server did not start.
    package struct BindError: Error, CustomStringConvertible {
        /// What failed, with the address.
        package let description: String
    }

    /// Serves as ``RangeServer/run(host:port:onStart:)`` does, by what is made to answer requests, given threads that may
    /// wait.
    func run(
        host: ListeningHost, port: Int, onStart: @escaping @Sendable (Int) -> Void,
        _ makeResponder: (_ lookups: NIOThreadPool) -> HTTPChannelHandler.Responder
    ) async throws {
        let lookups = NIOThreadPool(numberOfThreads: ServerLimits.lookupThreadCount)
        lookups.start()
        // Not waited for: one may be waiting for a key that never comes.
        defer { lookups.shutdownGracefully { _ in } }
        let responder = makeResponder(lookups)
        let (limits, tls) = (limits, tls)
        let counts = ConnectionCounts(limits: limits)
        let logger = Logger(label: "chunkwise") { _ in SwiftLogNoOpLogHandler() }
        let service = try HTTPServerBuilder { RangeChannel(responder: $0, limits: limits, tls: tls, counts: counts) }
            .buildServer(
                configuration: ServerConfiguration(
                    address: .hostname("\(host.address)", port: port),
                    availableConnectionsDelegate: .maximum(limits.connectionCount, logger: logger)),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger, responder: responder,
                onServerRunning: { onStart($0.localAddress?.port ?? port) })
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(limits.shutdownMilliseconds)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw BindError(
                description: "listen on \(host.name):\(port): \(reason): expected a free port, such as --port 0 finds")
        } catch let error as SocketAddressError {
            throw BindError(
                description: "listen on \(host.name):\(port): \(error): expected an address of this machine")
        }
    }
}

/// What a server listens on: an address, and the name that was given for it.
///
/// A name is looked up once, so that what was said of the address holds for what is listened on.
package struct ListeningHost: Sendable {
    /// What was given.
    package let name: String
    /// What it stands for.
    package let address: IPAddress

    /// Looks a name up.
    ///
    /// - Throws: ``HTTPService/BindError`` if there is no such name.
    package init(_ name: String) throws(HTTPService.BindError) {
        guard let address = IPAddress.resolve(name).first else {
            throw HTTPService.BindError(
                description: "listen on \(name): no such address: expected an address of this machine")
        }
        self.name = name
        self.address = address
    }
}

/// What a client may ask of a server.
package struct ServerLimits: Hashable, Sendable {
    /// The max number of connections at once; more of them wait until one is closed.
    package var connectionCount = 256
    /// The max number of connections of one address, or of one network of IPv6; more of them are closed. `nil` for a
    /// quarter of all, and no limit for this machine's own.
    package var addressConnectionCount: Int?
    /// The max number of bytes of a request's header, and of its request line.
    package var headerByteCount = 16 << 10
    /// The max number of fields of a header.
    package var fieldCount = 100
    /// The max number of bytes of a request's body, which is not read.
    package var requestBodyByteCount = 64 << 10
    /// After how many milliseconds a connection is closed on which nothing happens: no request comes, or is not finished,
    /// or what was sent is not taken.
    package var idleMilliseconds: Int64 = 60_000
    /// How many milliseconds a request may take to come, from its first byte or the start of its connection to its last
    /// byte, TLS included: a quarter of what a connection may be idle, where that is long.
    var requestMilliseconds: Int64 { max(idleMilliseconds / 4, min(idleMilliseconds, 15_000)) }
    /// How many milliseconds running answers have to be finished once the server was told to stop.
    package var shutdownMilliseconds: Int64 = 10_000
    /// The max number of plaintext bytes of one step.
    package var windowByteCount = 256 << 10
    /// The max number of plaintext bytes in buffers of all answers together; beyond it, new windows
    /// have ``minWindowByteCount``.
    package var bufferByteCount = 8 << 20

    /// The shortest window: below it, what a step costs besides decryption shows.
    package static let minWindowByteCount = 32 << 10

    /// How many requests at once may wait for what they ask for: for a playlist to be parsed, or a key to be found.
    static let lookupThreadCount = 8
    /// How many of them one client of a key server may have.
    static let clientLookupCount = 2

    /// Creates the usual limits.
    package init() {}
}

/// Runs the tasks of a connection on the event loop of its channel.
///
/// On other threads a task may hand on window after window before the loop has looked at the first one and found that the
/// client takes no more: with 100 clients on two busy cores these were hundreds of MiB. On the loop, a window that was
/// handed on is written before the next line runs, so that the writer waits when it should; and no window costs two
/// changes of threads.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif

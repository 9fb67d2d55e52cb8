#if Network
import Dispatch
import FoundationEssentials
import NIOCore
import NIOSSL
import X509

/// Puts TLS under a connection, and checks the server's certificates by a policy.
struct TLSLayer: Sendable {
    /// The versions that the client offers.
    enum Versions: Sendable {
        /// TLS 1.2 and 1.3.
        case secure
        /// TLS 1.0 and 1.1, to find out whether the server speaks them. No data is ever sent over them.
        case old
    }

    private let context: NIOSSLContext
    private let judge: CertificateJudge
    private let idleTimeout: TimeAmount
    private let explainsAcceptance: Bool
    private let executor = VerificationExecutor()

    /// Prepares for connections to one host.
    ///
    /// - Parameters:
    ///   - policy: The rules by which servers are accepted.
    ///   - host: The server's name or address.
    ///   - idleTimeout: The max time of a handshake.
    ///   - versions: The versions to offer.
    ///   - explainsAcceptance: True to report each check for accepted servers as well.
    /// - Throws: ``TLSPolicyError``.
    init(
        _ policy: TLSPolicy, host: HostName, idleTimeout: TimeAmount, versions: Versions = .secure,
        explainsAcceptance: Bool = false
    ) throws(TLSPolicyError) {
        var roots: [Certificate] = []
        do throws(TLSPolicyError) {
            roots = try TrustRoots.load(policy.roots)
        } catch {
            // A system without roots is fine if the policy needs none.
            guard policy.allowances.contains(.anyRoot), policy.roots == .system else { throw error }
        }
        judge = CertificateJudge(roots: roots, policy: policy, host: host)
        self.idleTimeout = idleTimeout
        self.explainsAcceptance = explainsAcceptance
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = versions == .secure ? .tlsv12 : .tlsv1
        configuration.maximumTLSVersion = versions == .secure ? .tlsv13 : .tlsv11
        // Our own check replaces the library's, which has no switches for single checks. The server must still send a
        // certificate.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        if versions == .old { configuration.cipherSuites = "ALL" }
        configuration.applicationProtocols = ["http/1.1"]
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .library(reason: "\(error)")
        }
    }

    /// Starts TLS on a connection, below all handlers that it has.
    ///
    /// - Parameter channel: The connection; the caller must be on its event loop.
    /// - Returns: The result of the handshake. If it fails with ``TLSFailure``, the connection is closed.
    func start(on channel: any Channel) -> EventLoopFuture<HandshakeWatcher.Outcome> {
        let promise = channel.eventLoop.makePromise(of: HandshakeWatcher.Outcome.self)
        let preambles = PreambleHandler()
        let verdict = CertificateVerdict()
        let watcher = HandshakeWatcher(promise, idleTimeout: idleTimeout, preambles: preambles, verdict: verdict)
        do {
            let library = try NIOSSLClientHandler(
                context: context, serverHostname: judge.host.serverName,
                customVerificationCallback: { [judge, executor, explainsAcceptance] certificates, result in
                    let sent = certificates.compactMap { try? $0.toDERBytes() }
                    Task(executorPreference: executor) {
                        let report = await judge.judge(sent, at: Date(), explainsAcceptance: explainsAcceptance)
                        verdict.report = report
                        result.succeed(report.isAccepted ? .certificateVerified : .failed)
                    }
                })
            try channel.pipeline.syncOperations.addHandlers([preambles, library, watcher], position: .first)
        } catch {
            // If the watcher was added already, it fails the promise when it is removed.
            promise.fail(TLSFailure.handshake(reason: "\(error)"))
            channel.close(promise: nil)
        }
        return promise.futureResult
    }
}

/// Checks certificates on a thread that is never blocked.
///
/// Reading a source blocks a thread, possibly every thread that Swift has for tasks. A check on one of those threads
/// would wait for the reads that wait for it.
final class VerificationExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "certificates")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
#endif

#if Network
import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// Passes the result of the certificate check from its thread to the event loop.
final class CertificateVerdict: Sendable {
    private let stored = Mutex<CertificateReport?>(nil)

    var report: CertificateReport? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// Waits for the end of a handshake, for the idle timeout and at most a second more, and reports the result.
final class HandshakeWatcher: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    /// The result of a handshake: the report about the certificates, and the version.
    struct Outcome: Sendable {
        var report: CertificateReport
        var version: TLSVersion?
    }

    private var promise: EventLoopPromise<Outcome>?
    private let idleTimeout: TimeAmount
    private let preambles: PreambleHandler
    private let verdict: CertificateVerdict
    private var timeout: Scheduled<Void>?
    /// True once the time for a handshake is over. Bytes that are not part of it may then have been sent.
    private var isOver = false

    init(
        _ promise: EventLoopPromise<Outcome>, idleTimeout: TimeAmount, preambles: PreambleHandler,
        verdict: CertificateVerdict
    ) {
        self.promise = promise
        self.idleTimeout = idleTimeout
        self.preambles = preambles
        self.verdict = verdict
    }

    func handlerAdded(context: ChannelHandlerContext) {
        schedule(idleTimeout, context.channel) { watcher, channel in
            guard watcher.preambles.preamble.byteCount == 0 else {
                watcher.finishSilent(channel)
                return
            }
            // The handshake has failed. A server that reads lines may still wait for the end of its first line.
            watcher.isOver = true
            watcher.preambles.send("\r\n\r\n")
            watcher.schedule(min(watcher.idleTimeout, .seconds(1)), channel) { $0.finishSilent($1) }
        }
    }

    private func schedule(
        _ delay: TimeAmount, _ channel: any Channel, _ body: @escaping (HandshakeWatcher, any Channel) -> Void
    ) {
        timeout = channel.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in body(self, channel) }
    }

    /// Ends the wait, because the time is over.
    private func finishSilent(_ channel: any Channel) {
        let preamble = preambles.preamble
        let failure: TLSFailure =
            // Bytes of another protocol say more than the time does.
            preamble.byteCount > 0 && !preamble.isTLS
            ? .notTLS(spoken: preamble.spoken)
            : .silent(afterByteCount: preamble.byteCount, milliseconds: idleTimeout.nanoseconds / 1_000_000)
        finish(.failure(failure))
        channel.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            guard !isOver, let report = verdict.report, report.isAccepted else {
                // Too late, or never checked: in either case the connection must not be used.
                finish(.failure(.handshake(reason: isOver ? "done too late" : "no certificate was checked")))
                context.close(promise: nil)
                return
            }
            let version = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self).tlsVersion
            finish(.success(Outcome(report: report, version: version)))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard promise != nil else {
            context.fireErrorCaught(error)
            return
        }
        finish(.failure(failure(error)))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(.closed(afterByteCount: preambles.preamble.byteCount)))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.failure(.closed(afterByteCount: preambles.preamble.byteCount)))
    }

    private func finish(_ result: Result<Outcome, TLSFailure>) {
        timeout?.cancel()
        guard let promise else { return }
        self.promise = nil
        promise.completeWith(result.mapError { $0 as any Error })
    }

    /// Returns the failure for an error of the library, in the light of the bytes that the server sent.
    private func failure(_ error: any Error) -> TLSFailure {
        if let report = verdict.report, !report.isAccepted { return .refused(report) }
        let preamble = preambles.preamble
        if preamble.byteCount > 0 && !preamble.isTLS { return .notTLS(spoken: preamble.spoken) }
        if let alert = preamble.alert {
            return alert == PeerPreamble.protocolVersionAlert
                ? .oldVersion(spoken: nil) : .alert(PeerPreamble.alertName(alert))
        }
        if let version = preamble.helloVersion, version != "TLS 1.2" { return .oldVersion(spoken: version) }
        if case NIOSSLError.handshakeFailed(.sslError(let stack)) = error, stack == [.eofDuringHandshake] {
            return .closed(afterByteCount: preamble.byteCount)
        }
        // A reset is an error of the connection, and not of the library.
        if error is IOError || error is ChannelError { return .closed(afterByteCount: preamble.byteCount) }
        return .handshake(reason: "\(error)")
    }
}
#endif

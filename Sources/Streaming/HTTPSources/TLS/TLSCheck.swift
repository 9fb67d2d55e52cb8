#if Network
import ByteSources
import NIOCore
import NIOPosix
import NIOSSL

/// Connects to a server, makes a handshake and nothing else, and reports the result.
public struct TLSCheck: Sendable {
    /// The result of a check.
    public struct Finding: Sendable {
        /// The version that both sides agreed on; `nil` if they did not get that far.
        public var version: String?
        /// The report about the certificates; `nil` if none arrived.
        public var report: CertificateReport?
        /// The reason why there is no secure connection; `nil` if there is one.
        public var failure: TLSFailure?
        /// The warnings that every result must show.
        public var warnings: [String]
    }

    /// The reason why there is no result.
    public enum CheckError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The policy cannot be applied.
        case policy(TLSPolicyError)
        /// No connection could be made.
        case unreachable(String)

        /// The failure and the expectation.
        public var description: String {
            switch self {
            case .policy(let error): "\(error)"
            case .unreachable(let reason): reason
            }
        }
    }

    private let host: HostName
    private let port: Int
    private let policy: TLSPolicy
    private let idleTimeout: TimeAmount

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - host: A name or an address, an IPv6 address without brackets.
    ///   - port: The port.
    ///   - policy: The rules by which servers are accepted.
    ///   - idleTimeout: The max time for connecting, and for the handshake.
    public init(host: String, port: UInt16, policy: TLSPolicy, idleTimeout: Duration) {
        self.host = HostName(host)
        self.port = Int(port)
        self.policy = policy
        self.idleTimeout = TimeAmount(idleTimeout)
    }

    /// Makes the check. A second connection finds out which old version a server speaks.
    ///
    /// - Returns: The result. Its connection is not necessarily secure.
    /// - Throws: ``CheckError`` if there is no result.
    public func run() async throws(CheckError) -> Finding {
        var finding = Finding(warnings: policy.warnings)
        switch try await handshake(policy, .secure) {
        case .success(let outcome):
            finding.version = outcome.version.map(Self.name)
            finding.report = outcome.report
        case .failure(.refused(let report)):
            finding.report = report
            finding.failure = .refused(report)
        case .failure(let failure):
            finding.failure = failure
            guard ["oldVersion", "alert"].contains(failure.name), let spoken = await oldVersion() else { break }
            finding.failure = .oldVersion(spoken: spoken)
        }
        return finding
    }

    /// Returns the old version that the server speaks. Its certificates do not matter for that.
    private func oldVersion() async -> String? {
        let anyServer = TLSPolicy(allowances: Set(TLSAllowance.allCases))
        switch try? await handshake(anyServer, .old) {
        case .success(let outcome): return outcome.version.map(Self.name)
        case .failure(.oldVersion(let spoken)): return spoken
        default: return nil
        }
    }

    /// Makes a handshake on a connection of its own, and then closes that.
    private func handshake(
        _ policy: TLSPolicy, _ versions: TLSLayer.Versions
    ) async throws(CheckError) -> Result<HandshakeWatcher.Outcome, TLSFailure> {
        let layer: TLSLayer
        do throws(TLSPolicyError) {
            layer = try TLSLayer(
                policy, host: host, idleTimeout: idleTimeout, versions: versions, explainsAcceptance: true)
        } catch {
            throw .policy(error)
        }
        let channel: any Channel
        do {
            // Reads nothing until the handlers are added, because a server may speak first.
            channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(idleTimeout)
                .channelOption(.autoRead, value: false)
                .connect(host: host.text, port: port).get()
        } catch {
            throw .unreachable(Self.reason(error))
        }
        do {
            let outcome = try await channel.eventLoop.flatSubmit {
                let outcome = layer.start(on: channel)
                return channel.setOption(.autoRead, value: true).flatMap { outcome }
            }.get()
            channel.close(promise: nil)
            return .success(outcome)
        } catch let failure as TLSFailure {
            return .failure(failure)
        } catch {
            // The connection was gone before the handshake began.
            return .failure(.closed(afterByteCount: 0))
        }
    }

    private static func reason(_ error: any Error) -> String {
        let failure = HTTPFailure(error, received: RangeFetch.Received(), idleTimeout: .zero, limit: .zero)
        if case .unreachable(let reason) = failure { return reason }
        return failure.name == "noAnswer" ? "no connection in time" : "\(error)"
    }

    private static func name(_ version: TLSVersion) -> String {
        switch version {
        case .tlsv1: "TLS 1.0"
        case .tlsv11: "TLS 1.1"
        case .tlsv12: "TLS 1.2"
        case .tlsv13: "TLS 1.3"
        }
    }
}
#endif

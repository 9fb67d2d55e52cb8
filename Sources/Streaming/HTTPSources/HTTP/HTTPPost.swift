#if Network
import AsyncHTTPClient
import ByteSources
import NIOCore
import NIOHTTP1
package import RandomAccess

/// Sends small bodies to one URL and receives small answers, over kept connections.
package final class HTTPPost: Sendable {
    /// A server's answer.
    package struct Answer: Sendable {
        /// The status.
        package let status: Int
        /// The body.
        package let body: [UInt8]
        fileprivate let fields: HTTPHeaders

        /// A field's first value.
        package subscript(field: String) -> String? { fields.first(name: field) }
    }

    private let location: HTTPLocation
    private let connections: HTTPConnections
    private let idleTimeout: TimeAmount

    /// Prepares a client without sending a request.
    ///
    /// - Parameters:
    ///   - url: The URL, without credentials.
    ///   - policy: The rules by which servers are trusted over `https`.
    ///   - idleTimeout: The max time without a byte.
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL, `.io` for a policy that cannot be applied.
    package init(_ url: String, policy: TLSPolicy, idleTimeout: Duration) throws(DecryptionError) {
        location = try HTTPLocation(url)
        let idleTimeout = TimeAmount(idleTimeout)
        self.idleTimeout = idleTimeout
        connections = try HTTPConnections(location, policy: policy, idleTimeout: idleTimeout, maxConnections: 8)
    }

    /// True if the URL demands TLS.
    package var isSecure: Bool { location.isSecure }
    /// True if the server is this machine.
    package var isLoopback: Bool { IPAddress.isLoopback(host: location.host.text) }
    /// The URL without its query.
    package var shownURL: String { "\(location)" }

    /// Sends a body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - fields: Names and values of fields besides `Host`.
    ///   - maxByteCount: The max number of bytes of the answer's body.
    ///   - limit: The max time for everything.
    /// - Returns: The answer, with any status.
    /// - Throws: ``HTTPFailure``; `tooLong` if the answer's body has more than `maxByteCount` bytes.
    package func send(
        _ body: [UInt8], fields: [(String, String)], maxByteCount: Int, within limit: Duration
    ) async throws(HTTPFailure) -> Answer {
        do {
            let request = try HTTPClient.Request(
                url: location.clientURL, method: .POST, headers: HTTPHeaders(location.clientFields + fields),
                body: .bytes(body))
            let task = connections.client.execute(
                request: request, delegate: ResponseAccumulator(request: request, maxBodySize: maxByteCount),
                deadline: .now() + TimeAmount(limit))
            let response = try await withTaskCancellationHandler {
                try await task.futureResult.get()
            } onCancel: {
                task.cancel()
            }
            let bytes = response.body.map { Array($0.readableBytesView) } ?? []
            return Answer(status: Int(response.status.code), body: bytes, fields: response.headers)
        } catch is ResponseAccumulator.ResponseTooBigError {
            throw .tooLong(expected: maxByteCount)
        } catch {
            throw HTTPFailure(
                error, received: RangeFetch.Received(), idleTimeout: idleTimeout, limit: TimeAmount(limit))
        }
    }
}
#endif

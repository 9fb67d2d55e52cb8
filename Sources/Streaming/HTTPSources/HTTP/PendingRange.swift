#if Network
import AsyncHTTPClient
import NIOCore
import RandomAccess

/// A request for a range that is under way; any number of threads may wait for its bytes.
///
/// Whoever waits is a thread that reads, never one of the client's event loops: those go on, and end the wait.
final class PendingRange: Sendable {
    /// The bytes that were asked for.
    let range: Range<UInt64>

    private let limits: Deadlines
    private let fetch: RangeFetch
    private let task: HTTPClient.Task<Void>

    /// Follows a request.
    ///
    /// - Parameters:
    ///   - range: The bytes that it asks for.
    ///   - fetch: What takes the answer.
    ///   - task: The request.
    ///   - limits: When the request ends at the latest.
    init(_ range: Range<UInt64>, fetch: RangeFetch, task: HTTPClient.Task<Void>, limits: Deadlines) {
        self.range = range
        self.limits = limits
        self.fetch = fetch
        self.task = task
        task.futureResult.whenComplete { result in
            switch result {
            case .success: fetch.finish(nil)
            case .failure(let error):
                let received = fetch.received
                fetch.finish(
                    HTTPFailure(error, received: received, idleTimeout: limits.idleTimeout, limit: limits.deadline))
            }
        }
    }

    /// Waits for the end, and no longer than the request may take.
    ///
    /// - Returns: What came. A failure is in it, with the bytes from before it.
    func wait() -> (received: RangeFetch.Received, bytes: [UInt8]) {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let isOver = fetch.bytes.waitForEnd(until: limits.until)
        var received = fetch.received
        if !isOver {
            task.cancel()
            received.failure = limits.failure(hasAnswer: received.answer != nil)
        }
        // More may have come since the count was taken, and does not belong to it.
        return (received, Array(fetch.bytes.bytes.prefix(received.byteCount)))
    }

    /// Copies bytes as soon as they are there; see ``ReceivedBytes/read(at:into:until:)``.
    ///
    /// - Parameters:
    ///   - offset: Where they start, within the object; it lies in ``range``.
    ///   - buffers: Where they go.
    ///   - until: When waiting ends, if the request does not end before.
    /// - Returns: What came of it.
    func read(at offset: UInt64, into buffers: FetchBuffers, until: NIODeadline) -> ReceivedBytes.Outcome {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let position = Int(offset - range.lowerBound)
        return fetch.bytes.read(at: position, into: buffers, until: until)
    }

    /// Ends the request, and with it its connection; nothing happens if it is over.
    func cancel() {
        task.cancel()
    }
}
#endif

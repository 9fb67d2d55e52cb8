import AsyncHTTPClient
import NIOCore
import RandomAccess

/// A request for a range that is under way; any number of threads may wait for its bytes.
///
/// Whoever waits is a thread that reads, never one of the client's event loops: those go on, and end the wait.
final class PendingRange: Sendable {
    /// The bytes that were asked for.
    let range: Range<UInt64>

    private let until: NIODeadline
    private let fetch: RangeFetch
    private let task: HTTPClient.Task<Void>

    /// Follows a request.
    ///
    /// - Parameters:
    ///   - range: The bytes that it asks for.
    ///   - fetch: What takes the answer.
    ///   - task: The request.
    ///   - patience: How long nothing may come, for what is said of it.
    ///   - until: When the request ends at the latest.
    init(
        _ range: Range<UInt64>, fetch: RangeFetch, task: HTTPClient.Task<Void>, patience: TimeAmount, until: NIODeadline
    ) {
        self.range = range
        self.until = until
        self.fetch = fetch
        self.task = task
        task.futureResult.whenComplete { result in
            switch result {
            case .success: fetch.finish(nil)
            case .failure(let error):
                fetch.finish(HTTPFailure(error, received: fetch.received, patience: patience))
            }
        }
    }

    /// Waits for the end, and a second longer than the request may take at most.
    ///
    /// - Returns: What came. A failure is in it, with the bytes from before it.
    func wait() -> (received: RangeFetch.Received, bytes: [UInt8]) {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let left = max(until - NIODeadline.now(), .zero)
        let isOver = fetch.bytes.waitForEnd(until: until + .seconds(1))
        var received = fetch.received
        if !isOver {
            task.cancel()
            received.failure = .noAnswer(milliseconds: left.nanoseconds / 1_000_000)
        }
        // More may have come since the count was taken, and does not belong to it.
        return (received, Array(fetch.bytes.bytes.prefix(received.byteCount)))
    }

    /// Copies bytes as soon as they are there; see ``ReceivedBytes/read(at:into:until:)``.
    ///
    /// - Parameters:
    ///   - offset: Where they start, within the object; it lies in ``range``.
    ///   - buffers: Where they go.
    /// - Returns: How many were copied; `nil` if they do not come this way.
    func read(at offset: UInt64, into buffers: FetchBuffers) -> Int? {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let position = Int(offset - range.lowerBound)
        let outcome = fetch.bytes.read(at: position, into: buffers, until: until + .seconds(1))
        guard case .copied(let count) = outcome, count > 0 else { return nil }
        return count
    }

    /// Ends the request, and with it its connection; nothing happens if it is over.
    func cancel() {
        task.cancel()
    }
}

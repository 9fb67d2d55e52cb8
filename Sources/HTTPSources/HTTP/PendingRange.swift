import AsyncHTTPClient
import Dispatch
import NIOCore
import Synchronization

/// A request for a range that is under way; any number of threads may wait for its end.
///
/// Whoever waits is a thread that reads, never one of the client's event loops: those go on, and end the wait.
final class PendingRange: Sendable {
    /// The bytes that were asked for.
    let range: Range<UInt64>

    private let until: NIODeadline
    private let fetch: RangeFetch
    private let task: HTTPClient.Task<Void>
    private let isDone = DispatchGroup()
    private let failure = Mutex<HTTPFailure?>(nil)

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
        isDone.enter()
        task.futureResult.whenComplete { [self] result in
            if case .failure(let error) = result {
                failure.withLock { $0 = HTTPFailure(error, received: fetch.received, patience: patience) }
            }
            isDone.leave()
        }
    }

    /// Waits for the end, and a second longer than the request may take at most.
    ///
    /// - Returns: What came. A failure is in it, with the bytes from before it.
    func wait() -> RangeFetch.Received {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let left = max(until - NIODeadline.now(), .zero) + .seconds(1)
        let isOver = isDone.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds))) == .success
        var received = fetch.received
        if isOver {
            received.failure = failure.withLock { $0 }
        } else {
            task.cancel()
            received.failure = .noAnswer(milliseconds: left.nanoseconds / 1_000_000)
        }
        return received
    }

    /// Ends the request, and with it its connection; nothing happens if it is over.
    func cancel() {
        task.cancel()
    }
}

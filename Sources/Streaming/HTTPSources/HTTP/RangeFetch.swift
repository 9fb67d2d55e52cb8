#if Network
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Takes the answer to one request for a range: nothing of another range, another version or another length.
final class RangeFetch: HTTPClientResponseDelegate {
    typealias Response = Void

    /// What came.
    struct Received: Sendable {
        /// What the head promises; `nil` until there is one.
        var answer: RangeAnswer?
        /// How many bytes came.
        var byteCount = 0
        /// Why there will be no more.
        var failure: HTTPFailure?
    }

    /// The bytes.
    let bytes: ReceivedBytes

    private let location: HTTPLocation
    private let asked: Range<UInt64>
    private let opened: ObjectVersion?
    private let maxWhole: Int
    private let state = Mutex(Received())

    /// Expects an answer; see ``RangeAnswer/judge(status:fields:of:asked:opened:maxWhole:)`` and
    /// ``ReceivedBytes/init(pool:)``.
    init(
        of location: HTTPLocation, asked: Range<UInt64>, opened: ObjectVersion?, maxWhole: Int, pool: RangeMemoryPool?
    ) {
        self.location = location
        bytes = ReceivedBytes(pool: pool)
        self.asked = asked
        self.opened = opened
        self.maxWhole = maxWhole
    }

    /// What came so far.
    var received: Received {
        var received = state.withLock { $0 }
        received.byteCount = bytes.count
        return received
    }

    /// The request is over.
    func finish(_ failure: HTTPFailure?) {
        state.withLock { $0.failure = $0.failure ?? failure }
        bytes.finish(hasFailed: failure != nil)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        do throws(HTTPFailure) {
            let answer = try RangeAnswer.judge(
                status: Int(head.status.code), fields: head.headers, of: location, asked: asked, opened: opened,
                maxWhole: maxWhole)
            state.withLock { $0.answer = answer }
            bytes.expect(answer.byteCount, isFramed: answer.isFramed)
            return task.eventLoop.makeSucceededVoidFuture()
        } catch {
            return fail(error, task)
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        guard bytes.append(buffer) else {
            return fail(.tooLong(expected: received.answer?.byteCount ?? 0), task)
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        let received = received
        let expected = received.answer?.byteCount ?? 0
        guard received.byteCount == expected || received.answer?.hasOpenEnd == true else {
            throw HTTPFailure.closedInBody(byteCount: received.byteCount, expected: expected)
        }
    }

    /// A request that fails this way ends its connection: what is still to come on it is not wanted.
    private func fail(_ failure: HTTPFailure, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        state.withLock { $0.failure = failure }
        return task.eventLoop.makeFailedFuture(failure)
    }
}
#endif

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
        /// The bytes so far.
        var bytes: [UInt8] = []
        /// Why there will be no more.
        var failure: HTTPFailure?
    }

    private let asked: Range<UInt64>
    private let opened: ObjectVersion?
    private let state = Mutex(Received())

    /// Expects an answer; see ``RangeAnswer/judge(status:fields:asked:opened:)``.
    init(asked: Range<UInt64>, opened: ObjectVersion?) {
        self.asked = asked
        self.opened = opened
    }

    /// What came so far.
    var received: Received { state.withLock { $0 } }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        do throws(HTTPFailure) {
            let answer = try RangeAnswer.judge(
                status: Int(head.status.code), fields: head.headers, asked: asked, opened: opened)
            state.withLock { state in
                state.answer = answer
                state.bytes.reserveCapacity(answer.byteCount)
            }
            return task.eventLoop.makeSucceededVoidFuture()
        } catch {
            return fail(error, task)
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let excess: HTTPFailure? = state.withLock { state in
            let expected = state.answer?.byteCount ?? 0
            guard buffer.readableBytes <= expected - state.bytes.count else { return .tooLong(expected: expected) }
            state.bytes.append(contentsOf: buffer.readableBytesView)
            return nil
        }
        return excess.map { fail($0, task) } ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        let missing: HTTPFailure? = state.withLock { state in
            let expected = state.answer?.byteCount ?? 0
            guard state.bytes.count < expected else { return nil }
            return .closedInBody(byteCount: state.bytes.count, expected: expected)
        }
        if let missing { throw missing }
    }

    /// A request that fails this way ends its connection: what is still to come on it is not wanted.
    private func fail(_ failure: HTTPFailure, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        state.withLock { $0.failure = failure }
        return task.eventLoop.makeFailedFuture(failure)
    }
}

#if Network
import NIOCore

/// A type that answers requests.
package protocol Responder: Sendable {
    /// The max number of bytes of a request's body that are kept for the answer. Nothing is kept of a longer body.
    var keptBodyByteCount: Int { get }

    /// Answers a request whose head has arrived. It calls ``Exchange/send(_:)`` once, now or later, on any thread.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - exchange: The receiver of the answer. The caller is the event loop of its connection, so this method must
    ///     not wait.
    func respond(to request: Request, _ exchange: Exchange)
}

/// The receiver of the answer to one request.
package struct Exchange: Sendable {
    let connection: NIOLoopBound<HTTPConnection>
    /// The connection's event loop.
    let eventLoop: any EventLoop
    /// The request's number on its connection.
    let requestNumber: Int

    /// Sends the answer, if the client is still there.
    package func send(_ reply: Reply) {
        if eventLoop.inEventLoop {
            connection.value.send(reply, to: requestNumber)
        } else {
            eventLoop.execute { connection.value.send(reply, to: requestNumber) }
        }
    }

    /// Closes the connection, without an answer.
    func close() { eventLoop.execute { connection.value.close() } }
}
#endif

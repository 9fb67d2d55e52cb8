#if Network
import NIOCore

/// What decides on answers.
package protocol Responder: Sendable {
    /// The max number of bytes of a request's body that are kept for the answer. Of a longer one, none is.
    var keptBodyByteCount: Int { get }

    /// Answers a request whose head has come: calls ``Exchange/send(_:)`` once, now or later, on any thread.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - exchange: Where the answer goes. The caller is the event loop of its connection, and must not wait.
    func respond(to request: Request, _ exchange: Exchange)
}

/// Where the answer to one request goes.
package struct Exchange: Sendable {
    let connection: NIOLoopBound<HTTPConnection>
    /// The connection's event loop.
    let eventLoop: any EventLoop
    /// Which of the connection's requests is answered.
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

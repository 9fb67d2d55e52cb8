import NIOCore
import Testing

@testable import HTTPSources

@Suite("connections that get TLS before a request")
struct ConnectionHookTests {
    @Test("the HTTP client waits for the hook that puts TLS under its connections")
    func reliable() {
        #expect(ConnectionHook.fault == nil)
    }

    @Test("a client that would use a connection without waiting for the hook is noticed")
    func unreliable() {
        let skipped = ConnectionHook.check(within: .milliseconds(200)) { $0.eventLoop.makeSucceededVoidFuture() }
        #expect(skipped != nil)
    }
}

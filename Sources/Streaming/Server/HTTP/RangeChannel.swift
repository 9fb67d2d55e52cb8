#if Network
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// A connection of HTTP/1.1: Hummingbird's, with limits and our rules.
struct RangeChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limits: ServerLimits
    /// What makes connections secure; `nil` for plain HTTP.
    let tls: NIOSSLContext?

    /// What the system holds for a client besides our windows; it takes twice as much for its own needs.
    private static let sendBufferByteCount: SocketOptionValue = 256 << 10

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var decoder = NIOHTTPDecoderLimitConfiguration()
            decoder.maxHeaderFieldSize = limits.headerByteCount
            decoder.maxHeaderListSize = limits.headerByteCount
            decoder.maxHeaderFieldCount = limits.fieldCount
            // Left to itself, the system takes megabytes for each client, and a slow one looks like one that has stopped.
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: Self.sendBufferByteCount)
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
            let idleTime = TimeAmount.milliseconds(limits.idleMilliseconds)
            try pipeline.addHandler(ConnectionRules(idleTime: idleTime))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: .init(idleTime), logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(eventLoop: value.channel.eventLoop)) {
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}
#endif
